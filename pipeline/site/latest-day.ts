import { OTHER, type RankingRow, sumTokens } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'

const DAYS_BACK = 7

/** How a row differs from a week before. */
export type WeekChange =
  | { kind: 'change'; before: bigint }
  /** A week before, the model was not among those named. */
  | { kind: 'new' }
  /** Nothing is published of the date a week before, or it had no rest. */
  | { kind: 'unknown' }

export interface RankedRow {
  slug: string
  /** Null for the row of the rest, which has none: it may be larger than any model. */
  rank: number | null
  tokens: bigint
  change: WeekChange
}

/** The newest date of a release, set beside the date a week before. */
export interface LatestDay {
  date: UtcDate
  weekBefore: UtcDate
  total: bigint
  rows: RankedRow[]
  /** Models that were named a week before and are not now, most tokens first. */
  gone: string[]
}

/** Reads the newest date out of rows in published order. There is at least one row. */
export function latestDay(rows: readonly RankingRow[]): LatestDay {
  const date = rows.at(-1)?.date ?? ''
  const weekBefore = addDays(date, -DAYS_BACK)
  const now = rows.filter((row) => row.date === date)
  const before = new Map(
    rows.filter((row) => row.date === weekBefore).map((row) => [row.model_permaslug, BigInt(row.total_tokens)]),
  )
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
    gone: [...before.keys()].filter((slug) => slug !== OTHER && !named.has(slug)),
  }
}
