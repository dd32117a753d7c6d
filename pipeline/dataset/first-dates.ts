import { ruleOf } from '../contract/disclosure.ts'
import type { Coverage } from '../contract/ledger.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** Whether a release publishes a date that nobody has seen, which is no change of what was published. */
export type IsFirst = (date: UtcDate) => boolean

/**
 * Tells the dates that a release under a disclosure rule publishes for the first time, by the coverage before it or any
 * later one, which counts the revisions of withdrawn releases too. Without a rule there are none.
 */
export function firstDates(
  coverage: Coverage | undefined,
  { release, disclosure }: Pick<ManifestDraft, 'release' | 'disclosure'>,
): IsFirst {
  if (ruleOf(disclosure) === undefined) return () => false
  const isOwn = (day: Coverage['days'][number]) => day.revision === 1 && day.release === release
  const known = coverage?.days.filter((day) => day.revision !== null && !isOwn(day)) ?? []
  const dates = new Set(known.map(({ date }) => date))
  return (date) => !dates.has(date)
}
