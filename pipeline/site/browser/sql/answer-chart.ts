import { type Grain, isDate, startOf } from '../../chart/calendar.ts'
import { cellsOf } from '../../chart/cells.ts'
import { bySize, type ChartRow } from '../../chart/rows.ts'
import type { Content } from '../../chart/scene.ts'
import { chooseSeries } from '../../chart/series.ts'
import type { Cell, Column } from './cells.ts'
import { quoted } from './script.ts'

/** What a chart of an answer shows: the first column of each kind. */
export interface ChartColumns {
  date: Column
  value: Column
  name: Column | undefined
}

const DATE = /^(DATE|TIMESTAMP)/
const WHOLE = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/
const FRACTION = /^(DECIMAL|FLOAT|DOUBLE)/

/** Fractions are drawn with so many digits: charts count in whole numbers. */
const FACTOR = 1_000_000

const MOST_PERIODS = 4000
const ALL_DAYS = { day: 1, week: 7, month: 31 } as const

/** Undefined if the answer has no date or no number. */
export function chartColumns(columns: readonly Column[]): ChartColumns | undefined {
  const date = columns.find(({ type }) => DATE.test(type))
  const value = columns.find(({ type }) => WHOLE.test(type) || FRACTION.test(type))
  const name = columns.find(({ type }) => type === 'VARCHAR')
  return date && value && { date, value, name }
}

/** The query for what `answerContent` draws: date, name, value. */
export function chartQuery({ date, value, name }: ChartColumns): string {
  const [day, number] = [quoted(date.name), quoted(value.name)]
  const whole = WHOLE.test(value.type) ? number : `round(${number}::DOUBLE * ${FACTOR})`
  return `SELECT strftime(${day}::TIMESTAMP, '%Y-%m-%d'), ${name === undefined ? 'NULL' : quoted(name.name)}, TRY_CAST(${whole} AS HUGEINT) FROM answer WHERE ${day} IS NOT NULL AND isfinite(${day}) AND ${number} IS NOT NULL`
}

/** A chart of the answer, or why there is none. */
export function answerContent(cells: readonly Cell[][], { value, name }: ChartColumns): Content | string {
  const rows = cells.flatMap(([date, text, number]): ChartRow[] => {
    if (date == null || !isDate(date) || number == null) return []
    return [{ date, model_permaslug: text ?? (name === undefined ? value.name : 'NULL'), total_tokens: BigInt(number) }]
  })
  const dates = [...new Set(rows.map(({ date }) => date))].sort()
  const [from = '', to = ''] = [dates[0], dates.at(-1)]
  if (dates.length < 2) return 'it needs two dates or more.'
  if (new Set(rows.map((row) => `${row.date} ${row.model_permaslug}`)).size < rows.length)
    return name === undefined ? 'several rows have the same date.' : `several rows have the same date and ${name.name}.`
  if (name !== undefined && new Set(rows.map(({ model_permaslug }) => model_permaslug)).size === rows.length)
    return `each ${name.name} has one date.`
  if (rows.some(({ total_tokens }) => BigInt(total_tokens) < 0n)) return 'it would have negative numbers.'
  const grain = grainOf(dates)
  const placed = rows.map((row) => ({ ...row, days: ALL_DAYS[grain] }))
  const found = cellsOf(placed, { from, to }, grain)
  if (found.periods.length > MOST_PERIODS) return 'the dates are too far apart.'
  const order = bySize(placed)
  const series = chooseSeries(found, { chosen: [...found.names.keys()], rest: 'none', order })
  const column = { name: value.name, factor: WHOLE.test(value.type) ? 1 : FACTOR }
  return { grain, periods: found.periods, totals: found.totals, series, form: 'lines', measure: 'number', column }
}

/** Months if all dates begin one, weeks if all are Mondays, and days otherwise. */
function grainOf(dates: readonly string[]): Grain {
  const grains = ['month', 'week'] as const
  return grains.find((grain) => dates.every((date) => startOf(date, grain) === date)) ?? 'day'
}
