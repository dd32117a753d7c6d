import type { TableChanges } from '../contract/change-log.ts'
import type { ManifestDraft, ReleaseChanges, ReleaseIndex, VersionRule } from '../contract/manifest.ts'
import { nextVersion } from '../dataset/data-version.ts'
import type { IsFirst } from '../dataset/first-dates.ts'

/** The reason and the note that the publisher gives for a release. */
export type Explanation = Pick<ReleaseChanges, 'reason' | 'note'>

/** How a release differs from the previous one: for its manifest, and row by row in each table. */
export interface DraftChanges {
  facts: Pick<ManifestDraft, 'data_version' | 'version_rule' | 'changes'>
  rows: TableChanges
}

export function describeChanges(
  options: {
    index: ReleaseIndex
    current: ManifestDraft | undefined
    facts: string[]
    explanation: Explanation
    /** Undefined to reproduce a release that version 0.1.0 made. */
    version_rule: VersionRule | undefined
    isFirst: IsFirst
  },
  rows: TableChanges,
): DraftChanges {
  const { index, current, facts, explanation, version_rule, isFirst } = options
  const previous = index.releases.find(({ release }) => release === current?.release)
  const data_version = nextVersion(index, previous, { version_rule, facts, changes: rows, isFirst })
  const changes = { previous: current?.release ?? null, facts, ...explanation }
  return { facts: { data_version, ...(version_rule && { version_rule }), changes }, rows }
}
