import { join } from 'node:path'
import { CHECKSUMS_FILE, toChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { type Files, hashFile, readIfAny } from '../base/files.ts'
import { gzip } from '../base/gzip.ts'
import { toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { contentHash, joinJson, joinNdjson, writeCsv } from '../base/text.ts'
import { GENERATOR } from '../base/version.ts'
import { type DisclosureStatement, ruleOf } from '../contract/disclosure.ts'
import type { Doi } from '../contract/doi.ts'
import type { ManifestDraft, VersionedDraft } from '../contract/manifest.ts'
import {
  attributionLine,
  LICENSE,
  type Manifest,
  type Publisher,
  provisionalFrom,
  type Resource,
  ROW_SCHEMA,
  releaseName,
  type TableFacts,
} from '../contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta, type RankingRow, rowJson, type Timestamp } from '../contract/ranking.ts'
import { type DataFile, dataFile, dataFiles, MANIFEST_FILE } from '../contract/release-files.ts'
import {
  GRAINS,
  PERIOD_ROW_SCHEMA,
  type PeriodRows,
  type PeriodTable,
  type Table,
  type TableRow,
  tablesIn,
} from '../contract/tables.ts'
import { addDays } from '../contract/utc-date.ts'
import { rowsIn } from '../dataset/change-log.ts'
import { markOldCounts } from '../dataset/old-counts.ts'
import type { OldCounts } from '../raw/records.ts'
import { describeDataset } from './documents/describe.ts'
import { renderDocuments } from './documents/documents.ts'
import { parquetKeys } from './documents/parquet-keys.ts'

/**
 * Drafts the release of `rows`, in published order, as of an instant. Throws `BuildError` if there are no rows. `periods` is
 * undefined for a release without tables of weeks and months.
 */
export function draftManifest(options: {
  rows: readonly RankingRow[]
  periods: PeriodRows | undefined
  asOf: Timestamp
  publisher: Publisher
  synthetic: boolean
  oldCounts?: readonly OldCounts[]
  disclosure?: DisclosureStatement | undefined
  conceptDoi?: Doi | undefined
}): ManifestDraft {
  const { rows, periods, asOf, publisher, synthetic, oldCounts = [], disclosure, conceptDoi } = options
  const first = rows.at(0)
  const last = rows.at(-1)
  if (first === undefined || last === undefined) throw new BuildError('a release needs at least one row')
  const dates = new Set(rows.map((row) => row.date))
  const end_date = last.date
  const isRuled = ruleOf(disclosure) !== undefined
  const provisional = provisionalFrom(asOf)
  return {
    dataset: 'rankings-daily',
    version: DATASET_VERSION,
    release: releaseName(asOf),
    as_of: asOf,
    synthetic,
    start_date: first.date,
    end_date,
    days: dates.size,
    rows: rows.length,
    // Under a rule, published dates do not change.
    provisional_from: !isRuled || provisional > end_date ? provisional : addDays(end_date, 1),
    ...markOldCounts(oldCounts, dates),
    ...(disclosure !== undefined && { disclosure }),
    content_hash: contentHash(rows),
    ...(periods && {
      tables: {
        weekly: factsOf('weekly', periods),
        monthly: factsOf('monthly', periods),
        schema: PERIOD_ROW_SCHEMA,
      },
    }),
    publisher,
    attribution: attributionLine(publisher, asOf, synthetic),
    license: LICENSE,
    schema: ROW_SCHEMA,
    ...(conceptDoi !== undefined && { concept_doi: conceptDoi }),
    generator: GENERATOR,
  }
}

function factsOf(table: PeriodTable, periods: PeriodRows): TableFacts {
  const rows = periods[table]
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (first === undefined || last === undefined) throw new Error('a release with dates has weeks and months')
  return { start_date: first.date, end_date: last.date, rows: rows.length, content_hash: contentHash(rows, table) }
}

export function metaOf({ as_of, start_date, end_date, version }: ManifestDraft): RankingMeta {
  return { as_of, start_date, end_date, version }
}

export interface TextFile {
  path: string
  media_type: string
  text: string | Uint8Array
  rows?: number
}

/**
 * Writes all files of a release into an empty folder. The tables `out_rankings_daily` and `out_rankings_periods` must hold
 * the same rows.
 */
export async function stageRelease(
  options: {
    draft: VersionedDraft
    rows: readonly RankingRow[]
    periods: PeriodRows | undefined
    texts: readonly TextFile[]
    /** Renders the page of the release, after all files that the given manifest lists. */
    page?: (manifest: Manifest) => TextFile
    folder: string
    /** The folder of the release before it: what its files begin with is not compressed again. */
    previous?: string | undefined
  },
  database: Database,
  files: Files,
): Promise<Manifest> {
  const { draft, rows, periods, texts, page, folder, previous } = options
  const write = (name: string, content: string | Uint8Array) => files.write(join(folder, name), content)
  const data: { path: string; media_type: string; rows: number }[] = []
  for (const table of tablesIn(draft)) {
    const own = rowsIn({ rows, periods }, table)
    await writeParquet(table, { draft, path: join(folder, dataFile(table, 'parquet')) }, database, files)
    for (const [name, bytes] of await renderRows(table, own, metaOf(draft), previous)) await write(name, bytes)
    data.push(...dataFiles(table).map(({ path, media_type }) => ({ path, media_type, rows: own.length })))
  }
  for (const { path, text } of texts) await write(path, text)
  const described = await describeFiles(folder, [...data, ...texts])
  const documents = renderDocuments(describeDataset({ ...draft, files: described }))
  for (const { path, text } of documents) await write(path, text)
  const listed = [...described, ...(await describeFiles(folder, documents))]
  const pages = page === undefined ? [] : [page({ ...draft, files: listed })]
  for (const { path, text } of pages) await write(path, text)
  const manifest = { ...draft, files: [...listed, ...(await describeFiles(folder, pages))] }
  await write(MANIFEST_FILE, toJson(manifest))
  await write(CHECKSUMS_FILE, await checksums(folder, manifest))
  await files.flush(folder)
  return manifest
}

/** Writes the rows of `out_rankings_daily` or `out_rankings_periods`. */
export async function writeParquet(
  table: Table,
  { draft, path }: { draft: VersionedDraft; path: string },
  database: Database,
  files: Files,
): Promise<void> {
  const metadata = parquetKeys(draft, table)
  if (table === 'daily') await database.run('data-files/write_parquet', { path, metadata })
  else await database.run('data-files/write_parquet_of_periods', { path, metadata, grain: GRAINS[table] })
  await files.flush(path)
}

/**
 * All rows of a table in every format but Parquet. The bytes depend only on them and `meta`: the folder of a `previous`
 * release only saves time.
 */
export async function renderRows(
  table: Table,
  rows: readonly TableRow[],
  meta: RankingMeta,
  previous?: string,
): Promise<[DataFile, Buffer][]> {
  const render = async ([path, text]: [DataFile, Buffer]): Promise<[DataFile, Buffer]> => {
    if (!path.endsWith('.gz')) return [path, text]
    const known = previous === undefined ? undefined : await readIfAny(join(previous, path))
    return [path, await gzip(text, { known })]
  }
  return Promise.all(rowsAsText(table, rows, meta).map(render))
}

type Texts = readonly [DataFile, Buffer][]

const KNOWN_TEXTS = new WeakMap<readonly TableRow[], { meta: string; texts: Texts }>()

/** The texts of a table. Those of its newest release are kept with its rows: they are written and then compared. */
export function rowsAsText(table: Table, rows: readonly TableRow[], meta: RankingMeta): Texts {
  const key = JSON.stringify([table, meta])
  const known = KNOWN_TEXTS.get(rows)
  if (known?.meta === key) return known.texts
  const texts = renderTexts(table, rows, meta)
  KNOWN_TEXTS.set(rows, { meta: key, texts })
  return texts
}

function renderTexts(table: Table, rows: readonly TableRow[], meta: RankingMeta): Texts {
  const csv = writeCsv(rows, table)
  const json = rows.map(rowJson)
  return [
    [dataFile(table, 'csv'), csv],
    [dataFile(table, 'csv.gz'), csv],
    [dataFile(table, 'json.gz'), joinJson(json, meta)],
    [dataFile(table, 'ndjson.gz'), joinNdjson(json)],
  ]
}

async function describeFiles(
  folder: string,
  list: readonly { path: string; media_type: string; rows?: number }[],
): Promise<Resource[]> {
  return sideBySide(list, async ({ path, media_type, rows }) => {
    const hash = await hashFile(join(folder, path))
    return { path, media_type, ...(rows !== undefined && { rows }), ...hash }
  })
}

async function checksums(folder: string, manifest: Manifest): Promise<string> {
  const { sha256 } = await hashFile(join(folder, MANIFEST_FILE))
  return toChecksums([...manifest.files, { path: MANIFEST_FILE, sha256 }])
}
