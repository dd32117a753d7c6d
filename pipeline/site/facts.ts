import { join } from 'node:path'
import type { Coverage, Restatement } from '../contract/history.ts'
import { DATASET_PATH, type Manifest, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { statsIfAny } from '../files.ts'
import { COVERAGE_FILE, readCoverage, readRestatements } from '../history/follow.ts'
import { type DatasetDescription, describeDataset } from '../metadata/describe.ts'
import { modelFacts } from '../models/facts.ts'
import { MODELS_FILE, readModels } from '../models/file.ts'
import { readBack } from '../release/read-back.ts'
import { PAGE_FILE } from './release-page.ts'

/** All that the pages beside the releases are rendered from: what is published, read once. Equal facts give equal bytes. */
export interface SiteFacts {
  /** Of the current release. */
  manifest: Manifest
  dataset: DatasetDescription
  /** The folder of the current release below the public folder, with a slash at its end. */
  release: string
  /** All rows of the current release, in published order. */
  rows: readonly RankingRow[]
  models: readonly ModelFacts[]
  /** Oldest first. */
  index: ReleaseIndex
  /** The releases that have a page: at first they had none. */
  paged: ReadonlySet<ReleaseName>
  coverage: Coverage
  /** Oldest first. */
  restatements: readonly Restatement[]
}

/** Reads the facts of a public folder whose current release is that of `manifest`. */
export async function readFacts(
  publicDir: string,
  { manifest, index }: Pick<SiteFacts, 'manifest' | 'index'>,
  database: Database,
): Promise<SiteFacts> {
  const release = `${releasePath(manifest.release)}/`
  const folder = join(publicDir, release)
  const rows = await readBack(database, folder, 'rankings-daily.parquet')
  const coverage = await readCoverage(publicDir)
  if (coverage === undefined) throw new BuildError(`${publicDir} holds no ${COVERAGE_FILE}`)
  const { restatements } = await readRestatements(publicDir)
  const paged = await pagedReleases(publicDir, index)
  // Releases had no models.csv at first.
  const hasModels = manifest.files.some(({ path }) => path === MODELS_FILE)
  const models = hasModels ? await readModels(database, join(folder, MODELS_FILE)) : modelFacts(rows)
  return { manifest, dataset: describeDataset(manifest), release, rows, models, index, paged, coverage, restatements }
}

async function pagedReleases(publicDir: string, { releases }: ReleaseIndex): Promise<Set<ReleaseName>> {
  const names = releases.map(async ({ release, path }) => {
    const page = await statsIfAny(join(publicDir, DATASET_PATH, path, PAGE_FILE))
    return page === undefined ? [] : [release]
  })
  return new Set((await Promise.all(names)).flat())
}
