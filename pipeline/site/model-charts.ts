import { counted } from '../base/numbers.ts'
import type { Html } from '../contract/html.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { addDays, datesBetween, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { type Appearance, appearances } from '../dataset/model-facts.ts'
import { cellsOf, type Period, wholeDay } from './chart/cells.ts'
import { chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'

/** A chart shows at least so many dates, and ends so many dates after the last one that names the model or author. */
const MARGIN = 28

/** Longer charts of ranks have weeks, because single days are too close to be told apart. */
const MOST_DAYS = 120

export interface ChartDates {
  from: UtcDate
  to: UtcDate
  /** True if later dates of the dataset are not drawn. */
  isOver: boolean
}

/** The dates of a chart. It ends some days after the last date with a value, so that a departure shows. */
export function chartDates(first: UtcDate, last: UtcDate, end: UtcDate): ChartDates {
  const after = addDays(last, MARGIN)
  const to = after < end ? after : end
  const earliest = addDays(to, 1 - MARGIN)
  return { from: first < earliest ? first : earliest, to, isOver: after <= end }
}

/** The positions of the weeks that a chart draws. One that is over has no week that later dates would change. */
export function weeksIn({ from, to, isOver }: ChartDates, weeks: readonly Period[]): number[] {
  return weeks.flatMap(({ start, length }, position) => {
    const last = addDays(start, length - 1)
    return last >= from && (isOver ? last : start) <= to ? [position] : []
  })
}

export function tokensChart(model: ModelFacts, list: readonly Appearance[], end: UtcDate): Html {
  const { model_permaslug: name, first_date, last_date } = model
  const { from, to } = chartDates(first_date, last_date, end)
  const dates = datesBetween(from, to)
  const tokens = new Map(list.map((appearance) => [appearance.date, appearance.tokens]))
  const values = dates.map((date) => tokens.get(date) ?? null)
  return chartFigure({
    id: 'tokens',
    title: `Tokens per day of ${name}`,
    description: `${counted(list.length, 'day')} with a value from ${from} to ${to}. The table below has its months.`,
    content: {
      grain: 'day',
      form: 'lines',
      measure: 'tokens',
      periods: dates.map(wholeDay),
      totals: values,
      series: [{ name, paint: 's0', values }],
    },
  })
}

export interface Ranks {
  grain: 'day' | 'week'
  periods: readonly Period[]
  /** Null is a gap. */
  values: readonly (number | null)[]
}

/** The ranks of models over time. */
export function rankSeries({
  manifest,
  periods,
}: Pick<SiteFacts, 'manifest' | 'periods'>): (model: ModelFacts, list: readonly Appearance[]) => Ranks {
  const weekly = periods && appearances(periods.weekly)
  const { start_date, end_date } = manifest
  const weeks = cellsOf(periods?.weekly ?? [], { from: start_date, to: end_date }, 'week').periods
  return ({ model_permaslug, first_date, last_date }, list) => {
    const dates = chartDates(first_date, last_date, end_date)
    const inWeeks = weekly?.get(model_permaslug)
    if (inWeeks === undefined || daysBetween(dates.from, dates.to) < MOST_DAYS) {
      return seriesOf('day', datesBetween(dates.from, dates.to).map(wholeDay), list)
    }
    const shown = weeksIn(dates, weeks).flatMap((position) => weeks[position] ?? [])
    return seriesOf('week', shown, inWeeks)
  }
}

function seriesOf(grain: Ranks['grain'], periods: readonly Period[], list: readonly Appearance[]): Ranks {
  const ranks = new Map(list.map(({ date, rank }) => [date, rank]))
  return { grain, periods, values: periods.map(({ start }) => ranks.get(start) ?? null) }
}

/** Rank 1 is at the top. */
export function rankChart({ model_permaslug: name, best_rank }: ModelFacts, { grain, periods, values }: Ranks): Html {
  const ranks = values.map((rank) => (rank === null ? null : BigInt(rank)))
  return chartFigure({
    id: 'ranks',
    title: `Rank per ${grain} of ${name}`,
    description: `Its best rank of a day is ${best_rank}. The table below has the best and the median rank of each month.`,
    content: {
      grain,
      form: 'lines',
      measure: 'rank',
      periods,
      totals: ranks,
      series: [{ name, paint: 's0', values: ranks }],
    },
  })
}
