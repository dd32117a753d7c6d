import { join } from 'node:path'
import { CHECKSUMS_FILE, toChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { type Files, hashFile } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { contentHash, gzip, writeCsv, writeJson, writeNdjson } from '../base/text.ts'
import { GENERATOR } from '../base/version.ts'
import { type DisclosureStatement, ruleOf } from '../contract/disclosure.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import {
  attributionLine,
  LICENSE,
  type Manifest,
  type Publisher,
  provisionalFrom,
  type Resource,
  ROW_SCHEMA,
  releaseName,
} from '../contract/manifest.ts'
import { DATASET_VERSION, type RankingMeta, type RankingRow, type Timestamp } from '../contract/ranking.ts'
import { DATA_FILES, type DataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import { addDays } from '../contract/utc-date.ts'
import { markOldCounts } from '../dataset/old-counts.ts'
import type { OldCounts } from '../raw/records.ts'
import { describeDataset } from './documents/describe.ts'
import { renderDocuments } from './documents/documents.ts'
import { parquetKeys } from './documents/parquet-keys.ts'

/** Drafts the release of `rows`, in published order, as of an instant. Throws `BuildError` if there are no rows. */
export function draftManifest(options: {
  rows: readonly RankingRow[]
  asOf: Timestamp
  publisher: Publisher
  synthetic: boolean
  oldCounts?: readonly OldCounts[]
  disclosure?: DisclosureStatement | undefined
}): ManifestDraft {
  const { rows, asOf, publisher, synthetic, oldCounts = [], disclosure } = options
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
    publisher,
    attribution: attributionLine(publisher, asOf, synthetic),
    license: LICENSE,
    schema: ROW_SCHEMA,
    generator: GENERATOR,
  }
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

/** Writes all files of a release into an empty folder. The table `out_rankings_daily` must hold the same rows. */
export async function stageRelease(
  options: {
    draft: ManifestDraft
    rows: readonly RankingRow[]
    texts: readonly TextFile[]
    /** Renders the page of the release, after all files that the given manifest lists. */
    page?: (manifest: Manifest) => TextFile
    folder: string
  },
  database: Database,
  files: Files,
): Promise<Manifest> {
  const { draft, rows, texts, page, folder } = options
  const write = (name: string, content: string | Uint8Array) => files.write(join(folder, name), content)
  const parquet = join(folder, 'rankings-daily.parquet' satisfies DataFile)
  await database.run('data-files/write_parquet', { path: parquet, metadata: parquetKeys(draft) })
  await files.flush(parquet)
  for (const [name, bytes] of await renderRows(rows, metaOf(draft))) await write(name, bytes)
  for (const { path, text } of texts) await write(path, text)
  const data = DATA_FILES.map((file) => ({ ...file, rows: rows.length }))
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

/** All rows of a release in every format but Parquet. The bytes depend only on `rows` and `meta`. */
export async function renderRows(rows: readonly RankingRow[], meta: RankingMeta): Promise<[DataFile, Buffer][]> {
  return Promise.all(
    rowsAsText(rows, meta).map(async ([path, text]): Promise<[DataFile, Buffer]> => {
      return [path, path.endsWith('.gz') ? await gzip(text) : text]
    }),
  )
}

export function rowsAsText(rows: readonly RankingRow[], meta: RankingMeta): [DataFile, Buffer][] {
  const csv = writeCsv(rows)
  return [
    ['rankings-daily.csv', csv],
    ['rankings-daily.csv.gz', csv],
    ['rankings-daily.json.gz', writeJson(rows, meta)],
    ['rankings-daily.ndjson.gz', writeNdjson(rows)],
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
