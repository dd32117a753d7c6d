import type { ReleaseName } from '../contract/manifest.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'

/** The rows of a release. All other published numbers, those of daily and monthly files included, follow from them. */
export interface PublishedRows {
  release: ReleaseName
  rows: readonly RankingRow[]
}

/** A published row that is added or subtracted. */
export interface Term {
  release: ReleaseName
  row: RankingRow
  factor: 1 | -1
}

/** A number that a reader can compute from published rows. */
export interface Derived {
  what: string
  terms: readonly Term[]
}

type Cells = ReadonlyMap<string, RankingRow>

/**
 * The numbers that a reader who has all releases can compute, as DISCLOSURE.md § Proof lists them. Sums over weeks or
 * months as publications of their own, with rows that their days do not have, would have a function here as well.
 */
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

/** What `sumsOf` has, and totals less one row. */
export function* numbersOf({ release, rows }: PublishedRows): Generator<Derived> {
  yield* sumsOf({ release, rows })
  for (const [date, day] of Map.groupBy(rows, (row) => row.date)) {
    for (const row of day) {
      const terms = termsOf(
        release,
        day.filter((other) => other !== row),
      )
      yield { what: `all of ${date} but ${row.model_permaslug}`, terms }
    }
  }
}

/** Rows, and totals of dates, models, authors and months. */
export function* sumsOf({ release, rows }: PublishedRows): Generator<Derived> {
  const plus = (those: readonly RankingRow[]) => termsOf(release, those)
  for (const [date, day] of Map.groupBy(rows, (row) => row.date)) {
    yield { what: `all of ${date}`, terms: plus(day) }
    for (const row of day) yield { what: `${row.model_permaslug} on ${date}`, terms: plus([row]) }
  }
  for (const [what, those] of sumsOverDates(rows)) yield { what, terms: plus(those) }
}

/** What changed from one release to another. */
export function* differencesOf(before: PublishedRows, after: PublishedRows): Generator<Derived> {
  const span = `from ${before.release} to ${after.release}`
  const change = (what: string, old: Iterable<RankingRow>, now: Iterable<RankingRow>): Derived => {
    return { what: `${what} ${span}`, terms: [...termsOf(after.release, now), ...termsOf(before.release, old, -1)] }
  }
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
}

/**
 * The rest corrected by models that left it (`left`) or joined it: all of them, and one by one. If N left and M joined, the
 * rest before less N now is what stayed in it.
 */
function* restsOf(old: Cells, now: Cells): Generator<{ what: string; older: RankingRow[]; newer: RankingRow[] }> {
  const isNamed = ({ model_permaslug }: RankingRow) => model_permaslug !== OTHER
  const missingIn = (cells: Cells) => (row: RankingRow) => isNamed(row) && !cells.has(row.model_permaslug)
  const left = [...now.values()].filter(missingIn(old))
  const joined = [...old.values()].filter(missingIn(now))
  const before = [...old.values()].filter((row) => !isNamed(row))
  const after = [...now.values()].filter((row) => !isNamed(row))
  const groups: [RankingRow[], RankingRow[]][] = [
    [left, joined],
    ...left.map((row): [RankingRow[], RankingRow[]] => [[row], []]),
    ...joined.map((row): [RankingRow[], RankingRow[]] => [[], [row]]),
  ]
  for (const [out, into] of groups) {
    if (out.length + into.length === 0) continue
    const names = [...out, ...into].map(({ model_permaslug }) => model_permaslug).join(', ')
    yield { what: `the rest, corrected by ${names},`, older: [...before, ...into], newer: [...after, ...out] }
    if (out.length > 0) yield { what: 'the rest before, less what left it,', older: before, newer: out }
    if (into.length > 0) yield { what: 'the rest now, less what joined it,', older: into, newer: after }
  }
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

function cellsByDate(rows: readonly RankingRow[]): Map<string, Cells> {
  const dates = Map.groupBy(rows, ({ date }) => date)
  return new Map([...dates].map(([date, day]) => [date, new Map(day.map((row) => [row.model_permaslug, row]))]))
}

function termsOf(release: ReleaseName, rows: Iterable<RankingRow>, factor: Term['factor'] = 1): Term[] {
  return [...rows].map((row) => ({ release, row, factor }))
}
