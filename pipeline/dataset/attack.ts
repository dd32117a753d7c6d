import type { RankingRow } from '../contract/ranking.ts'
import { periodDifferences, periodNumbers, periodSums } from './attack-periods.ts'
import { cellsByDate, type Derived, type PublishedRows, restsOf, termsOf } from './derived.ts'

/** The numbers that a reader who has all releases can compute (docs/publishing.md, What is not promised). */
export function* derivedNumbers(releases: readonly PublishedRows[]): Generator<Derived> {
  for (const [position, each] of releases.entries()) {
    yield* numbersOf(each)
    for (const earlier of releases.slice(0, position)) yield* differencesOf(earlier, each)
  }
}

/** The number itself. */
export function numberOf({ terms }: Derived): bigint {
  return terms.reduce((sum, { row, factor }) => sum + BigInt(factor) * BigInt(row.total_tokens), 0n)
}

/** What `sumsOf` has, totals less one row, and the rest of periods corrected by one row. */
export function* numbersOf({ release, rows, periods }: PublishedRows): Generator<Derived> {
  yield* dailySums({ release, rows })
  yield* periodNumbers({ release, rows, periods })
  for (const [date, day] of Map.groupBy(rows, (row) => row.date)) {
    for (const row of day) {
      const terms = termsOf(
        'daily',
        release,
        day.filter((other) => other !== row),
      )
      yield { what: `all of ${date} but ${row.model_permaslug}`, terms }
    }
  }
}

/** Rows, totals of dates, models, authors and months, and weeks and months less their days. */
export function* sumsOf(published: PublishedRows): Generator<Derived> {
  yield* dailySums(published)
  yield* periodSums(published)
}

function* dailySums({ release, rows }: PublishedRows): Generator<Derived> {
  const plus = (those: readonly RankingRow[]) => termsOf('daily', release, those)
  for (const [date, day] of Map.groupBy(rows, (row) => row.date)) {
    yield { what: `all of ${date}`, terms: plus(day) }
    for (const row of day) yield { what: `${row.model_permaslug} on ${date}`, terms: plus([row]) }
  }
  for (const [what, those] of sumsOverDates(rows)) yield { what, terms: plus(those) }
}

/** What changed from one release to another. */
export function* differencesOf(before: PublishedRows, after: PublishedRows): Generator<Derived> {
  const span = `from ${before.release} to ${after.release}`
  const change = (what: string, old: Iterable<RankingRow>, now: Iterable<RankingRow>): Derived => ({
    what: `${what} ${span}`,
    terms: [...termsOf('daily', after.release, now), ...termsOf('daily', before.release, old, -1)],
  })
  const [olds, nows] = [cellsByDate(before.rows), cellsByDate(after.rows)]
  for (const [date, now] of nows) {
    const old = olds.get(date)
    if (old === undefined) continue
    yield change(`all of ${date}`, old.values(), now.values())
    for (const [model, row] of now) {
      const was = old.get(model)
      if (was !== undefined) yield change(`${model} on ${date}`, [was], [row])
    }
    for (const { what, older, newer } of restsOf(old, now)) yield change(`${what} on ${date}`, older, newer)
  }
  const [oldSums, nowSums] = [new Map(sumsOverDates(before.rows)), sumsOverDates(after.rows)]
  for (const [what, now] of nowSums) yield change(what, oldSums.get(what) ?? [], now)
  yield* periodDifferences(before, after)
}

/** Models, authors and months over all dates. */
function sumsOverDates(rows: readonly RankingRow[]): [what: string, rows: RankingRow[]][] {
  const author = ({ model_permaslug }: RankingRow) => model_permaslug.split('/', 1)[0] ?? ''
  return [
    ...Map.groupBy(rows, ({ model_permaslug }) => `${model_permaslug} on all dates`),
    ...Map.groupBy(rows, (row) => `the author ${author(row)} on all dates`),
    ...Map.groupBy(rows, ({ date }) => `the month ${date.slice(0, 7)}`),
  ]
}
