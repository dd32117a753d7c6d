import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { type Database, DUCKDB_VERSION } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { namesIn, readIfAny, statsIfAny } from '../base/files.ts'
import { jsonIfAny, parse } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { withTemporaryDatabase } from '../base/scratch.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { contentHash, writeJson } from '../base/text.ts'
import { ContentHash, provisionalFrom, ReleaseName } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type RankingMeta, RankingResponse, type RankingRow, Timestamp } from '../contract/ranking.ts'
import { type DataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import { advance, type Revision } from '../dataset/coverage.ts'
import { readParquet } from '../release/read-back.ts'
import { renderRows } from '../release/stage.ts'
import { datesOf, type PeriodFormat, pointerPath, revisionText } from './periods.ts'

const Footer = z.object({
  dataset: z.literal('rankings-daily'),
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
  rows: number
  content_hash: ContentHash
  out: string
  files: DerivedFile[]
}

/**
 * Rebuilds a release's formats, days and months from its Parquet file (or folder) and compares them with published
 * files beside it. Throws `CliError` for a missing file or a nonempty `out`, `BuildError` for a damaged or foreign
 * file.
 */
export async function derive(
  place: string,
  out: string,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<DeriveSummary> {
  const parquet = await locate(place)
  if ((await namesIn(out)).length > 0) throw new CliError(`${out} holds something already; give an empty folder`)
  return withTemporaryDatabase('derive', { signal, folders: [dirname(parquet), out] }, async (database) => {
    const { footer, rows } = await readRelease(database, parquet)
    const beside = await lookBeside(dirname(parquet))
    const entries = [...(await dataEntries(rows, footer, beside)), ...periodEntries(rows, footer, beside, database)]
    for (const folder of Object.keys(PERIOD_FORMATS)) await mkdir(join(out, folder), { recursive: true })
    const { size } = await stat(parquet)
    let written = 0
    const deriveFile = async ({ path, write, published, isSimilar }: DerivedEntry): Promise<DerivedFile> => {
      const bytes = await write(join(out, path))
      written += 1
      report({ kind: 'progress', stage: 'derive', share: written / entries.length, bytes: size })
      return { path, comparison: await compare(await published(), bytes, isSimilar) }
    }
    const files = await sideBySide(entries, deriveFile, SMALL_FILES_AT_ONCE)
    const { release, as_of, content_hash } = footer
    return { release, as_of, rows: rows.length, content_hash, out, files }
  })
}

/** Resolves links, because published files are looked for next to the real file. */
async function locate(place: string): Promise<string> {
  const stats = await statsIfAny(place)
  const path = stats?.isDirectory() ? join(place, 'rankings-daily.parquet' satisfies DataFile) : place
  if (!(await statsIfAny(path))?.isFile()) throw new CliError(`there is no file ${path}`)
  return realpath(path)
}

async function readRelease(database: Database, path: string): Promise<{ footer: Footer; rows: RankingRow[] }> {
  const rows = await readParquet(database, path)
  await database.run('history/create_rows', { path })
  const keys = await database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const footer = Object.fromEntries(keys.map(({ key, value }) => [key, value]))
  const said = parse(Footer, footer, `the footer of ${path}`, BuildError)
  const found = contentHash(rows)
  if (rows.length === 0 || found !== said.content_hash) {
    throw new BuildError(
      `${path} holds ${counted(rows.length, 'row')} with ${found}, but its footer says ${said.content_hash}`,
    )
  }
  return { footer: said, rows }
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

async function dataEntries(
  rows: readonly RankingRow[],
  { as_of, schema_version }: Footer,
  { release }: Beside,
): Promise<DerivedEntry[]> {
  const [start_date, end_date] = [rows.at(0)?.date ?? '', rows.at(-1)?.date ?? '']
  const meta: RankingMeta = { as_of, start_date, end_date, version: schema_version }
  return (await renderRows('daily', rows, meta)).map(([path, bytes]) => ({
    path,
    write: (place) => writeBytes(place, bytes),
    published: async () => (release === undefined ? [] : [join(release, path)]),
  }))
}

function periodEntries(
  rows: readonly RankingRow[],
  { release, as_of }: Footer,
  { dataset }: Beside,
  database: Database,
): DerivedEntry[] {
  const manifest = { release, as_of, end_date: rows.at(-1)?.date ?? '', provisional_from: provisionalFrom(as_of) }
  const { revisions } = advance(undefined, { manifest, rows })
  return revisions.flatMap((revision) =>
    PERIOD_FORMATS[revision.folder].map((format) => ({
      path: pointerPath(revision, format),
      write: (place) => writePeriod(place, revision, { format, asOf: as_of }, database),
      published: () => revisionsOf(dataset, revision, format),
      isSimilar: (published) => format === 'json' && isOtherAsOf(published, revision.rows),
    })),
  )
}

async function writeBytes(place: string, bytes: Buffer): Promise<Buffer> {
  await writeFile(place, bytes)
  return bytes
}

async function writePeriod(
  place: string,
  revision: Revision,
  { format, asOf }: { format: PeriodFormat; asOf: Timestamp },
  database: Database,
): Promise<Buffer> {
  if (format !== 'parquet') return writeBytes(place, revisionText(revision, format, asOf))
  await database.run('history/write_period', { ...datesOf(revision), path: place })
  return readFile(place)
}

async function revisionsOf(
  dataset: string | undefined,
  { folder, name }: Revision,
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
      `Parquet files of other bytes may come from another DuckDB than ${DUCKDB_VERSION}, see provenance.json`,
  )
}
