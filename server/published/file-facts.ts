import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { type ContentHash, Manifest, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { MANIFEST_FILE, tableOfFile } from '../../pipeline/contract/release-files.ts'
import { tableFacts } from '../../pipeline/contract/tables.ts'
import { jsonIfAny, readIfAny } from '../base/json-file.ts'
import { remembered } from '../base/remembered.ts'

export interface FileFacts {
  /** A strong tag, `"sha256-…"`, of the bytes on disk. */
  etag: string
  /** Hash of the rows; only for release files that hold all rows. */
  contentHash?: ContentHash
  gzipEtag?: string
}

const MOST_REMEMBERED_FILES = 10_000

const COMPRESSIBLE = new Set(['.csv', '.json'])

/** The path of a possible gzip; undefined if the type is not compressed. */
export function gzipPathOf(path: string): string | undefined {
  return COMPRESSIBLE.has(extname(path)) ? `${path}.gz` : undefined
}

/** Reads facts from the manifest for release files and hashes others. Cached until the file is replaced. */
export function fileFacts(): (handle: FileHandle, path: string) => Promise<FileFacts> {
  const factsOf = remembered<FileFacts>(MOST_REMEMBERED_FILES)

  return async (handle, path) => {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true })
    return await factsOf(
      `${mtimeNs} ${size} ${ino} ${path}`,
      async () => (await listedFacts(path, Number(size))) ?? { etag: tagOf(await hash(handle)) },
    )
  }
}

/** The manifest in the folder of a release, if it is a valid one. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  return Manifest.safeParse(jsonIfAny(await readIfAny(join(folder, MANIFEST_FILE)))).data
}

/** Undefined if the manifest does not list the file or lists another size. */
async function listedFacts(path: string, size: number): Promise<FileFacts | undefined> {
  const folder = dirname(path)
  if (basename(dirname(folder)) !== 'releases' || !ReleaseName.safeParse(basename(folder)).success) return undefined
  const manifest = await readManifest(folder)
  const listed = (filePath: string | undefined) =>
    manifest?.files.find((file) => filePath !== undefined && file.path === basename(filePath))
  const file = listed(path)
  if (manifest === undefined || file?.bytes !== size) return undefined
  const gzip = listed(gzipPathOf(path))
  const contentHash = contentHashOf(manifest, file.path)
  return {
    etag: tagOf(file.sha256),
    ...(contentHash === undefined ? {} : { contentHash }),
    ...(gzip === undefined ? {} : { gzipEtag: tagOf(gzip.sha256) }),
  }
}

function contentHashOf(manifest: Manifest, path: string): ContentHash | undefined {
  const table = tableOfFile(path)
  return table && tableFacts(manifest, table)?.content_hash
}

function tagOf(sha256: string): string {
  return `"sha256-${sha256}"`
}

async function hash(handle: FileHandle): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) sha256.update(chunk)
  return sha256.digest('hex')
}
