import type { Coverage, Restatement, Restatements } from '../contract/history.ts'
import { provisionalFrom } from '../contract/manifest.ts'
import type { ReleaseFacts } from './coverage.ts'
import type { IsFirst } from './first-dates.ts'

/**
 * What a release restates: changed dates that the previous coverage had as final, or as missing at that age. Undefined
 * if there are none. Provisional dates may change without notice, and a date that is published for the first time is no
 * change.
 */
export function restatementOf(
  previous: Coverage | undefined,
  after: Coverage,
  manifest: ReleaseFacts,
  isFirst: IsFirst,
): Restatement | undefined {
  // An older release becomes current again after a withdrawal, which the index already states.
  if (previous === undefined || manifest.release <= previous.release) return undefined
  const days = new Map(previous.days.map((day) => [day.date, day]))
  const lastDate = previous.days.at(-1)?.date ?? ''
  const dates = after.days.flatMap((is) => {
    // Dates before the first one had no rows.
    const was = days.get(is.date) ?? { rows: 0, total_tokens: '0', content_hash: null }
    const isOpen = isFirst(is.date) || is.date >= provisionalFrom(previous.as_of) || is.date > lastDate
    if (isOpen || is.content_hash === was.content_hash) return []
    return {
      date: is.date,
      rows_before: was.rows,
      rows_after: is.rows,
      tokens_before: was.total_tokens,
      tokens_after: is.total_tokens,
    }
  })
  return dates.length === 0 ? undefined : toRestatement(dates, manifest)
}

export function toRestatement(dates: Restatement['dates'], { release, as_of, changes }: ReleaseFacts): Restatement {
  return {
    id: `restatement-${release}`,
    release,
    as_of,
    reason: changes?.reason ?? 'unspecified',
    note: changes?.note ?? null,
    rows_before: dates.reduce((sum, date) => sum + date.rows_before, 0),
    rows_after: dates.reduce((sum, date) => sum + date.rows_after, 0),
    tokens_before: String(dates.reduce((sum, date) => sum + BigInt(date.tokens_before), 0n)),
    tokens_after: String(dates.reduce((sum, date) => sum + BigInt(date.tokens_after), 0n)),
    dates,
  }
}

export function withRestatement(list: Restatements, restatement: Restatement | undefined): Restatements {
  const isKnown = list.restatements.some(({ id }) => id === restatement?.id)
  if (restatement === undefined || isKnown) return list
  return { ...list, restatements: [...list.restatements, restatement] }
}
