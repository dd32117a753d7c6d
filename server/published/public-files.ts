import { lstat, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { DATASET_PATH, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'
import { type DroppedFile, findDropped } from './dropped.ts'
import { gzipPathOf } from './file-facts.ts'
import { fileOpener, type OpenFile } from './open-file.ts'
import { isWithdrawn } from './tombstone.ts'

/** `location` is the path of the file itself, if links led to it. */
export type Found =
  | { kind: 'file'; path: string; location?: string }
  | { kind: 'folder' }
  | { kind: 'nothing' }
  | { kind: 'withdrawn'; release: ReleaseName }
  | { kind: 'dropped'; file: DroppedFile }

export interface Representation extends OpenFile {
  coding?: 'gzip'
  hasOther: boolean
}

export interface PublicFiles {
  find(urlPath: string): Promise<Found>
  /** Opens what `find` found, as gzip if wished and available. The caller closes the handle. */
  open(path: string, wished?: { gzip: boolean }): Promise<Representation>
}

const NOTHING: Found = { kind: 'nothing' }
const INDEX = 'index.html'
const RELEASES = `${DATASET_PATH}/releases`.split('/')

export function publicFiles(root: string): PublicFiles {
  const openPlain = fileOpener()

  /** The listed gzip beside a file, if it still matches the manifest. */
  async function openGzipOf({ path, gzipEtag }: OpenFile): Promise<OpenFile | undefined> {
    const gzipPath = gzipPathOf(path)
    if (gzipEtag === undefined || gzipPath === undefined || !(await isPlainFile(gzipPath))) return undefined
    const twin = await openPlain(gzipPath)
    if (twin.etag === gzipEtag) return twin
    await twin.handle.close()
    return undefined
  }

  /** What is not there: a data file of a dropped release, or nothing. */
  async function findMissing(segments: string[], release: ReleaseName | undefined): Promise<Found> {
    const [name = '', ...deeper] = segments.slice(RELEASES.length + 1)
    if (release === undefined || deeper.length > 0) return NOTHING
    const file = await findDropped(root, release, name)
    return file === undefined ? NOTHING : { kind: 'dropped', file }
  }

  async function find(urlPath: string): Promise<Found> {
    const wanted = wantedBy(urlPath)
    if (wanted === undefined) return NOTHING
    const { segments, release } = wanted
    if (release !== undefined && (await isWithdrawn(root, release))) return { kind: 'withdrawn', release }
    const file = await resolveInside(root, segments)
    if (file?.isFile) return { kind: 'file', path: file.path, ...linked(segments, file.segments) }
    if (file === undefined) return await findMissing(segments, release)
    if (urlPath.endsWith('/')) return NOTHING
    const index = await resolveInside(root, [...segments, INDEX])
    return index?.isFile ? { kind: 'folder' } : NOTHING
  }

  return {
    find,
    async open(path, { gzip } = { gzip: false }) {
      const plain = await openPlain(path)
      let twin: OpenFile | undefined
      try {
        twin = await openGzipOf(plain)
      } catch (error) {
        await plain.handle.close()
        throw error
      }
      if (twin === undefined) return { ...plain, hasOther: false }
      await (gzip ? plain : twin).handle.close()
      return gzip ? { ...twin, path, coding: 'gzip', hasOther: true } : { ...plain, hasOther: true }
    },
  }
}

/** The file and release that a URL path names, by its text alone; undefined if it may name none. */
export function wantedBy(urlPath: string): { segments: string[]; release: ReleaseName | undefined } | undefined {
  const segments = decodeSegments(urlPath)
  return (
    segments && { segments: urlPath.endsWith('/') ? segments.with(-1, INDEX) : segments, release: releaseOf(segments) }
  )
}

function releaseOf(segments: string[]): ReleaseName | undefined {
  const [name, ...rest] = segments.slice(RELEASES.length)
  if (!RELEASES.every((segment, position) => segments[position] === segment)) return undefined
  if (rest.length === 1 && rest[0] === TOMBSTONE_FILE) return undefined
  return ReleaseName.safeParse(name).data
}

function linked(wanted: string[], real: string[]): { location?: string } {
  return wanted.join('/') === real.join('/') ? {} : { location: `/${real.map(encodeURIComponent).join('/')}` }
}

/** Undefined if a segment is hidden, empty, relative or holds a separator. */
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

/** Follows links such as `latest`. Refuses targets that are hidden or outside `root`. */
async function resolveInside(
  root: string,
  wanted: string[],
): Promise<{ path: string; segments: string[]; isFile: boolean } | undefined> {
  try {
    const path = await realpath(join(root, ...wanted))
    const below = relative(await realpath(root), path)
    const segments = below === '' ? [] : below.split(sep)
    if (!segments.every(isPlainName)) return undefined
    const stats = await stat(path)
    return stats.isFile() || stats.isDirectory() ? { path, segments, isFile: stats.isFile() } : undefined
  } catch (error) {
    if (isUnreachable(error)) return undefined
    throw error
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

/** True if a file system error means that nothing is there. */
export function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(String(code))
}
