import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashFile } from '../base/files.ts'
import { withTemporaryDatabase, withTemporaryFolder } from '../base/scratch.ts'
import { CHANGES_FILES } from '../contract/change-log.ts'
import { type Manifest, type Resource, releasePath } from '../contract/manifest.ts'
import { dataFile, MANIFEST_FILE, MODELS_FILE } from '../contract/release-files.ts'
import { TABLES } from '../contract/tables.ts'
import { citedBy, readDois } from '../release/deposits.ts'
import { renderCitationFile } from '../release/documents/citation-file.ts'
import { type DatasetDescription, describeDataset } from '../release/documents/describe.ts'
import { licenseText } from '../release/documents/license.ts'
import { parquetKeys } from '../release/documents/parquet-keys.ts'
import { readIndex } from '../release/index.ts'
import { type PublishedFile, verifyUndamaged } from './copy.ts'
import { type CardTable, renderDatasetCard } from './dataset-card.ts'

export interface HubOptions {
  /** The name of the repository, such as `acme/tokens`. Without it the card has a name to replace. */
  repo?: string | undefined
}

/** The tables that a release has as CSV alone. Hugging Face cannot mix formats in a repository. */
const CSV_TABLES = [
  { name: 'models', csv: MODELS_FILE, statement: 'hugging-face/write_models' },
  { name: 'changes', csv: CHANGES_FILES.daily, statement: 'hugging-face/write_changes' },
] as const

const DOCUMENTS: readonly string[] = ['datasheet.md']

/**
 * The files of a dataset repository of Hugging Face with the tables of a release, by path: its own Parquet files byte for
 * byte, the others made from its CSV. Throws `BuildError` if a file of the release is damaged.
 */
export async function hubFiles(
  publicDir: string,
  manifest: Manifest,
  { repo }: HubOptions,
  signal: AbortSignal,
): Promise<PublishedFile[]> {
  const folder = join(publicDir, releasePath(manifest.release))
  const dois = await readDois(publicDir, await readIndex(publicDir))
  const dataset = describeDataset(...citedBy(manifest, dois))
  const ranked = TABLES.flatMap((name) => tableOf(name, dataset, dataFile(name, 'parquet')))
  const others = CSV_TABLES.flatMap(({ name, csv, statement }) =>
    tableOf(name, dataset, csv).map((table) => ({ ...table, statement })),
  )
  const kept = manifest.files.filter(
    ({ path }) => DOCUMENTS.includes(path) || ranked.some((table) => table.path === path),
  )
  const card = renderDatasetCard(
    dataset,
    [...ranked, ...others.map((table) => ({ ...table, path: parquetOf(table) }))],
    repo,
  )
  const texts = {
    'README.md': card,
    'CITATION.cff': renderCitationFile(dataset),
    LICENSE: licenseText(manifest.attribution, manifest.synthetic),
  }
  const files = [
    ...kept.map((file) => sourceOf(folder, file)),
    ...(await asParquet(folder, others, manifest, signal)),
    ...Object.entries(texts).map(([path, text]) => contentOf(folder, path, Buffer.from(text))),
    contentOf(folder, MANIFEST_FILE, await readFile(join(folder, MANIFEST_FILE))),
  ]
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A table and the file of the release that has it; none if the release does not. */
interface Listed extends CardTable {
  resource: Resource
}

function tableOf(name: CardTable['name'], { files }: DatasetDescription, path: string): Listed[] {
  const resource = files.find((file) => file.path === path)
  if (resource?.rows === undefined || resource.fields === undefined) return []
  return [{ name, path, rows: resource.rows, fields: resource.fields, resource }]
}

function parquetOf({ name }: CardTable): string {
  return `${name}.parquet`
}

function sourceOf(folder: string, { path, bytes, sha256 }: Resource): PublishedFile {
  return { path, source: join(folder, path), bytes, sha256 }
}

function contentOf(folder: string, path: string, content: Buffer): PublishedFile {
  return { path, source: join(folder, path), bytes: content.length, content }
}

async function asParquet(
  folder: string,
  tables: readonly (Listed & { statement: string })[],
  manifest: Manifest,
  signal: AbortSignal,
): Promise<PublishedFile[]> {
  const { content_hash: _, schema_version: __, ...keys } = parquetKeys(manifest)
  const made: PublishedFile[] = []
  await withTemporaryFolder('export', (out) =>
    withTemporaryDatabase('export', { signal, folders: [folder, out] }, async (database) => {
      for (const table of tables) {
        const csv = sourceOf(folder, table.resource)
        verifyUndamaged([csv], new Map([[csv.path, `sha256:${(await hashFile(csv.source)).sha256}`]]))
        const target = join(out, parquetOf(table))
        const metadata = { ...keys, table: table.name }
        await database.run(table.statement, { path: csv.source, target, metadata })
        made.push(contentOf(folder, parquetOf(table), await readFile(target)))
      }
    }),
  )
  return made
}
