import type { Coverage, Restatement } from '../contract/history.ts'
import type { Manifest, ReleaseIndex } from '../contract/manifest.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { DatasetDescription } from '../metadata/describe.ts'

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
  coverage: Coverage
  /** Oldest first. */
  restatements: readonly Restatement[]
}
