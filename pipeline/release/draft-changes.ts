import type { TableChanges } from '../contract/change-log.ts'
import type { Manifest, ManifestDraft, ReleaseChanges, ReleaseIndex } from '../contract/manifest.ts'
import { nextVersion } from '../dataset/data-version.ts'
import type { IsFirst } from '../dataset/first-dates.ts'

/** The reason and the note that the publisher gives for a release. */
export type Explanation = Pick<ReleaseChanges, 'reason' | 'note'>

/** How a release differs from the previous one: for its manifest, and row by row in each table. */
export interface DraftChanges {
  facts: Pick<Manifest, 'data_version' | 'changes'>
  rows: TableChanges
}

export function describeChanges(
  options: {
    index: ReleaseIndex
    current: ManifestDraft | undefined
    facts: string[]
    explanation: Explanation
    isFirst: IsFirst
  },
  rows: TableChanges,
): DraftChanges {
  const { index, current, facts, explanation, isFirst } = options
  const previous = index.releases.find(({ release }) => release === current?.release)
  const data_version = nextVersion(index, previous, { facts, changes: rows, isFirst })
  const changes = { previous: current?.release ?? null, facts, ...explanation }
  return { facts: { data_version, changes }, rows }
}
