import { join } from 'node:path'
import { type ListedFile, verifyChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { isThere, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { contentHash } from '../base/text.ts'
import { Manifest, type ReleaseEntry } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { dataFile, isDataFile, MANIFEST_FILE, MODELS_FILE } from '../contract/release-files.ts'
import { type PeriodRows, type RowOf, type Table, type TableRow, tableFacts } from '../contract/tables.ts'
import type { TableRows } from '../dataset/change-log.ts'
import { verifyModels } from '../dataset/models-file.ts'
import { verifyDisclosure } from './disclosure-file.ts'
import { verifyDocuments, verifyParquetKeys } from './documents/verify.ts'
import { isEntryOf } from './index.ts'
import { verifyProvenance } from './provenance.ts'
import { type HashedRows, hashParquet, historyBeside, readBack, readHistory, readText } from './read-back.ts'
import { draftManifest, metaOf, rowsAsText } from './stage.ts'

/** A release that was read back from disk. */
export interface LoadedRelease {
  manifest: Manifest
  rows: readonly RankingRow[]
  /** Undefined if the release has no tables of weeks and months. */
  periods: PeriodRows | undefined
}

interface VerifiedRelease extends LoadedRelease {
  manifestSha256: string
}

export interface VerifyOptions {
  isDropped?: boolean | undefined
  /** The rows that the release was made from. It must have these, so they are not read from its Parquet files. */
  made?: TableRows
}

export async function loadRelease(database: Database, folder: string): Promise<LoadedRelease> {
  const manifest = await readManifest(folder)
  const rows = await readBack(database, folder, 'daily')
  return { manifest, rows, periods: await readPeriods(database, folder, manifest) }
}

/** The weeks and months of a release; undefined if it has none. */
export async function readPeriods(
  database: Database,
  folder: string,
  { tables }: Pick<Manifest, 'tables'>,
): Promise<PeriodRows | undefined> {
  if (tables === undefined) return undefined
  return {
    weekly: await readBack(database, folder, 'weekly'),
    monthly: await readBack(database, folder, 'monthly'),
  }
}

/**
 * Verifies sizes, checksums, equal rows in every format, and documents. Of a dropped release, the rows are those of the
 * history. Throws `BuildError`.
 */
export async function verifyRelease(
  database: Database,
  folder: string,
  { isDropped = false, made }: VerifyOptions = {},
): Promise<VerifiedRelease> {
  const manifest = await readManifest(folder)
  const found = await verifyChecksums(folder, { mayLack: isDropped ? isDataFile : undefined })
  verifyListed(folder, manifest, { found, isDropped })
  const verifyTable = isDropped ? verifyDropped : verifyRows
  const rows = await verifyTable(database, folder, { manifest, table: 'daily', made: made?.rows })
  const periods = manifest.tables && {
    weekly: await verifyTable(database, folder, { manifest, table: 'weekly', made: made?.periods?.weekly }),
    monthly: await verifyTable(database, folder, { manifest, table: 'monthly', made: made?.periods?.monthly }),
  }
  verifyFacts(folder, manifest, { rows, periods })
  await verifyModels(database, join(folder, MODELS_FILE), { rows, periods })
  await verifyDisclosure(folder, manifest, rows)
  await verifyDocuments(folder, manifest)
  if (!isDropped) await verifyParquetKeys(database, folder, manifest)
  await verifyProvenance(folder, manifest)
  return { manifest, manifestSha256: found.get(MANIFEST_FILE)?.sha256 ?? '', rows, periods }
}

function verifyListed(
  folder: string,
  manifest: Manifest,
  { found, isDropped }: { found: ReadonlyMap<string, ListedFile>; isDropped: boolean },
): void {
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = found.get(path)
    if (isDropped && isDataFile(path) && file?.bytes !== undefined) {
      throw new BuildError(`${join(folder, path)} is published, but its release was dropped; make build removes it`)
    }
    if (file?.sha256 === sha256 && (file.bytes ?? bytes) === bytes) continue
    throw new BuildError(`${join(folder, path)} is not the file that ${MANIFEST_FILE} lists: its bytes have changed`)
  }
  const listed = new Set([MANIFEST_FILE, ...manifest.files.map(({ path }) => path)])
  const stranger = [...found.keys()].find((name) => !listed.has(name))
  if (stranger !== undefined) throw new BuildError(`${join(folder, stranger)} is not listed in ${MANIFEST_FILE}`)
}

interface TableToVerify<T extends Table> {
  manifest: Manifest
  table: T
  made?: readonly RowOf<T>[] | undefined
}

/** The Parquet file must hold the rows of the table's content hash, and each other format the bytes that follow from them. */
async function verifyRows<T extends Table>(
  database: Database,
  folder: string,
  { manifest, table, made }: TableToVerify<T>,
): Promise<readonly RowOf<T>[]> {
  const parquet = join(folder, dataFile(table, 'parquet'))
  const rows = made ?? (await readBack(database, folder, table))
  if (made !== undefined) verifyFound(parquet, table, await hashParquet(database, parquet, table), manifest)
  verifyHash(parquet, table, rows, manifest)
  for (const [name, text] of rowsAsText(table, rows, metaOf(manifest))) {
    const path = join(folder, name)
    if ((await naming(path, 'text', () => readText(path))).equals(text)) continue
    throw new BuildError(`${path} does not hold the rows in the form in which they are published`)
  }
  return rows
}

/** The history beside the releases must hold the rows of the table's content hash. */
async function verifyDropped<T extends Table>(
  database: Database,
  folder: string,
  { manifest, table }: TableToVerify<T>,
): Promise<RowOf<T>[]> {
  const { release } = manifest
  const path = historyBeside(folder)
  if (!(await isThere(path))) {
    throw new BuildError(`${path} is missing, and release ${release} was dropped; restore the file from a backup`)
  }
  const rows = await readHistory(database, path, { release, table })
  verifyHash(`${path}, as of ${release},`, table, rows, manifest)
  return rows
}

/** The rows of a file must be those that the manifest lists for its table. */
function verifyHash(path: string, table: Table, rows: readonly TableRow[], manifest: Manifest): void {
  verifyFound(path, table, { rows: rows.length, hash: contentHash(rows, table) }, manifest)
}

function verifyFound(path: string, table: Table, { rows, hash }: HashedRows, manifest: Manifest): void {
  const listed = tableFacts(manifest, table)
  if (rows === listed?.rows && hash === listed.content_hash) return
  throw new BuildError(
    `${path} holds ${counted(rows, 'row')} with ${hash}, but ${MANIFEST_FILE} says ${counted(listed?.rows ?? 0, 'row')} with ${listed?.content_hash ?? 'no hash'}`,
  )
}

const FACTS = ['release', 'start_date', 'end_date', 'days', 'provisional_from', 'tables'] as const

function verifyFacts(
  folder: string,
  manifest: Manifest,
  { rows, periods }: Pick<LoadedRelease, 'rows' | 'periods'>,
): void {
  const { as_of: asOf, publisher, synthetic, disclosure } = manifest
  const made = draftManifest({ rows, periods, asOf, publisher, synthetic, disclosure })
  // Another version may write the schema of the same rows differently.
  const draft = { ...made, tables: made.tables && { ...made.tables, schema: manifest.tables?.schema } }
  const textOf = (fact: unknown) => (typeof fact === 'object' ? JSON.stringify(fact) : `${fact}`)
  const wrong = FACTS.find((fact) => textOf(manifest[fact]) !== textOf(draft[fact]))
  if (wrong === undefined) return
  throw new BuildError(
    `${join(folder, MANIFEST_FILE)} says ${wrong} ${textOf(manifest[wrong])}, but by its rows and as_of it is ${textOf(draft[wrong])}`,
  )
}

/** Throws `BuildError` unless the index lists this release. */
export function verifyEntry(folder: string, { manifest, manifestSha256 }: VerifiedRelease, entry: ReleaseEntry): void {
  if (isEntryOf(entry, manifest, manifestSha256)) return
  throw new BuildError(
    `${folder} is not the release that the index lists: its ${MANIFEST_FILE} or the entry has changed`,
  )
}

export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) throw new BuildError(`${path} is missing`)
  return parseJson(Manifest, text, path, BuildError)
}
