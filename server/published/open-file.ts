import { createHash, hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { codedPath, LARGEST_CODED } from '../../pipeline/contract/codings.ts'
import { type ContentHash, Manifest, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { MANIFEST_FILE, tableOfFile } from '../../pipeline/contract/release-files.ts'
import { tableFacts } from '../../pipeline/contract/tables.ts'
import { jsonIfAny, readIfAny } from '../base/json-file.ts'
import { remembered } from '../base/remembered.ts'

/** True if a file system error means that nothing is there. */
export function isUnreachable(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(codeOf(error))
}

/** True if a file system error means that this user may not read what is there. */
export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

interface FileFacts {
  /** A strong tag, `"sha256-…"`, of the bytes on disk. */
  etag: string
  /** Hash of the rows; only for release files that hold all rows. */
  contentHash?: ContentHash
  gzipEtag?: string
}

export interface OpenFile extends FileFacts {
  handle: FileHandle
  path: string
  size: number
  modified: Date
}

const MOST_REMEMBERED = 10_000

/**
 * Opens regular files. The caller closes the handle. What the manifest says of release files is read there, others are
 * hashed, once until the file is replaced.
 */
export function fileOpener(): (path: string) => Promise<OpenFile> {
  const factsOf = remembered<FileFacts>(MOST_REMEMBERED)

  return async (path) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const { mtime, mtimeNs, size: bytes, ino } = await handle.stat({ bigint: true })
      const size = Number(bytes)
      const make = async () => (await listedFacts(path, size)) ?? { etag: tagOf(await hashOf(handle)) }
      const facts = await factsOf(`${mtimeNs} ${size} ${ino} ${path}`, make)
      return { handle, path, size, modified: mtime, ...facts }
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}

const COMPRESSIBLE = new Set(['.csv', '.json'])

/** The path of a possible gzip; undefined if the type is not compressed. */
function gzipPathOf(path: string): string | undefined {
  return COMPRESSIBLE.has(extname(path)) ? `${path}.gz` : undefined
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

async function hashOf(handle: FileHandle): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) sha256.update(chunk)
  return sha256.digest('hex')
}

/** The file that may be the compressed form of a file, by its name. */
export function formPathOf(path: string): string | undefined {
  return codedPath(path) ?? gzipPathOf(path)
}

/** Opens the gzip of an open file, if it holds its bytes. The caller closes its handle. */
export type FindForm = (file: OpenFile) => Promise<OpenFile | undefined>

/** `open` gives undefined for a form that may not be read. Such a form is left out. */
export function formFinder(root: string, open: (path: string) => Promise<OpenFile | undefined>): FindForm {
  const tagOfText = remembered<string | undefined>(MOST_REMEMBERED)

  /** A release lists its gzip. Other files have forms that a build wrote, and a copy may have mixed up. */
  async function isFormOf(form: OpenFile, file: OpenFile): Promise<boolean> {
    if (file.gzipEtag !== undefined) return form.etag === file.gzipEtag
    return file.etag === (await tagOfText(form.etag, () => tagOfDecoded(form)))
  }

  return async (file) => {
    const mayHave = file.gzipEtag !== undefined || codedPath(relative(await realpath(root), file.path)) !== undefined
    const path = `${file.path}.gz`
    const form = mayHave && (await isPlainFile(path)) ? await open(path) : undefined
    if (form === undefined || (await isFormOf(form, file))) return form
    await form.handle.close()
    return undefined
  }
}

async function tagOfDecoded({ handle, size }: OpenFile): Promise<string | undefined> {
  if (size > LARGEST_CODED) return undefined
  const { buffer } = await handle.read(Buffer.alloc(size), 0, size, 0)
  try {
    return tagOf(hash('sha256', await promisify(gunzip)(buffer, { maxOutputLength: LARGEST_CODED })))
  } catch {
    return undefined
  }
}

/** Links are refused: their targets were not checked. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile()
  } catch (error) {
    if (isUnreachable(error)) return false
    throw error
  }
}
