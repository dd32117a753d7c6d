import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import type { PublishedDois } from '../contract/dois.ts'
import type { Coverage, Restatement } from '../contract/ledger.ts'
import { type Manifest, type ReleaseIndex, releasePath } from '../contract/manifest.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import type { PeriodRows } from '../contract/tables.ts'
import { readModels } from '../dataset/models-file.ts'
import { type DatasetDescription, describeDataset } from '../release/documents/describe.ts'
import { citedBy } from '../release/dois.ts'

/** The published facts that all pages outside releases are rendered from. Equal facts give equal bytes. */
export interface SiteFacts {
  manifest: Manifest
  dataset: DatasetDescription
  release: string
  rows: readonly RankingRow[]
  /** Undefined if the release has no tables of weeks and months. */
  periods: PeriodRows | undefined
  /** Those that a day names. */
  models: readonly ModelFacts[]
  index: ReleaseIndex
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
  const { manifest } = known
  const place = releasePath(manifest.release)
  const folder = join(rootOf(place), place)
  const models = (await readModels(database, join(folder, MODELS_FILE))).filter(({ days }) => days > 0)
  const release = `${place}/`
  const dataset = describeDataset(...citedBy(manifest, known.dois))
  return { ...known, dataset, release, models }
}
