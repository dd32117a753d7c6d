import type { ChangeRow } from '../contract/change-log.ts'
import {
  type ManifestDraft,
  provisionalFrom,
  type ReleaseChanges,
  type ReleaseIndex,
  type VersionRule,
} from '../contract/manifest.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { nextVersion } from '../dataset/data-version.ts'
import type { IsFirst } from '../dataset/first-dates.ts'

/** The reason and the note that the publisher gives for a release. */
export type Explanation = Pick<ReleaseChanges, 'reason' | 'note'>

/** Dates of the current release that were final or missing, and change. Dates that nobody has seen do not. */
export function restatedDates(
  rows: readonly ChangeRow[],
  { current, isFirst }: { current: ManifestDraft | undefined; isFirst: IsFirst },
): UtcDate[] {
  if (current === undefined) return []
  const finalUntil = provisionalFrom(current.as_of)
  const restated = rows.filter(({ date }) => date < finalUntil && date <= current.end_date && !isFirst(date))
  return [...new Set(restated.map(({ date }) => date))].sort()
}

/** How a release differs from the previous one: for its manifest, and row by row. */
export interface DraftChanges {
  facts: Pick<ManifestDraft, 'data_version' | 'version_rule' | 'changes'>
  rows: ChangeRow[]
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
  rows: ChangeRow[],
): DraftChanges {
  const { index, current, facts, explanation, version_rule, isFirst } = options
  const previous = index.releases.find(({ release }) => release === current?.release)
  const data_version = nextVersion(index, previous, { version_rule, facts, changes: rows, isFirst })
  const changes = { previous: current?.release ?? null, facts, ...explanation }
  return { facts: { data_version, ...(version_rule && { version_rule }), changes }, rows }
}
