import { OTHER, type RankingRow, rowsSince, sumTokens } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'

const DAYS_BACK = 7

export type WeekChange =
  | { kind: 'change'; before: bigint }
  | { kind: 'new' }
  /** The date a week earlier has no rows, or no rest. */
  | { kind: 'unknown' }

export interface RankedRow {
  slug: string
  /** Null for the rest, which may be larger than any model. */
  rank: number | null
  tokens: bigint
  change: WeekChange
}

export interface LatestDay {
  date: UtcDate
  weekBefore: UtcDate
  total: bigint
  rows: RankedRow[]
  /** Models that had a row a week earlier and have none now. */
  dropped: string[]
}

/** The newest date of rows in published order. Expects at least one row. */
export function latestDay(rows: readonly RankingRow[]): LatestDay {
  const date = rows.at(-1)?.date ?? ''
  const weekBefore = addDays(date, -DAYS_BACK)
  const now = rowsSince(rows, date)
  const ofWeekBefore = rowsSince(rows, weekBefore).filter((row) => row.date === weekBefore)
  const before = new Map(ofWeekBefore.map((row) => [row.model_permaslug, BigInt(row.total_tokens)]))
  const named = new Set(now.map(({ model_permaslug }) => model_permaslug))
  const changeOf = (slug: string): WeekChange => {
    const tokens = before.get(slug)
    if (tokens !== undefined) return { kind: 'change', before: tokens }
    return { kind: before.size === 0 || slug === OTHER ? 'unknown' : 'new' }
  }
  return {
    date,
    weekBefore,
    total: sumTokens(now),
    rows: now.map(({ model_permaslug: slug, total_tokens }, position) => ({
      slug,
      rank: slug === OTHER ? null : position + 1,
      tokens: BigInt(total_tokens),
      change: changeOf(slug),
    })),
    dropped: [...before.keys()].filter((slug) => slug !== OTHER && !named.has(slug)),
  }
}
