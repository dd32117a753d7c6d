import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { extname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { remembered } from '../base/remembered.ts'
import type { OpenFile } from './open-file.ts'

/** What clients ask for by its plain name and is published as gzip beside it. Parquet is compressed in itself. */
const COMPRESSIBLE = new Set(['.csv', '.json'])

const MOST_REMEMBERED_PAIRS = 10_000

/** Where the gzip of a file would lie; undefined where none is looked for. */
export function twinOf(path: string): string | undefined {
  return COMPRESSIBLE.has(extname(path)) ? `${path}.gz` : undefined
}

/**
 * Finds the gzip of a published file: the file of the same name with `.gz`, if it holds the same bytes. That is proven
 * once, and remembered by the tags of both, which are made of their bytes. The caller closes the handle.
 */
export function gzipTwins(open: (path: string) => Promise<OpenFile>) {
  const isSame = remembered<boolean>(MOST_REMEMBERED_PAIRS)

  return async (file: OpenFile): Promise<OpenFile | undefined> => {
    const path = twinOf(file.path)
    if (path === undefined || !(await isPlainFile(path))) return undefined
    const twin = await open(path)
    let found = false
    try {
      found = await isSame(`${file.etag} ${twin.etag}`, () => holds(twin, file.etag))
    } finally {
      if (!found) await twin.handle.close()
    }
    return found ? twin : undefined
  }
}

/** A link is refused: what it leads to was not checked to be below the public folder. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Whether the bytes inside a gzip have this tag. What is no gzip holds nothing. */
async function holds({ handle }: OpenFile, etag: string): Promise<boolean> {
  const sha256 = createHash('sha256')
  try {
    await pipeline(handle.createReadStream({ start: 0, autoClose: false }), createGunzip(), async (chunks) => {
      for await (const chunk of chunks) sha256.update(chunk)
    })
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) return false
    throw error
  }
  return `"sha256-${sha256.digest('hex')}"` === etag
}
