import type { ReleaseName } from '../contract/manifest.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { PeriodRows, Table, TableRow } from '../contract/tables.ts'

/** The rows of a release. All other published numbers, those of daily and monthly files included, follow from them. */
export interface PublishedRows {
  release: ReleaseName
  rows: readonly RankingRow[]
  /** Undefined if the release has no tables of weeks and months. */
  periods?: PeriodRows | undefined
}

/** A published row that is added or subtracted. */
export interface Term {
  release: ReleaseName
  table: Table
  row: TableRow
  factor: 1 | -1
}

/** A number that a reader can compute from published rows. */
export interface Derived {
  what: string
  terms: readonly Term[]
}

/** The rows of a date or a period, by model. */
export type Cells = ReadonlyMap<string, TableRow>

/** The rows of a table of a release as terms. */
export function termsOf(
  table: Table,
  release: ReleaseName,
  rows: Iterable<TableRow>,
  factor: Term['factor'] = 1,
): Term[] {
  return [...rows].map((row) => ({ release, table, row, factor }))
}

export function cellsByDate(rows: readonly TableRow[]): Map<string, Cells> {
  const dates = Map.groupBy(rows, ({ date }) => date)
  return new Map([...dates].map(([date, day]) => [date, new Map(day.map((row) => [row.model_permaslug, row]))]))
}

export function isNamed({ model_permaslug }: TableRow): boolean {
  return model_permaslug !== OTHER
}

/** A number of one table of a release, and those that are compared with it. */
interface Corrected {
  what: string
  older: TableRow[]
  newer: TableRow[]
}

/**
 * The rest corrected by models that left it (`left`) or joined it: all of them, and one by one. If N left and M joined, the
 * rest before less N now is what stayed in it.
 */
export function* restsOf(old: Cells, now: Cells): Generator<Corrected> {
  const missingIn = (cells: Cells) => (row: TableRow) => isNamed(row) && !cells.has(row.model_permaslug)
  const left = [...now.values()].filter(missingIn(old))
  const joined = [...old.values()].filter(missingIn(now))
  const before = [...old.values()].filter((row) => !isNamed(row))
  const after = [...now.values()].filter((row) => !isNamed(row))
  const groups: [TableRow[], TableRow[]][] = [
    [left, joined],
    ...left.map((row): [TableRow[], TableRow[]] => [[row], []]),
    ...joined.map((row): [TableRow[], TableRow[]] => [[], [row]]),
  ]
  for (const [out, into] of groups) {
    if (out.length + into.length === 0) continue
    const names = [...out, ...into].map(({ model_permaslug }) => model_permaslug).join(', ')
    yield { what: `the rest, corrected by ${names},`, older: [...before, ...into], newer: [...after, ...out] }
    if (out.length > 0) yield { what: 'the rest before, less what left it,', older: before, newer: out }
    if (into.length > 0) yield { what: 'the rest now, less what joined it,', older: into, newer: after }
  }
}
