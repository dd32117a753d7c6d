import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { naming } from '../base/errors.ts'
import { hashFile, isThere } from '../base/files.ts'
import type { Manifest } from '../contract/manifest.ts'
import { RankingResponse, RankingRow } from '../contract/ranking.ts'
import { type DataFormat, dataFile } from '../contract/release-files.ts'
import { readCsv, readText } from './read-back.ts'

/** A release that was verified when it was made. */
export interface PreviousRelease {
  folder: string
  manifest: Manifest
}

/** The last rows of a file. */
export interface NewDays {
  /** How many rows the file has before them. */
  after: number
  rows: RankingRow[]
}

/**
 * Reads the last daily rows of a text file, from the first byte on that the file of the previous release does not have: the
 * rows before it were read from these bytes when that release was verified. Undefined if all rows have to be read.
 */
export async function readNewDays(
  database: Database,
  folder: string,
  { format, previous }: { format: Exclude<DataFormat, 'parquet' | 'csv.gz'>; previous: PreviousRelease },
): Promise<NewDays | undefined> {
  const name = dataFile('daily', format)
  const path = join(folder, name)
  if (!(await isAsVerified(previous, name))) return undefined
  return naming(path, format, async () => {
    const [text, known] = [await readText(path), await readText(join(previous.folder, name))]
    const mark = format === 'csv' ? LINE_END : ROW_START
    const start = endOfKnownRows(text, known, mark)
    const after = countMarks(text.subarray(0, start), mark)
    if (format === 'csv') return { after, rows: await readCsv(database, path, after) }
    const end = text.subarray(start).toString()
    return { after, rows: format === 'json.gz' ? jsonRows(end) : ndjsonRows(end) }
  })
}

/** What a row begins with. In a text of JSON it would have other quotes. */
const ROW_START = '{"date":'

/** What each row of a CSV file stands behind. No slug has one. */
const LINE_END = '\n'

async function isAsVerified({ folder, manifest }: PreviousRelease, name: string): Promise<boolean> {
  const listed = manifest.files.find(({ path }) => path === name)
  const path = join(folder, name)
  return listed !== undefined && (await isThere(path)) && (await hashFile(path)).sha256 === listed.sha256
}

/** Where the first row begins that is not wholly, with its separator, in both texts; 0 if there is none before. */
function endOfKnownRows(text: Buffer, known: Buffer, mark: string): number {
  const common = commonLength(text, known)
  const last = text.subarray(0, common).lastIndexOf(mark)
  return last === text.indexOf(mark) ? 0 : Math.max(0, last)
}

function countMarks(text: Buffer, mark: string): number {
  let count = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count += 1
  return count
}

/** How many bytes two texts have in common from their beginning. */
function commonLength(one: Buffer, other: Buffer): number {
  let [common, most] = [0, Math.min(one.length, other.length)]
  while (common < most) {
    const middle = Math.ceil((common + most) / 2)
    if (one.compare(other, common, middle, common, middle) === 0) common = middle
    else most = middle - 1
  }
  return common
}

function jsonRows(end: string): RankingRow[] {
  const text = end.startsWith('{"data":') ? end : `{"data":[${end}`
  return RankingResponse.parse(JSON.parse(text)).data
}

function ndjsonRows(end: string): RankingRow[] {
  return end
    .split('\n')
    .slice(0, -1)
    .map((line) => RankingRow.parse(JSON.parse(line)))
}
