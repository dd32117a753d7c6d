import type { Coverage, RestatedPeriod, Restatement } from '../contract/ledger.ts'
import { type Manifest, provisionalFrom } from '../contract/manifest.ts'
import { PERIOD_TABLES } from '../contract/tables.ts'
import type { IsFirst } from './first-dates.ts'
import { restates } from './restated.ts'

/** What a restatement has of a manifest. */
export type RestatingFacts = Pick<Manifest, 'release' | 'as_of' | 'changes'>

/** What was changed: final dates, and final weeks and months. */
type Changed = Pick<Restatement, 'dates' | 'periods'>

/** Where nothing is published. */
const NOTHING = { rows: 0, total_tokens: '0', content_hash: null }

/**
 * What a release restates: changed dates, weeks and months that the previous coverage had as final, or as missing at that
 * age. Undefined if there are none. Provisional numbers may change without notice, and a date that is published for the
 * first time is no change.
 */
export function restatementOf(
  previous: Coverage | undefined,
  after: Coverage,
  manifest: RestatingFacts,
  isFirst: IsFirst,
): Restatement | undefined {
  // An older release becomes current again after a withdrawal, which the index already states.
  if (previous === undefined || manifest.release <= previous.release) return undefined
  const dates = restatedDates(previous, after, isFirst)
  const periods = restatedPeriods(previous, after, isFirst)
  if (dates.length === 0 && periods.length === 0) return undefined
  return toRestatement({ dates, ...(periods.length > 0 && { periods }) }, manifest)
}

function restatedDates(previous: Coverage, after: Coverage, isFirst: IsFirst): Restatement['dates'] {
  const days = new Map(previous.days.map((day) => [day.date, day]))
  const lastDate = previous.days.at(-1)?.date ?? ''
  return after.days.flatMap((is) => {
    // Dates before the first one had no rows.
    const was = days.get(is.date) ?? NOTHING
    const isOpen = isFirst(is.date) || is.date >= provisionalFrom(previous.as_of) || is.date > lastDate
    if (isOpen || is.content_hash === was.content_hash) return []
    return { date: is.date, ...differenceOf(was, is) }
  })
}

function restatedPeriods(previous: Coverage, after: Coverage, isFirst: IsFirst): RestatedPeriod[] {
  const isRestated = restates(previous, isFirst)
  return PERIOD_TABLES.flatMap((table) => {
    const [before, now] = [previous[table], after[table]]
    if (before === undefined || now === undefined) return []
    const [known, present] = [before, now].map((list) => new Map(list.map((period) => [period.date, period])))
    const dates = [...new Set([...before, ...now].map(({ date }) => date))].sort()
    return dates.flatMap((date) => {
      const [was, is] = [known?.get(date) ?? NOTHING, present?.get(date) ?? NOTHING]
      if (!isRestated(table, date) || was.content_hash === is.content_hash) return []
      return { table, date, ...differenceOf(was, is) }
    })
  })
}

interface Size {
  rows: number
  total_tokens: string
}

function differenceOf(was: Size, is: Size) {
  return { rows_before: was.rows, rows_after: is.rows, tokens_before: was.total_tokens, tokens_after: is.total_tokens }
}

export function toRestatement({ dates, periods }: Changed, { release, as_of, changes }: RestatingFacts): Restatement {
  return {
    id: `restatement-${release}`,
    release,
    as_of,
    reason: changes.reason,
    note: changes.note,
    rows_before: dates.reduce((sum, date) => sum + date.rows_before, 0),
    rows_after: dates.reduce((sum, date) => sum + date.rows_after, 0),
    tokens_before: String(dates.reduce((sum, date) => sum + BigInt(date.tokens_before), 0n)),
    tokens_after: String(dates.reduce((sum, date) => sum + BigInt(date.tokens_after), 0n)),
    dates,
    ...(periods && { periods }),
  }
}
