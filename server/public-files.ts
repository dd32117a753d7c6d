import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** A published file, held open: whatever replaces it on disk meanwhile, size, tag and bytes stay those of one file. */
export interface OpenFile {
  handle: FileHandle
  path: string
  size: number
  modified: Date
  /** Strong: made of the bytes. */
  etag: string
}

/** What a path of the site leads to. */
export type Found = { kind: 'file'; path: string } | { kind: 'folder' } | { kind: 'nothing' }

/** The files below `PUBLIC_DIR`, and nothing else of the machine. */
export interface PublicFiles {
  /** Resolves the path of a URL, as it was sent, without its query. */
  find(urlPath: string): Promise<Found>
  /** Opens what `find` found. The caller closes the handle. */
  open(path: string): Promise<OpenFile>
}

const NOTHING: Found = { kind: 'nothing' }
const INDEX = 'index.html'
const MOST_REMEMBERED_TAGS = 10_000

export function publicFiles(root: string): PublicFiles {
  const etagOf = rememberedTags()

  async function find(urlPath: string): Promise<Found> {
    const segments = decodeSegments(urlPath)
    if (segments === undefined) return NOTHING
    const isFolderPath = segments.at(-1) === ''
    const file = await resolveInside(root, isFolderPath ? segments.with(-1, INDEX) : segments)
    if (file?.isFile) return { kind: 'file', path: file.path }
    if (file === undefined || isFolderPath) return NOTHING
    const index = await resolveInside(root, [...segments, INDEX])
    return index?.isFile ? { kind: 'folder' } : NOTHING
  }

  return {
    find,
    async open(path) {
      const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        const { size, mtime } = await handle.stat()
        return { handle, path, size, modified: mtime, etag: await etagOf(handle, path) }
      } catch (error) {
        await handle.close()
        throw error
      }
    },
  }
}

/** The decoded segments of a path; undefined when one is hidden, empty, relative or holds a separator. */
function decodeSegments(urlPath: string): string[] | undefined {
  try {
    const segments = urlPath.slice(1).split('/').map(decodeURIComponent)
    return segments.every((segment, i) => (segment === '' ? i === segments.length - 1 : isPlainName(segment)))
      ? segments
      : undefined
  } catch {
    return undefined
  }
}

function isPlainName(segment: string): boolean {
  return !segment.startsWith('.') && !/[/\\\0]/.test(segment)
}

/** Follows symlinks, so `latest` works, and refuses what they lead to when it is hidden or outside of `root`. */
async function resolveInside(root: string, segments: string[]): Promise<{ path: string; isFile: boolean } | undefined> {
  try {
    const path = await realpath(join(root, ...segments))
    const below = relative(await realpath(root), path)
    if (below !== '' && !below.split(sep).every(isPlainName)) return undefined
    const stats = await stat(path)
    return stats.isFile() || stats.isDirectory() ? { path, isFile: stats.isFile() } : undefined
  } catch (error) {
    if (isUnreachable(error)) return undefined
    throw error
  }
}

function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(String(code))
}

/** Tags by what changes whenever a file is replaced, so that a file is hashed once. */
function rememberedTags() {
  const tags = new Map<string, Promise<string>>()

  return async (handle: FileHandle, path: string): Promise<string> => {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true })
    const key = `${mtimeNs} ${size} ${ino} ${path}`
    const known = tags.get(key)
    if (known !== undefined) return await known
    if (tags.size >= MOST_REMEMBERED_TAGS) tags.clear()
    const tag = hash(handle).then((sha256) => `"sha256-${sha256}"`)
    tags.set(key, tag)
    tag.catch(() => tags.delete(key))
    return await tag
  }
}

async function hash(handle: FileHandle): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) sha256.update(chunk)
  return sha256.digest('hex')
}
