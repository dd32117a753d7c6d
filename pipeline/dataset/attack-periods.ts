import type { ReleaseName } from '../contract/manifest.ts'
import { OTHER } from '../contract/ranking.ts'
import { firstDateOf, lastDateOf, PERIOD_TABLES, type PeriodTable, type TableRow } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import {
  type Cells,
  cellsByDate,
  type Derived,
  isNamed,
  type PublishedRows,
  restsOf,
  type Term,
  termsOf,
} from './derived.ts'

/** A week or a month of a release, with the published days that it sums. */
interface Period {
  release: ReleaseName
  table: PeriodTable
  date: UtcDate
  what: string
  rows: Cells
  days: readonly TableRow[]
}

/** Rows and totals of weeks and months, and the same less their days and weeks. */
export function* periodSums(published: PublishedRows): Generator<Derived> {
  const all = periodsOf(published)
  for (const period of all) {
    const { table, release, what, rows } = period
    yield { what: `all of ${what}`, terms: termsOf(table, release, rows.values()) }
    for (const row of rows.values()) yield { what: nameOf(row, what), terms: termsOf(table, release, [row]) }
    yield* lessDays(period)
  }
  yield* lessWeeks(all)
}

/** What a reader finds who also corrects row by row. */
export function* periodNumbers(published: PublishedRows): Generator<Derived> {
  yield* periodSums(published)
  for (const period of periodsOf(published)) {
    const { table, release, what, rows } = period
    for (const row of rows.values()) {
      const others = [...rows.values()].filter((other) => other !== row)
      yield { what: `all of ${what} but ${row.model_permaslug}`, terms: termsOf(table, release, others) }
    }
    yield* oneByOne(period)
  }
}

/** What changed of a week or month from one release to another, and the same less the days that came and went. */
export function* periodDifferences(before: PublishedRows, after: PublishedRows): Generator<Derived> {
  const span = `from ${before.release} to ${after.release}`
  const olds = new Map(periodsOf(before).map((period) => [period.what, period]))
  for (const now of periodsOf(after)) {
    const old = olds.get(now.what)
    if (old === undefined) continue
    const change = (what: string, older: Iterable<TableRow>, newer: Iterable<TableRow>): Derived => ({
      what: `${what} ${span}`,
      terms: [...termsOf(now.table, after.release, newer), ...termsOf(old.table, before.release, older, -1)],
    })
    yield change(`all of ${now.what}`, old.rows.values(), now.rows.values())
    for (const { what, older, newer } of restsOf(old.rows, now.rows))
      yield change(`${what} of ${now.what}`, older, newer)
    const [gone, come] = [daysWithout(old, now), daysWithout(now, old)]
    for (const [model, row] of now.rows) {
      const was = old.rows.get(model)
      if (was === undefined) continue
      const changed = change(nameOf(row, now.what), [was], [row])
      yield changed
      const moved = [...daysOf(model, come, after.release, -1), ...daysOf(model, gone, before.release, 1)]
      if (moved.length > 0) yield { what: `${changed.what}, less its days`, terms: [...changed.terms, ...moved] }
    }
  }
}

function periodsOf({ release, rows, periods }: PublishedRows): Period[] {
  if (periods === undefined) return []
  return PERIOD_TABLES.flatMap((table) => {
    const days = Map.groupBy(rows, ({ date }) => firstDateOf(table, date))
    return [...cellsByDate(periods[table])].map(([date, own]) => {
      const what = `${table === 'weekly' ? 'the week of' : 'the month of'} ${date}`
      return { release, table, date, what, rows: own, days: days.get(date) ?? [] }
    })
  })
}

function nameOf({ model_permaslug }: TableRow, what: string): string {
  return `${model_permaslug} in ${what}`
}

function daysOf(model: string, days: readonly TableRow[], release: ReleaseName, factor: Term['factor']): Term[] {
  return termsOf(
    'daily',
    release,
    days.filter(({ model_permaslug }) => model_permaslug === model),
    factor,
  )
}

function daysWithout({ days }: Period, other: Period): TableRow[] {
  const known = new Set(other.days.map(({ date }) => date))
  return days.filter(({ date }) => !known.has(date))
}

/** What a model has on the dates that do not name it: its row less its days. */
function pooled({ table, release, days }: Period, row: TableRow): Term[] {
  return [...termsOf(table, release, [row]), ...daysOf(row.model_permaslug, days, release, -1)]
}

function less(terms: readonly Term[]): Term[] {
  return terms.map((term) => ({ ...term, factor: term.factor === 1 ? -1 : 1 }))
}

/** Each row less its days, and the rest of the days less all that the period names of it. */
function* lessDays(period: Period): Generator<Derived> {
  const { release, what, rows, days } = period
  for (const row of rows.values()) yield { what: `${nameOf(row, what)}, less its days`, terms: pooled(period, row) }
  const named = [...rows.values()].filter(isNamed).flatMap((row) => pooled(period, row))
  const rests = daysOf(OTHER, days, release, 1)
  if (rests.length > 0)
    yield { what: `the rest of the days of ${what}, less what it names`, terms: [...rests, ...less(named)] }
}

/** The rest of the days on which a model is not named less what the period tells of it, and the rest of the period likewise. */
function* oneByOne(period: Period): Generator<Derived> {
  const { table, release, what, rows, days } = period
  for (const row of [...rows.values()].filter(isNamed)) {
    const model = row.model_permaslug
    const named = new Set(days.filter((day) => day.model_permaslug === model).map(({ date }) => date))
    const rests = daysOf(
      OTHER,
      days.filter(({ date }) => !named.has(date)),
      release,
      1,
    )
    if (rests.length > 0) {
      yield { what: `the rest of the days of ${what}, less ${model}`, terms: [...rests, ...less(pooled(period, row))] }
    }
  }
  const rest = [...rows.values()].filter((row) => !isNamed(row))
  const joined = days.filter((row) => isNamed(row) && !rows.has(row.model_permaslug))
  for (const model of new Set(joined.map(({ model_permaslug }) => model_permaslug))) {
    const terms = [...termsOf(table, release, rest), ...daysOf(model, joined, release, -1)]
    yield { what: `the rest of ${what}, less the days of ${model}`, terms }
  }
}

/** Months less the full weeks in them, and weeks less what the month before or after says of their dates. */
function* lessWeeks(all: readonly Period[]): Generator<Derived> {
  const weeks = all.filter(({ table }) => table === 'weekly')
  for (const month of all.filter(({ table }) => table === 'monthly')) {
    const isIn = (date: UtcDate) => firstDateOf('monthly', date) === month.date
    const full = weeks.filter(({ date }) => isIn(date) && isIn(lastDateOf('weekly', date)))
    const cut = weeks.filter((week) => !full.includes(week) && week.days.some(({ date }) => isIn(date)))
    for (const [model, row] of month.rows) {
      const terms = [...termsOf('monthly', month.release, [row]), ...less(coverOf(model, month, full))]
      const what = `${nameOf(row, month.what)}, less its weeks and days`
      if (terms.some(({ table }) => table === 'weekly')) yield { what, terms }
      for (const week of cut) {
        const own = week.rows.get(model)
        const rest = { ...month, days: daysWithout(month, week) }
        if (own === undefined) continue
        const inMonth = [...termsOf('monthly', month.release, [row]), ...less(coverOf(model, rest, full))]
        yield {
          what: `${nameOf(own, week.what)}, less ${month.what}`,
          terms: [...termsOf('weekly', week.release, [own]), ...less(inMonth)],
        }
      }
    }
  }
}

/** What is published of a model on the days of a period: by full weeks that name it, else by days. */
function coverOf(model: string, { days, release }: Period, full: readonly Period[]): Term[] {
  const rows = full.map((week) => week.rows.get(model)).filter((row) => row !== undefined)
  const covered = new Set(rows.map(({ date }) => date))
  const left = days.filter(({ date }) => !covered.has(firstDateOf('weekly', date)))
  return [...termsOf('weekly', release, rows), ...daysOf(model, left, release, 1)]
}
