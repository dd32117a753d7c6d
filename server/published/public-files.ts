import { realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { DATASET_PATH, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'
import { type DroppedFile, findDropped, isWithdrawn } from './gone.ts'
import { fileOpener, formFinder, isForbidden, isUnreachable, type OpenFile } from './open-file.ts'

/** `location` is the path of the file itself, if links led to it. */
export type Found =
  | { kind: 'file'; path: string; location?: string }
  | { kind: 'folder' }
  | { kind: 'nothing' }
  | { kind: 'withdrawn'; release: ReleaseName }
  | { kind: 'dropped'; file: DroppedFile }

export interface Representation extends OpenFile {
  coding?: 'gzip'
  /** Whether the file has another form, so that the answer depends on what the client accepts. */
  hasOther: boolean
}

export type PublicFiles = ReturnType<typeof publicFiles>

const NOTHING: Found = { kind: 'nothing' }
const INDEX = 'index.html'
const RELEASES = `${DATASET_PATH}/releases`.split('/')

const MOST_WARNINGS = 1000

/** The files below `root`. `log` gets one warning for each path that this user may not read. */
export function publicFiles(root: string, log: Pick<FastifyBaseLogger, 'warn'>) {
  const warned = new Set<string>()
  const open = fileOpener()
  const findForm = formFinder(root, (path) => ifAllowed<OpenFile | undefined>(open(path), undefined))

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

  async function openForm(path: string, wishesGzip: boolean): Promise<Representation> {
    const plain = await open(path)
    let form: OpenFile | undefined
    try {
      form = await findForm(plain)
    } catch (error) {
      await plain.handle.close()
      throw error
    }
    if (form === undefined) return { ...plain, path, hasOther: false }
    await (wishesGzip ? plain : form).handle.close()
    return { ...(wishesGzip ? form : plain), path, hasOther: true, ...(wishesGzip && { coding: 'gzip' }) }
  }

  /** What `reading` gives, or `otherwise` if this user may not read it. */
  async function ifAllowed<Result>(reading: Promise<Result>, otherwise: Result): Promise<Result> {
    try {
      return await reading
    } catch (error) {
      if (!isForbidden(error)) throw error
      warnOnce(error as NodeJS.ErrnoException)
      return otherwise
    }
  }

  function warnOnce({ path = root, code }: NodeJS.ErrnoException): void {
    // Clients choose the names in a folder that cannot be read.
    if (warned.has(path) || warned.size >= MOST_WARNINGS) return
    warned.add(path)
    log.warn({ path, code }, 'the server may not read this file, and answers 404 for it')
  }

  return {
    find: (urlPath: string): Promise<Found> => ifAllowed(find(urlPath), NOTHING),
    /**
     * Opens what `find` found, or its gzip if that is wished and there; undefined if this user may not read it. The caller
     * closes the handle.
     */
    open: (path: string, wishesGzip = false) =>
      ifAllowed<Representation | undefined>(openForm(path, wishesGzip), undefined),
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
