import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { HISTORY_COLUMNS, type HistoryRow, standsIn } from '../../pipeline/contract/history-table.ts'
import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { TABLES, type Table, type TableRow } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { csvRecords } from '../base/csv.ts'
import type { Link } from './composed-gzip.ts'
import type { HistoryOrder } from './loaders.ts'
import { compressRows, mapTables, type PreparedRows, type PreparedTable, serialiseRows } from './prepared-table.ts'

/** In which releases a version stands, as in a row of the history. */
type Interval = Pick<HistoryRow, 'valid_from' | 'valid_to'>

/** The rows of a date in a table, as all releases of an interval have them. */
interface DateVersion extends Interval {
  date: UtcDate
  /** In published order. */
  rows: TableRow[]
}

/** The versions of each table of the history, by date and release. */
type HistoryVersions = Partial<Record<Table, DateVersion[]>>

interface Placed extends Interval {
  position: number
  row: TableRow
}

const gunzipOffLoop = promisify(gunzip)

/**
 * Reads `history.csv.gz`. Its rows are not checked here: what answers from them compares the content hash of each release.
 * Throws if it is not a gzip, or has other columns.
 */
export async function readVersions(path: string): Promise<HistoryVersions> {
  const text = (await gunzipOffLoop(await readFile(path))).toString('utf8')
  const records = csvRecords(text)
  if (records.next().value?.join() !== HISTORY_COLUMNS.join())
    throw new Error(`${path} does not have the columns of a history`)
  const versions: HistoryVersions = {}
  for (const ofDate of recordsOfDates(records)) {
    const [name, date = ''] = ofDate[0] ?? []
    const table = TABLES.find((each) => each === name)
    if (table === undefined) throw new Error(`${path} has an unknown table ${name}`)
    versions[table] ??= []
    versions[table].push(...versionsOf(date, ofDate.map(placed)))
  }
  return versions
}

/** The records of a table have its dates in order. */
function* recordsOfDates(records: Iterable<string[]>): Generator<string[][]> {
  let ofDate: string[][] = []
  for (const record of records) {
    const [table, date] = ofDate[0] ?? record
    if (record[0] !== table || record[1] !== date) {
      yield ofDate
      ofDate = []
    }
    ofDate.push(record)
  }
  if (ofDate.length > 0) yield ofDate
}

function placed([
  ,
  date = '',
  model_permaslug = '',
  total_tokens = '',
  days,
  position,
  from = '',
  to,
]: string[]): Placed {
  const row = { date, model_permaslug, total_tokens, ...(days && { days: Number(days) }) }
  return { position: Number(position), row, valid_from: from, valid_to: to || null }
}

/** A date has other rows wherever one of its rows begins or ends. */
function versionsOf(date: UtcDate, placed: readonly Placed[]): DateVersion[] {
  const ends = placed.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? LAST])
  const marks = [...new Set(ends)].sort()
  const ordered = placed.toSorted((a, b) => a.position - b.position)
  return marks.slice(0, -1).flatMap((valid_from, index) => {
    const end = marks[index + 1] ?? LAST
    const rows = ordered.filter((each) => standsIn(each, valid_from)).map(({ row }) => row)
    return rows.length === 0 ? [] : [{ date, valid_from, valid_to: end === LAST ? null : end, rows }]
  })
}

/** Sorts after all names of releases. */
const LAST = 'current'

interface PreparedVersion extends Interval {
  date: UtcDate
  /** The number of its piece, and how many rows it has. */
  piece: number
  length: number
}

/** A table of the history, one piece per version of a date. */
export interface PreparedVersions extends PreparedRows {
  /** By date. */
  versions: PreparedVersion[]
  /** The pieces of two dates that follow each other in some release, as one key: the number of their piece of gzip. */
  links: Map<number, number>
}

export type PreparedHistory = Partial<Record<Table, PreparedVersions>>

/** The history without gzip, then with it, which takes seconds for a year of releases. */
export async function* prepareHistory({ path }: Pick<HistoryOrder, 'path'>): AsyncGenerator<PreparedHistory> {
  const plain = mapTables(await readVersions(path), serialiseVersions)
  yield plain
  yield mapTables(plain, (table) => ({ ...table, gzip: compressRows(table.rows, [...table.links.keys()].map(linkOf)) }))
}

/** The table of a release. It has no rows if the history does not have the release. */
export function tableAt({ versions, links, ...shared }: PreparedVersions, release: ReleaseName): PreparedTable {
  const standing = versions.filter((version) => standsIn(version, release))
  const pieces = Uint32Array.from(standing, ({ piece }) => piece)
  return {
    ...shared,
    dates: standing.map(({ date }) => date),
    length: standing.reduce((sum, { length }) => sum + length, 0),
    pieces,
    links: pieces.map((piece, index) => links.get(keyOf(pieces[index - 1] ?? 0, piece)) ?? 0),
  }
}

/**
 * Pieces are in the order in which the releases have them, the newest release first. What an older release has is
 * then some long runs and few single pieces.
 */
function serialiseVersions(ofTable: readonly DateVersion[]): PreparedVersions {
  const pieces = new Map<DateVersion, number>()
  const links = new Map<number, number>()
  for (const release of releasesOf(ofTable)) {
    let previous: number | undefined
    for (const version of ofTable) {
      if (!standsIn(version, release)) continue
      const piece = numberOf(pieces, version)
      if (previous !== undefined) numberOf(links, keyOf(previous, piece))
      previous = piece
    }
  }
  return {
    rows: serialiseRows([...pieces.keys()].map(({ rows }) => rows)),
    versions: ofTable.map((version) => {
      const { rows, ...rest } = version
      return { ...rest, piece: numberOf(pieces, version), length: rows.length }
    }),
    links,
  }
}

/** Those that differ from the one before, newest first. */
function releasesOf(versions: readonly Interval[]): ReleaseName[] {
  const ends = versions.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? valid_from])
  return [...new Set(ends)].sort().reverse()
}

/** The number of a key: keys are numbered as they come. */
function numberOf<K>(numbers: Map<K, number>, key: K): number {
  const number = numbers.get(key) ?? numbers.size
  numbers.set(key, number)
  return number
}

/** More pieces would not fit in memory. */
const MOST_PIECES = 2 ** 24

function keyOf(previous: number, piece: number): number {
  return previous * MOST_PIECES + piece
}

function linkOf(key: number): Link {
  return [Math.floor(key / MOST_PIECES), key % MOST_PIECES]
}
