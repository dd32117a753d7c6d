import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { canonicalCsvHeader, canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import { byCodePoints } from '../../pipeline/contract/code-points.ts'
import {
  DATASET_PATH,
  hashesOf,
  LatestPointer,
  Manifest,
  type ReleaseEntry,
  ReleaseIndex,
  type TableFacts,
} from '../../pipeline/contract/manifest.ts'
import { POINTER_PATH } from '../../pipeline/contract/published-paths.ts'
import { OTHER, RankingRow, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
import { dataFile, MODELS_FILE } from '../../pipeline/contract/release-files.ts'
import { PeriodRow, type Table, type TableRow, tableFacts } from '../../pipeline/contract/tables.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { csvRecords } from '../base/csv.ts'

/** Returns a check of row order (§ Endpoints 5, rules 1, 3 and 4), which returns the problem, if any. */
export function orderCheck(): (row: RankingRow) => string | undefined {
  let previous: RankingRow | undefined
  let slugs = new Set<string>()

  return (row) => {
    if (row.date !== previous?.date) slugs = new Set()
    const problem = wrongPlace(previous, row) ?? wrongSlug(slugs, row)
    previous = row
    slugs.add(row.model_permaslug)
    return problem
  }
}

function wrongPlace(previous: RankingRow | undefined, row: RankingRow): string | undefined {
  if (previous === undefined || row.date > previous.date) return undefined
  if (row.date < previous.date) return `${row.date} stands after ${previous.date}`
  if (previous.model_permaslug === OTHER) return `${row.model_permaslug} stands after ${OTHER} on ${row.date}`
  if (row.model_permaslug === OTHER) return undefined
  const difference = compareTotals(previous, row) || byCodePoints(previous.model_permaslug, row.model_permaslug)
  return difference > 0 ? `${row.model_permaslug} stands after ${previous.model_permaslug} on ${row.date}` : undefined
}

function wrongSlug(slugs: Set<string>, { date, model_permaslug }: RankingRow): string | undefined {
  if (slugs.has(model_permaslug)) return `${model_permaslug} stands twice on ${date}`
  if (model_permaslug !== OTHER && slugs.size >= TOP_MODELS) return `${date} names more than ${TOP_MODELS} models`
  return undefined
}

/** Descending. Digits without leading zeros compare by length, then as text. */
function compareTotals(a: RankingRow, b: RankingRow): number {
  const [x, y] = [a.total_tokens, b.total_tokens]
  return y.length - x.length || Number(y > x) - Number(y < x)
}

/** A release whose manifest was read and checked. Its files are read and checked one by one. */
export interface Release {
  folder: string
  manifest: Manifest
}

/** A release that must not be served. The message says why. */
export class ReleaseError extends Error {
  override name = 'ReleaseError'
}

const gunzipOffLoop = promisify(gunzip)

/** Reads the manifest of the release that `latest.json` names and checks it. Throws `ReleaseError`. */
export async function readCurrentRelease(publicDir: string): Promise<Release> {
  const path = join(publicDir, POINTER_PATH)
  return await readRelease(publicDir, parseJson(await readFile(path, 'utf8'), path, LatestPointer))
}

/** Reads the manifest of a release of the index; it must have the listed checksum. Throws `ReleaseError`. */
export async function readListedRelease(publicDir: string, entry: ReleaseEntry): Promise<Release> {
  const { manifest_sha256, content_hash } = hashesOf(entry)
  return await readRelease(publicDir, { ...entry, content_hash }, manifest_sha256)
}

/** Parses `releases/index.json`; `path` is for errors. Throws `ReleaseError`. */
export function parseReleaseIndex(text: string, path: string): ReleaseIndex {
  return parseJson(text, path, ReleaseIndex)
}

/** Reads the rows of a table that the release has, in published order, and checks them. Throws `ReleaseError`. */
export async function readTable(release: Release, table: Table): Promise<TableRow[]> {
  const promised = promisedOf(release.manifest, table)
  const file = dataFile(table, 'ndjson.gz')
  const text = (await gunzipOffLoop(await readListed(release, file))).toString('utf8')
  if (!text.endsWith('\n')) throw new ReleaseError(`${file} does not end with a line ending`)
  const rows: TableRow[] = []
  const parseRow = rowParser(file, table)
  const findDisorder = orderCheck()
  for (const line of text.slice(0, -1).split('\n')) {
    const row = parseRow(line)
    const disorder = findDisorder(row)
    if (disorder !== undefined) throw new ReleaseError(`the rows of ${file} are not in order: ${disorder}`)
    rows.push(row)
  }
  checkTotals(rows, table, promised)
  return rows
}

/** The authors of the release's models by slug; undefined if it has no `models.csv`. Throws `ReleaseError`. */
export async function readAuthors(release: Release): Promise<Map<string, string> | undefined> {
  if (!release.manifest.files.some(({ path }) => path === MODELS_FILE)) return undefined
  return authorsOf((await readListed(release, MODELS_FILE)).toString('utf8'))
}

async function readRelease(publicDir: string, pointer: LatestPointer, manifestSha256?: string): Promise<Release> {
  const folder = join(publicDir, DATASET_PATH, pointer.path)
  const path = join(folder, 'manifest.json')
  const bytes = await readFile(path)
  if (manifestSha256 !== undefined) mustEqual('sha256 of manifest.json', hash('sha256', bytes), manifestSha256)
  const manifest = parseJson(bytes.toString('utf8'), path, Manifest)
  for (const key of ['release', 'as_of', 'start_date', 'end_date', 'rows', 'content_hash'] as const) {
    mustEqual(`${key} of the manifest`, manifest[key], pointer[key])
  }
  return { folder, manifest }
}

function parseJson<T extends z.ZodType>(text: string, path: string, schema: T): z.output<T> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new ReleaseError(`${path} is not valid`, { cause: error })
  }
}

async function readListed({ folder, manifest }: Release, file: string): Promise<Buffer> {
  const resource = manifest.files.find(({ path }) => path === file)
  if (resource === undefined) throw new ReleaseError(`the manifest of ${manifest.release} does not list ${file}`)
  const bytes = await readFile(join(folder, file))
  mustEqual(`size of ${file}`, bytes.length, resource.bytes)
  mustEqual(`sha256 of ${file}`, hash('sha256', bytes), resource.sha256)
  return bytes
}

function promisedOf(manifest: Manifest, table: Table): TableFacts {
  const promised = tableFacts(manifest, table)
  if (promised === undefined) throw new ReleaseError(`${manifest.release} has no ${table} table`)
  return promised
}

/** Checks the calendar once per date: that takes as long as the rest. */
function rowParser(file: string, table: Table): (line: string) => TableRow {
  const RowOfSomeDate = (table === 'daily' ? RankingRow : PeriodRow).extend({ date: z.string() })
  let lines = 0
  let date: UtcDate | undefined

  return (line) => {
    lines++
    try {
      const row = RowOfSomeDate.parse(JSON.parse(line))
      if (row.date !== date) date = UtcDate.parse(row.date)
      return row
    } catch (error) {
      throw new ReleaseError(`line ${lines} of ${file} is not a ranking row`, { cause: error })
    }
  }
}

function checkTotals(rows: readonly TableRow[], table: Table, promised: TableFacts): void {
  const canonicalCsv = canonicalCsvHeader(table) + rows.map(canonicalCsvRow).join('')
  mustEqual('number of rows', rows.length, promised.rows)
  mustEqual('content_hash of the rows', `sha256:${hash('sha256', canonicalCsv)}`, promised.content_hash)
  for (const { date } of [rows[0], rows.at(-1)].filter((row) => row !== undefined)) {
    if (date < promised.start_date || date > promised.end_date) {
      throw new ReleaseError(`${date} is outside ${promised.start_date} to ${promised.end_date}`)
    }
  }
}

function mustEqual(what: string, found: unknown, promised: unknown): void {
  if (found !== promised) throw new ReleaseError(`${what} is ${found}, but ${promised} was promised`)
}

/** The authors of a published `models.csv`, by slug. A model without an author is not among them. */
export function authorsOf(csv: string): Map<string, string> {
  const [header = [], ...records] = csvRecords(csv)
  const [slug, author] = [header.indexOf('model_permaslug'), header.indexOf('author')]
  const pairs = records.map((record): [string, string] => [record[slug] ?? '', record[author] ?? ''])
  return new Map(pairs.filter((pair) => !pair.includes('')))
}
