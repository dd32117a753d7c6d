import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { type Database, DUCKDB_VERSION } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, naming } from '../base/errors.ts'
import { isThere, namesIn, readIfAny, statsIfAny } from '../base/files.ts'
import { jsonIfAny, parse } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { withTemporaryDatabase } from '../base/scratch.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { contentHash, writeJson } from '../base/text.ts'
import { ContentHash, ReleaseName } from '../contract/manifest.ts'
import { HISTORY_FILES, PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type RankingMeta, RankingResponse, type RankingRow, Timestamp } from '../contract/ranking.ts'
import { dataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import { PERIOD_TABLES, type PeriodTable, TABLES, type Table, type TableRow } from '../contract/tables.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { readParquet } from '../release/read-back.ts'
import { renderRows } from '../release/stage.ts'
import { datesOf, type PeriodFormat, periodsIn, pointerPath, type RowsOfPeriod, revisionText } from './periods.ts'

const Footer = z.object({
  dataset: z.literal('rankings-daily'),
  table: z.enum(PERIOD_TABLES).optional(),
  /** Those of the release, in the files of weeks and months: their rows do not tell. */
  start_date: UtcDate.optional(),
  end_date: UtcDate.optional(),
  release: ReleaseName,
  as_of: Timestamp,
  schema_version: z.literal(DATASET_VERSION),
  content_hash: ContentHash,
})
type Footer = z.infer<typeof Footer>

export type Comparison =
  /** Equal bytes; for a day or month, equal to one of its revisions. */
  | 'equal'
  /** Equal rows, but the published revision of a day names the instant of another release. */
  | 'other_as_of'
  /** Equal rows, but another version of Tokenboard, DuckDB or zlib wrote other bytes. */
  | 'equal_rows'
  | 'differs'
  /** No published file lies beside the Parquet file. */
  | 'not_at_hand'

export interface DerivedFile {
  path: string
  comparison: Comparison
}

export interface DeriveSummary {
  release: ReleaseName
  as_of: Timestamp
  /** Of the first of `tables`. */
  rows: number
  content_hash: ContentHash
  out: string
  files: DerivedFile[]
  /** The tables whose Parquet files were given. */
  tables: { table: Table; rows: number; content_hash: ContentHash }[]
  /** The tables that do not follow from what was given. */
  cannot_make: { table: PeriodTable; reason: string }[]
}

const NOT_FROM_DAYS =
  'weeks and months cannot be made from the daily table, because they come from the sums of all models'

/** A table that was read from its Parquet file. */
interface ReadTable {
  table: Table
  footer: Footer
  rows: readonly TableRow[]
}

/**
 * Rebuilds the formats of each table from its Parquet file (or of all tables of a folder), and days and months from the
 * daily one, and compares them with published files beside them. Throws `CliError` for a missing file or a nonempty `out`,
 * `BuildError` for a damaged or foreign file.
 */
export async function derive(
  place: string,
  out: string,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<DeriveSummary> {
  const paths = await locate(place)
  const [first = ''] = paths
  if ((await namesIn(out)).length > 0) throw new CliError(`${out} holds something already; give an empty folder`)
  return withTemporaryDatabase('derive', { signal, folders: [dirname(first), out] }, async (database) => {
    const tables = await readTables(database, paths)
    const beside = await lookBeside(dirname(first))
    const entries = (await Promise.all(tables.map((each) => entriesOf(each, beside, database)))).flat()
    if (tables.some(({ table }) => table === 'daily')) {
      for (const folder of Object.keys(PERIOD_FORMATS)) await mkdir(join(out, folder), { recursive: true })
    } else await mkdir(out, { recursive: true })
    const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    let written = 0
    const deriveFile = async ({ path, write, published, isSimilar }: DerivedEntry): Promise<DerivedFile> => {
      const made = await write(join(out, path))
      written += 1
      report({ kind: 'progress', stage: 'derive', share: written / entries.length, bytes })
      return { path, comparison: await compare(await published(), made, isSimilar) }
    }
    return { ...describe(tables), out, files: await sideBySide(entries, deriveFile, SMALL_FILES_AT_ONCE) }
  })
}

function describe(read: readonly ReadTable[]): Omit<DeriveSummary, 'out' | 'files'> {
  const [first] = read
  if (first === undefined) throw new Error('derive reads a table')
  const tables = read.map(({ table, rows, footer: { content_hash } }) => ({ table, rows: rows.length, content_hash }))
  const absent =
    first.table === 'daily' ? PERIOD_TABLES.filter((each) => !read.some(({ table }) => table === each)) : []
  return {
    release: first.footer.release,
    as_of: first.footer.as_of,
    rows: first.rows.length,
    content_hash: first.footer.content_hash,
    tables,
    cannot_make: absent.map((table) => ({ table, reason: NOT_FROM_DAYS })),
  }
}

/** The Parquet files to read. Resolves links, because published files are looked for next to the real file. */
async function locate(place: string): Promise<string[]> {
  const isFolder = (await statsIfAny(place))?.isDirectory() ?? false
  const [first = place, ...others] = isFolder ? TABLES.map((table) => join(place, dataFile(table, 'parquet'))) : []
  const isFile = async (path: string) => (await statsIfAny(path))?.isFile() ?? false
  if (!(await isFile(first))) throw new CliError(`there is no file ${first}${await hintOf(dirname(first))}`)
  const there = await Promise.all(others.map(async (path) => ((await isFile(path)) ? [path] : [])))
  return Promise.all([first, ...there.flat()].map((path) => realpath(path)))
}

/** How to make the files of a dropped release, given its folder. */
async function hintOf(folder: string): Promise<string> {
  const { dataset } = await lookBeside(folder)
  if (dataset === undefined || !(await isThere(join(dataset, HISTORY_FILES.parquet)))) return ''
  return `; if its release was dropped, derive ${dataset} --release ${basename(folder)} makes it from the history`
}

/** Reads tables of one release. In a folder, each file has the table that it is named by. */
async function readTables(database: Database, paths: readonly string[]): Promise<ReadTable[]> {
  const tables: ReadTable[] = []
  for (const path of paths) {
    const read = await readTable(database, path)
    const release = tables[0]?.footer.release ?? read.footer.release
    const isNamed = paths.length === 1 || basename(path) === dataFile(read.table, 'parquet')
    if (read.footer.release !== release || !isNamed) {
      throw new BuildError(
        `${path} is the ${read.table} table of ${read.footer.release}, not one of release ${release}`,
      )
    }
    tables.push(read)
  }
  return tables
}

async function readTable(database: Database, path: string): Promise<ReadTable> {
  const readKeys = () => database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const keys = Object.fromEntries((await naming(path, 'Parquet', readKeys)).map(({ key, value }) => [key, value]))
  const footer = parse(Footer, keys, `the footer of ${path}`, BuildError)
  const table = footer.table ?? 'daily'
  const rows: readonly TableRow[] = await readParquet(database, path, table)
  if (table === 'daily') await database.run('release-rows/create_rows', { path })
  const found = contentHash(rows, table)
  if (rows.length === 0 || found !== footer.content_hash) {
    throw new BuildError(
      `${path} holds ${counted(rows.length, 'row')} with ${found}, but its footer says ${footer.content_hash}`,
    )
  }
  return { table, footer, rows }
}

/** A file that follows from the rows of a release. */
interface DerivedEntry {
  path: string
  /** Returns the bytes that it wrote. */
  write(place: string): Promise<Buffer>
  /** The published files that may be equal. */
  published(): Promise<readonly string[]>
  isSimilar?: (published: Buffer) => boolean
}

async function entriesOf(read: ReadTable, beside: Beside, database: Database): Promise<DerivedEntry[]> {
  const { table, rows, footer } = read
  const data = await dataEntries(read, beside)
  return table === 'daily' ? [...data, ...periodEntries(rows, footer, beside, database)] : data
}

async function dataEntries({ table, rows, footer }: ReadTable, { release }: Beside): Promise<DerivedEntry[]> {
  const { as_of, schema_version, start_date = rows.at(0)?.date ?? '', end_date = rows.at(-1)?.date ?? '' } = footer
  const meta: RankingMeta = { as_of, start_date, end_date, version: schema_version }
  return (await renderRows(table, rows, meta)).map(([path, bytes]) => ({
    path,
    write: (place) => writeBytes(place, bytes),
    published: async () => (release === undefined ? [] : [join(release, path)]),
  }))
}

/** The files of days and months, which have daily rows. */
function periodEntries(
  rows: readonly RankingRow[],
  { as_of }: Footer,
  { dataset }: Beside,
  database: Database,
): DerivedEntry[] {
  return periodsIn(rows).flatMap((period) =>
    PERIOD_FORMATS[period.folder].map((format) => ({
      path: pointerPath(period, format),
      write: (place) => writePeriod(place, period, { format, asOf: as_of }, database),
      published: () => revisionsOf(dataset, period, format),
      isSimilar: (published) => format === 'json' && isOtherAsOf(published, period.rows),
    })),
  )
}

async function writeBytes(place: string, bytes: Buffer): Promise<Buffer> {
  await writeFile(place, bytes)
  return bytes
}

async function writePeriod(
  place: string,
  period: RowsOfPeriod,
  { format, asOf }: { format: PeriodFormat; asOf: Timestamp },
  database: Database,
): Promise<Buffer> {
  if (format !== 'parquet') return writeBytes(place, revisionText(period, format, asOf))
  await database.run('release-rows/write_period', { ...datesOf(period), path: place })
  return readFile(place)
}

async function revisionsOf(
  dataset: string | undefined,
  { folder, name }: RowsOfPeriod,
  format: PeriodFormat,
): Promise<readonly string[]> {
  if (dataset === undefined) return []
  const names = await namesIn(join(dataset, folder, name))
  return names.filter((file) => file.endsWith(`.${format}`)).map((file) => join(dataset, folder, name, file))
}

interface Beside {
  release: string | undefined
  dataset: string | undefined
}

async function lookBeside(folder: string): Promise<Beside> {
  const isRelease = (await namesIn(folder)).includes(MANIFEST_FILE)
  const isPublished = isRelease && basename(dirname(folder)) === 'releases'
  return { release: isRelease ? folder : undefined, dataset: isPublished ? dirname(dirname(folder)) : undefined }
}

async function compare(
  paths: readonly string[],
  bytes: Buffer,
  isSimilar = (_published: Buffer) => false,
): Promise<Comparison> {
  const published = (await sideBySide(paths, (path) => readIfAny(path))).filter((each) => each !== undefined)
  if (published.length === 0) return 'not_at_hand'
  if (published.some((each) => each.equals(bytes))) return 'equal'
  return published.some(isSimilar) ? 'other_as_of' : 'differs'
}

function isOtherAsOf(published: Buffer, rows: readonly RankingRow[]): boolean {
  const answer = RankingResponse.safeParse(jsonIfAny(published.toString()))
  return answer.success && writeJson(rows, answer.data.meta).equals(published)
}

/** Throws `BuildError` that lists the files that differ from the published ones. */
export function verifyDerived({ files }: DeriveSummary): void {
  const wrong = files.filter(({ comparison }) => comparison === 'differs').map(({ path }) => path)
  if (wrong.length === 0) return
  const shown = wrong.slice(0, 5).join(', ')
  throw new BuildError(
    `${wrong.length} derived files differ from those that are published: ${shown}${wrong.length > 5 ? ', …' : ''}; ` +
      `Parquet files of other bytes may come from another DuckDB than ${DUCKDB_VERSION}, see provenance.json, and gzip files ` +
      `from another zlib than ${process.versions.zlib}`,
  )
}
