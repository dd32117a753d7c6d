import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { parse } from '../base/json.ts'
import { hashOfLines } from '../base/text.ts'
import { canonicalCsvRow, csvField } from '../contract/canonical-csv.ts'
import { HISTORY_COLUMNS, HistoryRow } from '../contract/history-table.ts'
import type { ContentHash, Manifest, ReleaseEntry, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { TABLES, type Table } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { HISTORY_FIELDS } from '../release/documents/fields.ts'
import { historyKeys, readHistoryReleases } from '../release/history-table.ts'
import { hashIn, standingEntries } from '../release/index.ts'
import { readText } from '../release/read-back.ts'
import { missing } from './compare.ts'
import { HISTORY_REMEDY } from './retention.ts'

/**
 * Verifies both files of the history. For every release that stands, dropped ones too, the rows of each table must have the
 * content hash that the index lists. No row may stand in another release, and nothing may be there twice. Throws
 * `BuildError`.
 */
export async function verifyHistoryTable(
  database: Database,
  root: string,
  index: ReleaseIndex,
  current: Manifest,
): Promise<void> {
  const path = join(root, HISTORY_PATHS.parquet)
  const standing = standingEntries(index)
  await verifyFooter(database, path, standing, current)
  await verifyCsv(join(root, HISTORY_PATHS.csv), await verifyHistoryRows(database, path, standing))
}

/** Verifies the rows of a `history.parquet` by the content hashes of all its releases. Returns them. Throws `BuildError`. */
export async function verifyHistoryRows(
  database: Database,
  path: string,
  releases: readonly ReleaseEntry[],
): Promise<HistoryRow[]> {
  const rows = await readRows(database, path)
  verifyIntervals(path, rows, new Set(releases.map(({ release }) => release)))
  for (const table of TABLES) {
    const own = rows.filter((row) => row.table === table)
    verifyTable(path, new Replay(table, own), releases)
  }
  return rows
}

async function verifyFooter(
  database: Database,
  path: string,
  standing: readonly ReleaseEntry[],
  current: Manifest,
): Promise<void> {
  const found = await readHistoryReleases(database, path)
  if (found === undefined) throw missing(path)
  const releases = standing.map(({ release }) => release)
  const lacking = releases.find((release) => !found.releases.includes(release))
  if (lacking !== undefined) throw fault(path, `does not have release ${lacking}`)
  const other = found.releases.find((release, position) => release !== releases[position])
  if (other !== undefined) throw fault(path, `has release ${other}, which is not one that stands`)
  const expected = historyKeys({ releases, entry: standing.at(-1)?.hash ?? '' }, current)
  const keys = await database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const written = new Map(keys.map(({ key, value }) => [key, value]))
  for (const [key, value] of Object.entries(expected)) {
    if (written.get(key) === value) continue
    throw fault(path, `says ${key} = ${written.get(key)} in its footer, but by the releases it is ${value}`)
  }
}

const TYPES = Object.fromEntries(HISTORY_FIELDS.map(({ name, sql_type }) => [name, sql_type]))

/** All rows, in the order of the file. */
async function readRows(database: Database, path: string): Promise<HistoryRow[]> {
  const { types, rows } = await naming(path, 'Parquet', () =>
    database.typedRows<{ date: Date | null; total_tokens: bigint | null }>('history-table/read_all', { path }),
  )
  if (JSON.stringify(types) !== JSON.stringify(TYPES)) {
    throw new BuildError(`${path} has the columns ${JSON.stringify(types)} instead of ${JSON.stringify(TYPES)}`)
  }
  const texts = rows.map((row) => ({
    ...row,
    date: row.date?.toISOString().slice(0, 10),
    total_tokens: row.total_tokens?.toString(),
  }))
  return parse(z.array(HistoryRow), texts, path, BuildError)
}

/** Each row begins and ends with a release that stands, and comes after the one before it. */
function verifyIntervals(path: string, rows: readonly HistoryRow[], standing: ReadonlySet<ReleaseName>): void {
  let previous: HistoryRow | undefined
  for (const row of rows) {
    const { valid_from, valid_to } = row
    const unknown = [valid_from, valid_to].find((name) => name !== null && !standing.has(name))
    if (typeof unknown === 'string') throw wrongRow(path, row, `names ${unknown}, which is not a release that stands`)
    if (valid_to !== null && valid_to <= valid_from) throw wrongRow(path, row, 'ends before it begins')
    if (previous !== undefined && compareRows(previous, row) >= 0) throw wrongRow(path, row, 'is not in its place')
    previous = row
  }
}

function compareRows(one: HistoryRow, other: HistoryRow): number {
  const table = TABLES.indexOf(one.table) - TABLES.indexOf(other.table)
  if (table !== 0) return table
  if (one.date !== other.date) return one.date < other.date ? -1 : 1
  if (one.valid_from !== other.valid_from) return one.valid_from < other.valid_from ? -1 : 1
  return one.position - other.position
}

function verifyTable(path: string, replay: Replay, standing: readonly ReleaseEntry[]): void {
  for (const entry of standing) {
    const found = replay.next(path, entry.release)
    const listed = hashIn(entry, replay.table)
    // A privacy withdrawal removed it.
    if (found === listed || listed === undefined) continue
    throw fault(
      path,
      `has ${found} as the ${replay.table} rows of release ${entry.release}, but the index says ${listed}`,
    )
  }
}

/** The rows of one table as each release has them. A date is rendered again only where one of its rows changes. */
class Replay {
  readonly table: Table
  readonly #begins: ReadonlyMap<ReleaseName, HistoryRow[]>
  readonly #ends: ReadonlyMap<ReleaseName | null, HistoryRow[]>
  readonly #dates: readonly UtcDate[]
  /** The rows that stand of each date, by position. */
  readonly #rows = new Map<UtcDate, Map<number, HistoryRow>>()
  /** The lines that stand of each date. */
  readonly #lines = new Map<UtcDate, string>()

  /** The rows in the order of the file. */
  constructor(table: Table, rows: readonly HistoryRow[]) {
    this.table = table
    this.#begins = Map.groupBy(rows, ({ valid_from }) => valid_from)
    this.#ends = Map.groupBy(rows, ({ valid_to }) => valid_to)
    this.#dates = [...new Set(rows.map(({ date }) => date))]
  }

  /** Goes on to the next release that stands. Returns the hash of its rows. */
  next(path: string, release: ReleaseName): ContentHash {
    const [ended, begun] = [this.#ends.get(release) ?? [], this.#begins.get(release) ?? []]
    for (const { date, position } of ended) this.#rows.get(date)?.delete(position)
    const endedLines = new Set(ended.map(lineOf))
    for (const row of begun) {
      const standing = this.#rows.get(row.date) ?? new Map<number, HistoryRow>()
      if (standing.has(row.position)) throw wrongRow(path, row, `has the position of another row of ${release}`)
      if (endedLines.has(lineOf(row))) throw wrongRow(path, row, `is the same before and after ${row.valid_from}`)
      this.#rows.set(row.date, standing.set(row.position, row))
    }
    for (const date of new Set([...ended, ...begun].map((row) => row.date))) this.#render(path, date, release)
    return hashOfLines(
      this.#dates.map((date) => this.#lines.get(date) ?? ''),
      this.table,
    )
  }

  #render(path: string, date: UtcDate, release: ReleaseName): void {
    const standing = this.#rows.get(date) ?? new Map<number, HistoryRow>()
    const lines = Array.from({ length: standing.size }, (_, index) => {
      const row = standing.get(index + 1)
      if (row !== undefined) return canonicalCsvRow({ ...row, days: row.days ?? undefined })
      throw fault(
        path,
        `has no row at position ${index + 1} of ${date} in the ${this.table} table of release ${release}`,
      )
    })
    this.#lines.set(date, lines.join(''))
  }
}

/** A row without its releases. */
function lineOf({ position, days, ...row }: HistoryRow): string {
  return `${position} ${canonicalCsvRow({ ...row, days: days ?? undefined })}`
}

/** The CSV must hold the rows of the Parquet file and no other byte. */
async function verifyCsv(path: string, rows: readonly HistoryRow[]): Promise<void> {
  if (!(await isThere(path))) throw missing(path)
  const lineOfCsv = (row: HistoryRow) => HISTORY_COLUMNS.map((column) => csvField(`${row[column] ?? ''}`)).join(',')
  const text = [HISTORY_COLUMNS.join(','), ...rows.map(lineOfCsv), ''].join('\n')
  const found = await naming(path, 'csv.gz', () => readText(path))
  if (found.equals(Buffer.from(text))) return
  throw new BuildError(`${path} does not hold the rows of history.parquet; delete it, and make build writes it again`)
}

function wrongRow(path: string, { table, date, model_permaslug, valid_from }: HistoryRow, what: string): BuildError {
  return fault(path, `has a row of ${model_permaslug} on ${date} from ${valid_from} in the ${table} table that ${what}`)
}

function fault(path: string, what: string): BuildError {
  return new BuildError(`${path} ${what}; ${HISTORY_REMEDY}`)
}
