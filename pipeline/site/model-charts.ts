import { counted } from '../base/numbers.ts'
import type { Html } from '../contract/html.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { addDays, datesBetween, daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { type Appearance, appearancesOf } from '../dataset/model-facts.ts'
import { cellsOf, type Period, wholeDay } from './chart/cells.ts'
import { chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'

/** A chart shows at least so many dates, and ends so many dates after the last one that names the model. */
const MARGIN = 28

/** Longer charts have weeks, because single days are too close to be told apart. */
const MOST_DAYS = 120

interface ChartDates {
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
function periodsIn({ from, to, isOver }: ChartDates, periods: readonly Period[]): number[] {
  const length = periods[0]?.length ?? 1
  const first = addDays(from, 1 - length)
  const last = isOver ? addDays(to, 1 - length) : to
  return periods.flatMap(({ start }, position) => (start >= first && start <= last ? [position] : []))
}

interface ModelCharts {
  grain: 'day' | 'week'
  tokens: Html
  ranks: Html
}

/** Draws the tokens and the ranks of models over time. */
export function modelCharts({ manifest, periods }: SiteFacts) {
  const weekly = periods && appearancesOf(periods.weekly)
  const { start_date, end_date } = manifest
  const weeks = cellsOf(periods?.weekly ?? [], { from: start_date, to: end_date }, 'week').periods
  const days = datesBetween(addDays(start_date, -MARGIN), end_date).map(wholeDay)
  return (model: ModelFacts, list: readonly Appearance[]): ModelCharts => {
    const dates = chartDates(model.first_date, model.last_date, end_date)
    const { from, to } = dates
    const inWeeks = weekly?.get(model.model_permaslug)
    const drawn: Drawn =
      inWeeks === undefined || daysBetween(from, to) < MOST_DAYS
        ? { grain: 'day', all: periodsIn(dates, days).flatMap((at) => days[at] ?? []), list }
        : { grain: 'week', all: periodsIn(dates, weeks).flatMap((at) => weeks[at] ?? []), list: inWeeks }
    return { grain: drawn.grain, tokens: tokensChart(model, drawn), ranks: rankChart(model, drawn) }
  }
}

interface Drawn {
  grain: 'day' | 'week'
  all: readonly Period[]
  list: readonly Appearance[]
}

function tokensChart(model: ModelFacts, drawn: Drawn): Html {
  const { grain, all, list } = drawn
  return lineChart(model, drawn, {
    id: 'tokens',
    measure: 'tokens',
    title: 'Tokens',
    description: `${counted(list.length, grain)} with a value from ${all[0]?.start} to ${all.at(-1)?.start}. The table below has its months.`,
    pick: ({ tokens }) => tokens,
  })
}

function rankChart(model: ModelFacts, drawn: Drawn): Html {
  const best = Math.min(...drawn.list.map(({ rank }) => rank))
  return lineChart(model, drawn, {
    id: 'ranks',
    measure: 'rank',
    title: 'Rank',
    description: `Its best rank is ${best}. The table below has the best and the median rank of each month.`,
    pick: ({ rank }) => BigInt(rank),
  })
}

interface Line {
  id: string
  measure: 'tokens' | 'rank'
  title: string
  description: string
  pick: (appearance: Appearance) => bigint
}

function lineChart({ model_permaslug: name }: ModelFacts, { grain, all, list }: Drawn, line: Line): Html {
  const { id, measure, title, description, pick } = line
  const found = new Map(list.map((appearance) => [appearance.date, pick(appearance)]))
  const values = all.map(({ start }) => found.get(start) ?? null)
  return chartFigure({
    id,
    title: `${title} per ${grain} of ${name}`,
    description,
    content: {
      grain,
      form: 'lines',
      measure,
      periods: all,
      totals: values,
      series: [{ name, paint: 's0', values }],
    },
  })
}
