import { counted } from '../base/numbers.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { rowsSince } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { contentOf } from './chart/content.ts'
import { bySize } from './chart/rows.ts'
import type { Content } from './chart/scene.ts'
import { ALL_OTHERS } from './chart/series.ts'
import type { Chart } from './chart.ts'
import type { SiteFacts } from './facts.ts'

export const RECENT_DAYS = 90

export interface RecentOptions {
  provisionalFrom?: UtcDate | undefined
  restated?: ReadonlySet<UtcDate> | undefined
  /** All models, the largest of the dataset first; by default of these days. */
  order?: readonly string[]
}

/** The last 90 days at most: the eight models with the most tokens, and all others, which sum to the day. */
export function recentDays(rows: readonly RankingRow[], { order, ...more }: RecentOptions = {}): Content {
  const to = rows.at(-1)?.date ?? ''
  const [first = to] = [rows[0]?.date]
  const from = to === '' || addDays(to, 1 - RECENT_DAYS) < first ? first : addDays(to, 1 - RECENT_DAYS)
  const options = { window: { from, to }, grain: 'day', form: 'stacked', measure: 'tokens', rest: 'joined' } as const
  const recent = rowsSince(rows, from)
  return contentOf(recent, { ...options, order: order ?? bySize(recent), ...more })
}

/** The dates whose numbers changed after they were final. */
export function restatedDates({ restatements }: Pick<SiteFacts, 'restatements'>): Set<UtcDate> {
  return new Set(restatements.flatMap(({ dates }) => dates.map(({ date }) => date)))
}

export function recentChart(content: Content, id: string): Chart {
  const { periods, series } = content
  const named = series.filter(({ name }) => name !== ALL_OTHERS).map(({ name }) => name)
  return {
    id,
    title: `Tokens per day, ${periods[0]?.start} to ${periods.at(-1)?.start}`,
    description:
      `Stacked areas over ${counted(periods.length, 'day')}: the ${counted(named.length, 'model')} with the most tokens in this ` +
      `time, from the bottom up ${named.join(', ')}; above them ${ALL_OTHERS}. A gap is a day without data.`,
    content,
  }
}
