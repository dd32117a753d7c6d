import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../../base/database.ts'
import { BuildError } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import type { Manifest } from '../../contract/manifest.ts'
import { dataFile } from '../../contract/release-files.ts'
import { type Table, tablesIn } from '../../contract/tables.ts'
import { CITATION_FORMATS } from './document-kinds.ts'
import { parquetKeys } from './parquet-keys.ts'

interface ListedFile {
  path: string
  bytes: number | undefined
  sha256: string
}

/** Verifies that the documents name the files, release and content of the manifest. Throws `BuildError`. */
export async function verifyDocuments(folder: string, manifest: Manifest): Promise<void> {
  const files = new Map(manifest.files.map((file) => [file.path, file]))
  for (const [name, Document] of Object.entries(LISTS)) {
    if (!files.has(name)) continue
    const path = join(folder, name)
    const listed = parseJson(Document, await readFile(path, 'utf8'), path, BuildError)
    for (const file of listed) {
      const actual = files.get(file.path)
      if (actual?.sha256 === file.sha256 && (file.bytes ?? actual.bytes) === actual.bytes) continue
      throw new BuildError(`${path} describes ${file.path} with other bytes than the manifest`)
    }
  }
  // Not in its address alone: that has `releases/`.
  const named = new RegExp(`(release|version|ET)\\W+${manifest.release}`, 'i')
  for (const name of CITATIONS.filter((citation) => files.has(citation))) {
    const text = await readFile(join(folder, name), 'utf8')
    if (named.test(text) && text.includes(manifest.content_hash)) continue
    throw new BuildError(`${join(folder, name)} does not name release ${manifest.release} and its content_hash`)
  }
}

/** Verifies the footers of the Parquet files. Releases of before had no such keys. Throws `BuildError`. */
export async function verifyParquetKeys(database: Database, folder: string, manifest: Manifest): Promise<void> {
  if (!manifest.files.some(({ path }) => path === 'datapackage.json')) return
  for (const table of tablesIn(manifest)) await verifyKeysOf(database, folder, { manifest, table })
}

async function verifyKeysOf(
  database: Database,
  folder: string,
  { manifest, table }: { manifest: Manifest; table: Table },
): Promise<void> {
  const path = join(folder, dataFile(table, 'parquet'))
  const rows = await database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const written = new Map(rows.map(({ key, value }) => [key, value]))
  for (const [key, value] of Object.entries(parquetKeys(manifest, table))) {
    if (written.get(key) === value) continue
    throw new BuildError(`${path} says ${key} = ${written.get(key)} in its footer, but the manifest ${value}`)
  }
}

/** Code may render these differently, but they must name the same release. */
const CITATIONS = [...Object.values(CITATION_FORMATS), 'README.md', 'index.html']

const DataPackage = z
  .object({ resources: z.array(z.object({ path: z.string(), bytes: z.int().optional(), hash: z.string() })) })
  .transform(({ resources }): ListedFile[] =>
    resources.map(({ path, bytes, hash }) => ({ path, bytes, sha256: hash.replace(/^sha256:/, '') })),
  )

const Croissant = z
  .object({ distribution: z.array(z.object({ contentUrl: z.string(), contentSize: z.string(), sha256: z.string() })) })
  .transform(({ distribution }): ListedFile[] =>
    distribution.map(({ contentUrl, contentSize, sha256 }) => {
      return { path: contentUrl, bytes: Number(contentSize.replace(/ B$/, '')), sha256 }
    }),
  )

const Dcat = z
  .object({
    'dcat:distribution': z.array(
      z.object({
        'dcat:downloadURL': z.object({ '@id': z.string() }),
        'dcat:byteSize': z.object({ '@value': z.string() }),
        'spdx:checksum': z.object({ 'spdx:checksumValue': z.object({ '@value': z.string() }) }),
      }),
    ),
  })
  .transform(({ 'dcat:distribution': distribution }): ListedFile[] =>
    distribution.map((file) => ({
      path: file['dcat:downloadURL']['@id'],
      bytes: Number(file['dcat:byteSize']['@value']),
      sha256: file['spdx:checksum']['spdx:checksumValue']['@value'],
    })),
  )

const LISTS: Readonly<Record<string, z.ZodType<ListedFile[]>>> = {
  'datapackage.json': DataPackage,
  'croissant.json': Croissant,
  'dcat.jsonld': Dcat,
}
