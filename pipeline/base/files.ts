import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, realpathSync, type Stats } from 'node:fs'
import {
  constants,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** What a file is to hold; lines that are made one after another need not fit in memory. */
export type Content = string | Uint8Array | AsyncIterable<string>

/** The changes that publishing makes to a file system: each is one step that may fail, and tests make each fail. */
export interface Files {
  /** Creates `path` with its parents; an existing folder is fine. */
  makeFolder(path: string): Promise<void>
  /** Writes a new file and waits until its bytes are on disk. */
  write(path: string, content: Content): Promise<void>
  /** Moves a file or folder within one file system, replacing a file of that name; waits until the move is on disk. */
  rename(from: string, to: string): Promise<void>
  /** Writes a new file with the bytes of another and waits until they are on disk. */
  copy(from: string, to: string): Promise<void>
  /** Makes a relative symbolic link. */
  link(target: string, path: string): Promise<void>
  /** Waits until bytes that another program wrote to `path`, a file or a folder, are on disk. */
  flush(path: string): Promise<void>
  /** Removes a file or a folder with all it holds; nothing there is fine. */
  remove(path: string): Promise<void>
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function isMade(content: Content): content is AsyncIterable<string> {
  return typeof content === 'object' && Symbol.asyncIterator in content
}

const WRITING = ['write', 'writev', 'fsync']

/** Node names a file when it cannot be opened, but not when the disk is full. What is wrong with content is left as it is. */
function naming(path: string, error: unknown): unknown {
  const isOfFile = error instanceof Error && 'syscall' in error && WRITING.includes(String(error.syscall))
  return isOfFile ? new Error(`${path} cannot be written: ${error.message}`, { cause: error }) : error
}

/** Node's own `recursive` never ends where the file system takes no folders and says that something is missing: /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if ((await statsIfAny(path))?.isDirectory()) return
    if (!isMissing(error)) throw error
    if (!(await statsIfAny(dirname(path)))?.isDirectory()) await makeFolder(dirname(path))
    // Once more and no oftener: the folder above may have come in between, or one beside this call made this one.
    await mkdir(path).catch(async (reason: unknown) => {
      if (!(await statsIfAny(path))?.isDirectory()) throw reason
    })
  }
}

/** The real file system. */
export const realFiles: Files = {
  makeFolder,
  async write(path, content) {
    try {
      if (isMade(content)) await pipeline(content, createWriteStream(path, { flush: true }))
      else await writeFile(path, content, { flush: true })
    } catch (error) {
      throw naming(path, error)
    }
  },
  async rename(from, to) {
    await rename(from, to)
    await flush(dirname(to))
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
 * Writes beside `path`, to `next`, and renames: a reader finds the old content or the new, whole. What fails leaves no
 * trace. Where several processes may write at once, each needs a `next` of its own.
 */
export async function replaceFile(files: Files, path: string, content: Content, next = `${path}.next`): Promise<void> {
  try {
    await files.write(next, content)
    await files.rename(next, path)
  } catch (error) {
    await files.remove(next)
    throw error
  }
}

/** Whether an error of the file system says that nothing is there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Whether `path` is `folder` or lies in it, wherever links lead; neither has to be there yet. */
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

/** Where links that lie directly in some folders lead; a folder or an end that is not there leads nowhere. */
export async function endsOfLinks(folders: readonly string[]): Promise<string[]> {
  const ends: string[] = []
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name)
      const end = (await linkTarget(path)) === undefined ? undefined : await realPathIfAny(path)
      if (end !== undefined) ends.push(end)
    }
  }
  return ends
}

async function realPathIfAny(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** What is at `path`, behind links, or undefined when there is nothing. */
export async function statsIfAny(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** What is at `path` itself, a link as a link, or undefined when there is nothing. */
export async function lstatIfAny(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Whether anything is at `path`, a link that leads nowhere included. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstatIfAny(path)) !== undefined
}

/** The names in a folder; none when there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Text of a file, or undefined when there is none. */
export async function readTextIfAny(path: string): Promise<string | undefined> {
  return (await readIfAny(path))?.toString()
}

/** Bytes as text. Throws an error that names the file where they are no UTF-8: a name would be read as another. */
export function toText(bytes: Buffer, path: string, ErrorOfCaller: new (message: string) => Error): string {
  if (!isUtf8(bytes)) throw new ErrorOfCaller(`${path} is not UTF-8 text; save it as such`)
  return bytes.toString()
}

/** Bytes of a file, or undefined when there is none. */
export async function readIfAny(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Where a symbolic link leads, or undefined when there is none of that name. */
export async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    const isNoLink = error instanceof Error && 'code' in error && error.code === 'EINVAL'
    if (isNoLink || isMissing(error)) return undefined
    throw error
  }
}

/** Size in bytes and SHA-256 (hex). */
export interface FileHash {
  bytes: number
  sha256: string
}

/** Size and hash of a file, read as a stream. */
export async function hashFile(path: string): Promise<FileHash> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}
