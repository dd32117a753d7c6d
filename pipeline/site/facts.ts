import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { statsIfAny } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { PublishedDois } from '../contract/dois.ts'
import type { Coverage, Restatement } from '../contract/ledger.ts'
import { type Manifest, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import type { PeriodRows } from '../contract/tables.ts'
import { fromFirstDate } from '../dataset/coverage.ts'
import { modelFacts } from '../dataset/model-facts.ts'
import { readModels } from '../dataset/models-file.ts'
import { type DatasetDescription, describeDataset } from '../release/documents/describe.ts'
import { citedBy } from '../release/dois.ts'
import { standingReleases } from '../release/index.ts'
import { PAGE_FILE } from './release-page.ts'

/** The published facts that all pages outside releases are rendered from. Equal facts give equal bytes. */
export interface SiteFacts {
  manifest: Manifest
  dataset: DatasetDescription
  release: string
  rows: readonly RankingRow[]
  /** Undefined if the release has no tables of weeks and months, as early ones. */
  periods: PeriodRows | undefined
  /** Those that a day names. */
  models: readonly ModelFacts[]
  index: ReleaseIndex
  /** The releases that stand and have a page. */
  paged: ReadonlySet<ReleaseName>
  coverage: Coverage
  restatements: readonly Restatement[]
  /** Undefined if no release is deposited. */
  dois: PublishedDois | undefined
}

/** What is known of a release before its pages are rendered. */
export type KnownFacts = Pick<
  SiteFacts,
  'manifest' | 'rows' | 'periods' | 'index' | 'coverage' | 'restatements' | 'dois'
>

/** Reads the other facts. `rootOf` returns the folder of a published path, staged or not. Throws `BuildError`. */
export async function readFacts(
  rootOf: (path: string) => string,
  known: KnownFacts,
  database: Database,
): Promise<SiteFacts> {
  const { manifest, rows, index } = known
  const place = releasePath(manifest.release)
  const folder = join(rootOf(place), place)
  const paged = await pagedReleases(rootOf, index)
  // Early releases had no models.csv.
  const hasModels = manifest.files.some(({ path }) => path === MODELS_FILE)
  const listed = hasModels
    ? await readModels(database, join(folder, MODELS_FILE))
    : modelFacts({ rows, periods: undefined })
  const models = listed.filter(({ days }) => days > 0)
  const release = `${place}/`
  // Version 0.1.0 published days before the first one, all of them missing.
  const coverage = fromFirstDate(known.coverage)
  const dataset = describeDataset(...citedBy(manifest, known.dois))
  return { ...known, coverage, dataset, release, models, paged }
}

async function pagedReleases(rootOf: (path: string) => string, index: ReleaseIndex): Promise<Set<ReleaseName>> {
  const names = await sideBySide(standingReleases(index), async (release) => {
    const place = releasePath(release)
    return (await statsIfAny(join(rootOf(place), place, PAGE_FILE))) === undefined ? [] : [release]
  })
  return new Set(names.flat())
}
