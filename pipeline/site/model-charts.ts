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

/** Draws the ranks of models over time. */
export function rankCharts({ manifest, periods }: SiteFacts): (model: ModelFacts, list: readonly Appearance[]) => Html {
  const weekly = periods && appearances(periods.weekly)
  const { start_date, end_date } = manifest
  const weeks = cellsOf(periods?.weekly ?? [], { from: start_date, to: end_date }, 'week').periods
  return (model, list) => {
    const dates = chartDates(model.first_date, model.last_date, end_date)
    const { from, to } = dates
    const inWeeks = weekly?.get(model.model_permaslug)
    if (inWeeks === undefined || daysBetween(from, to) < MOST_DAYS) {
      return rankChart(model, list, { grain: 'day', all: datesBetween(from, to).map(wholeDay) })
    }
    const all = weeksIn(dates, weeks).flatMap((position) => weeks[position] ?? [])
    return rankChart(model, inWeeks, { grain: 'week', all })
  }
}

function rankChart(
  { model_permaslug: name }: ModelFacts,
  list: readonly Appearance[],
  { grain, all }: { grain: 'day' | 'week'; all: readonly Period[] },
): Html {
  const ranks = new Map(list.map(({ date, rank }) => [date, BigInt(rank)]))
  const values = all.map(({ start }) => ranks.get(start) ?? null)
  const best = Math.min(...list.map(({ rank }) => rank))
  return chartFigure({
    id: 'ranks',
    title: `Rank per ${grain} of ${name}`,
    description: `Its best rank is ${best}. The table below has the best and the median rank of each month.`,
    content: {
      grain,
      form: 'lines',
      measure: 'rank',
      periods: all,
      totals: values,
      series: [{ name, paint: 's0', values }],
    },
  })
}
