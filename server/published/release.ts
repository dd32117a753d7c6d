import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import {
  DATASET_PATH,
  hashesOf,
  LatestPointer,
  Manifest,
  type ReleaseEntry,
  ReleaseIndex,
} from '../../pipeline/contract/manifest.ts'
import { POINTER_PATH } from '../../pipeline/contract/published-paths.ts'
import { RankingRow } from '../../pipeline/contract/ranking.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { orderCheck } from './ranking-order.ts'

export interface Release {
  manifest: Manifest
  rows: RankingRow[]
}

/** A release that must not be served. The message says why. */
export class ReleaseError extends Error {
  override name = 'ReleaseError'
}

const ROWS_FILE = 'rankings-daily.ndjson.gz'
const gunzipOffLoop = promisify(gunzip)

export function pointerPath(publicDir: string): string {
  return join(publicDir, POINTER_PATH)
}

/** Reads the release that `latest.json` names and checks it. Throws `ReleaseError`. */
export async function readCurrentRelease(publicDir: string): Promise<Release> {
  const path = pointerPath(publicDir)
  return await readRelease(publicDir, parseJson(await readFile(path, 'utf8'), path, LatestPointer))
}

/** Reads a release of the index; its manifest must have the listed checksum. Throws `ReleaseError`. */
export async function readListedRelease(publicDir: string, entry: ReleaseEntry): Promise<Release> {
  const { manifest_sha256, content_hash } = hashesOf(entry)
  return await readRelease(publicDir, { ...entry, content_hash }, manifest_sha256)
}

/** Parses `releases/index.json`; `path` is for errors. Throws `ReleaseError`. */
export function parseReleaseIndex(text: string, path: string): ReleaseIndex {
  return parseJson(text, path, ReleaseIndex)
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
  const rows = readRows(await readRowsFile(folder, manifest), manifest)
  return { manifest, rows }
}

function parseJson<T extends z.ZodType>(text: string, path: string, schema: T): z.output<T> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new ReleaseError(`${path} is not valid`, { cause: error })
  }
}

async function readRowsFile(folder: string, manifest: Manifest): Promise<string> {
  const resource = manifest.files.find(({ path }) => path === ROWS_FILE)
  if (resource === undefined) throw new ReleaseError(`the manifest of ${manifest.release} does not list ${ROWS_FILE}`)
  const bytes = await readFile(join(folder, ROWS_FILE))
  mustEqual(`size of ${ROWS_FILE}`, bytes.length, resource.bytes)
  mustEqual(`sha256 of ${ROWS_FILE}`, hash('sha256', bytes), resource.sha256)
  return (await gunzipOffLoop(bytes)).toString('utf8')
}

function readRows(text: string, manifest: Manifest): RankingRow[] {
  if (!text.endsWith('\n')) throw new ReleaseError(`${ROWS_FILE} does not end with a line ending`)
  const rows: RankingRow[] = []
  const parseRow = rowParser()
  const findDisorder = orderCheck()
  for (const line of text.slice(0, -1).split('\n')) {
    const row = parseRow(line)
    const disorder = findDisorder(row)
    if (disorder !== undefined) throw new ReleaseError(`the rows are not in order: ${disorder}`)
    rows.push(row)
  }
  const canonicalCsv = CANONICAL_CSV_HEADER + rows.map(canonicalCsvRow).join('')
  checkTotals(rows, `sha256:${hash('sha256', canonicalCsv)}`, manifest)
  return rows
}

/** Checks the calendar once per date: that takes as long as the rest. */
function rowParser(): (line: string) => RankingRow {
  const RowOfSomeDate = RankingRow.extend({ date: z.string() })
  let lines = 0
  let date: UtcDate | undefined

  return (line) => {
    lines++
    try {
      const row = RowOfSomeDate.parse(JSON.parse(line))
      if (row.date !== date) date = UtcDate.parse(row.date)
      return row
    } catch (error) {
      throw new ReleaseError(`line ${lines} of ${ROWS_FILE} is not a ranking row`, { cause: error })
    }
  }
}

function checkTotals(rows: RankingRow[], contentHash: string, manifest: Manifest): void {
  mustEqual('number of rows', rows.length, manifest.rows)
  mustEqual('content_hash of the rows', contentHash, manifest.content_hash)
  for (const { date } of [rows[0], rows.at(-1)].filter((row) => row !== undefined)) {
    if (date < manifest.start_date || date > manifest.end_date) {
      throw new ReleaseError(`${date} is outside ${manifest.start_date} to ${manifest.end_date}`)
    }
  }
}

function mustEqual(what: string, found: unknown, promised: unknown): void {
  if (found !== promised) throw new ReleaseError(`${what} is ${found}, but ${promised} was promised`)
}
