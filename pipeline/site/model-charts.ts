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

/** The positions of the weeks, or days, that a chart draws. One that is over has no week that later dates would change. */
export function periodsIn({ from, to, isOver }: ChartDates, periods: readonly Period[]): number[] {
  const length = periods[0]?.length ?? 1
  const first = addDays(from, 1 - length)
  const last = isOver ? addDays(to, 1 - length) : to
  return periods.flatMap(({ start }, position) => (start >= first && start <= last ? [position] : []))
}

type Draw = (model: ModelFacts, list: readonly Appearance[]) => Html

/** Draws the tokens and the ranks of models over time. */
export function modelCharts({ manifest, periods }: SiteFacts): { tokens: Draw; ranks: Draw } {
  const { start_date, end_date } = manifest
  const weekly = periods && appearances(periods.weekly)
  const weeks = cellsOf(periods?.weekly ?? [], { from: start_date, to: end_date }, 'week').periods
  // All dates of all charts are made once.
  const days = datesBetween(addDays(start_date, -MARGIN), end_date).map(wholeDay)
  const daysIn = ({ from, to }: ChartDates) => {
    const first = daysBetween(days[0]?.start ?? from, from)
    return days.slice(first, first + daysBetween(from, to) + 1)
  }
  const datesOf = ({ first_date, last_date }: ModelFacts) => chartDates(first_date, last_date, end_date)
  return {
    tokens: (model, list) => tokensChart(model, list, daysIn(datesOf(model))),
    ranks: (model, list) => {
      const dates = datesOf(model)
      const inWeeks = weekly?.get(model.model_permaslug)
      if (inWeeks === undefined || daysBetween(dates.from, dates.to) < MOST_DAYS) {
        return rankChart(model, list, { grain: 'day', all: daysIn(dates) })
      }
      const all = periodsIn(dates, weeks).flatMap((position) => weeks[position] ?? [])
      return rankChart(model, inWeeks, { grain: 'week', all })
    },
  }
}

function tokensChart(
  { model_permaslug: name }: ModelFacts,
  list: readonly Appearance[],
  periods: readonly Period[],
): Html {
  const tokens = new Map(list.map((appearance) => [appearance.date, appearance.tokens]))
  const values = periods.map(({ start }) => tokens.get(start) ?? null)
  return chartFigure({
    id: 'tokens',
    title: `Tokens per day of ${name}`,
    description: `${counted(list.length, 'day')} with a value from ${periods[0]?.start} to ${periods.at(-1)?.start}. The table below has its months.`,
    content: {
      grain: 'day',
      form: 'lines',
      measure: 'tokens',
      periods,
      totals: values,
      series: [{ name, paint: 's0', values }],
    },
  })
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
