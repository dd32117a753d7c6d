import { isUtf8 } from 'node:buffer'
import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants, copyFile, realpath, rm, symlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

/** What to write to a file. An iterable of lines need not fit in memory. */
export type Content = string | Uint8Array | AsyncIterable<string>

/** File system changes made while publishing. Each is one step that can fail, and tests make each fail. */
export interface Files {
  /** A folder that is private is for its owner alone. */
  makeFolder(path: string, isPrivate?: boolean): Promise<void>
  /** A new file that is private is for its owner alone. */
  write(path: string, content: Content, isPrivate?: boolean): Promise<void>
  /**
   * Moves within one file system, replaces a file of that name, and flushes the move to disk, and earlier ones into the
   * same folder. `isMore` says that the next move into this folder flushes this one, too.
   */
  rename(from: string, to: string, isMore?: boolean): Promise<void>
  copy(from: string, to: string): Promise<void>
  link(target: string, path: string): Promise<void>
  flush(path: string): Promise<void>
  remove(path: string): Promise<void>
}

// Calls that the operating system answers from memory run on this thread: to hand one to another thread takes several
// times as long. Only flushing waits for the disk.

async function flush(path: string): Promise<void> {
  const file = openSync(path, 'r')
  try {
    await promisify(fsync)(file)
  } finally {
    closeSync(file)
  }
}

async function writeAndFlush(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const file = openSync(path, 'w', mode)
  try {
    writeFileSync(file, content)
    await promisify(fsync)(file)
  } finally {
    closeSync(file)
  }
}

function isMade(content: Content): content is AsyncIterable<string> {
  return typeof content === 'object' && Symbol.asyncIterator in content
}

const WRITING = ['write', 'writev', 'fsync']

/**
 * Adds the path to an error of writing: on a full disk, for example, Node does not name the file. Returns errors of the
 * content itself unchanged.
 */
function naming(path: string, error: unknown): unknown {
  const isOfFile = error instanceof Error && 'syscall' in error && WRITING.includes(String(error.syscall))
  return isOfFile ? new Error(`${path} cannot be written: ${error.message}`, { cause: error }) : error
}

/** Node's own `recursive` loops forever on file systems that cannot create folders and report ENOENT, such as /proc. */
async function makeFolder(path: string, isPrivate = false): Promise<void> {
  const options = isPrivate ? { mode: 0o700 } : {}
  try {
    mkdirSync(path, options)
  } catch (error) {
    if ((await statsIfAny(path))?.isDirectory()) return
    if (!isMissing(error)) throw error
    if (!(await statsIfAny(dirname(path)))?.isDirectory()) await makeFolder(dirname(path))
    // Retry once: another process may have created the parent or this folder in between.
    try {
      mkdirSync(path, options)
    } catch (reason) {
      if (!(await statsIfAny(path))?.isDirectory()) throw reason
    }
  }
}

export const realFiles: Files = {
  makeFolder,
  async write(path, content, isPrivate = false) {
    const mode = isPrivate ? { mode: 0o600 } : {}
    try {
      if (isMade(content)) await pipeline(content, createWriteStream(path, { flush: true, ...mode }))
      else await writeAndFlush(path, content, mode.mode)
    } catch (error) {
      throw naming(path, error)
    }
  },
  async rename(from, to, isMore = false) {
    renameSync(from, to)
    if (!isMore) await flush(dirname(to))
  },
  async copy(from, to) {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    await flush(to)
  },
  async link(target, path) {
    await symlink(target, path)
  },
  flush,
  async remove(path) {
    await rm(path, { recursive: true, force: true })
  },
}

/**
 * Writes `next` and renames it to `path`, so readers see the whole old file or the whole new one. Removes `next` on
 * failure. Processes that write at the same time each need their own `next`.
 */
export async function replaceFile(
  files: Files,
  path: string,
  content: Content,
  { next = `${path}.next`, isPrivate = false } = {},
): Promise<void> {
  try {
    await files.write(next, content, isPrivate)
    await files.rename(next, path)
  } catch (error) {
    await files.remove(next)
    throw error
  }
}

/** Whether a file system error says that the file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** The result of a file system call, or undefined if the file does not exist. */
export async function ifAny<Result>(call: () => Result): Promise<Awaited<Result> | undefined> {
  try {
    return await call()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Whether `path` is `folder` or lies in it, links resolved. Neither needs to exist. */
export function isInside(path: string, folder: string): boolean {
  const below = relative(realPath(folder), realPath(path))
  return below.split(sep)[0] !== '..' && !isAbsolute(below)
}

function realPath(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync.native(whole)
  } catch (error) {
    if (!isMissing(error) || dirname(whole) === whole) throw error
    return join(realPath(dirname(whole)), basename(whole))
  }
}

/** The final targets of the symbolic links directly in these folders. Skips broken links. */
export async function endsOfLinks(folders: readonly string[]): Promise<string[]> {
  const ends: string[] = []
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name)
      const end = (await linkTarget(path)) === undefined ? undefined : await ifAny(() => realpath(path))
      if (end !== undefined) ends.push(end)
    }
  }
  return ends
}

/** Stats of `path`, links followed, or undefined if it does not exist. */
export function statsIfAny(path: string): Promise<Stats | undefined> {
  return ifAny(() => statSync(path))
}

/** Stats of `path` itself, links not followed, or undefined if it does not exist. */
export function lstatIfAny(path: string): Promise<Stats | undefined> {
  return ifAny(() => lstatSync(path))
}

/** Whether `path` exists; a broken link counts. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstatIfAny(path)) !== undefined
}

/** The names in a folder; none if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await ifAny(() => readdirSync(folder))) ?? []
}

/** The text of a file, or undefined if it does not exist. */
export async function readTextIfAny(path: string): Promise<string | undefined> {
  return (await readIfAny(path))?.toString()
}

/** Decodes UTF-8. Throws an error that names the file if the bytes are not UTF-8. */
export function toText(bytes: Buffer, path: string, ErrorOfCaller: new (message: string) => Error): string {
  if (!isUtf8(bytes)) throw new ErrorOfCaller(`${path} is not UTF-8; save it as UTF-8`)
  return bytes.toString()
}

export function readIfAny(path: string): Promise<Buffer | undefined> {
  return ifAny(() => readFileSync(path))
}

/** The target of a symbolic link, or undefined if `path` is not one. */
export async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return readlinkSync(path)
  } catch (error) {
    const isNoLink = error instanceof Error && 'code' in error && error.code === 'EINVAL'
    if (isNoLink || isMissing(error)) return undefined
    throw error
  }
}

export interface FileHash {
  bytes: number
  sha256: string
}

/** Files up to this size are read whole. */
const SMALL_BYTES = 1 << 20

/** Size and SHA-256 (hex) of a file. */
export async function hashFile(path: string): Promise<FileHash> {
  if (statSync(path).size <= SMALL_BYTES) {
    const content = readFileSync(path)
    return { bytes: content.length, sha256: hash('sha256', content) }
  }
  const sum = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    sum.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: sum.digest('hex') }
}
