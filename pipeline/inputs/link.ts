import { createWriteStream } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openInput, readHead } from './decompress.ts'
import type { InputFile } from './find.ts'
import type { LinkedFile } from './group.ts'

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/**
 * Gives each file a plain name in `folder` by a symbolic link, so that spaces, quotes, braces and wildcards in its own
 * name are never read as a pattern. What DuckDB cannot read in place is written there as it can: compressed Parquet
 * unpacked, NDJSON without its byte order mark.
 */
export async function linkFiles(files: readonly InputFile[], folder: string): Promise<LinkedFile[]> {
  return Promise.all(
    files.map(async (file, position) => {
      const link = join(folder, `${position}.${file.format}`)
      const skip = await bytesToSkip(file)
      if (skip === 0 && (file.format !== 'parquet' || file.compression === 'uncompressed')) {
        await symlink(file.path, link)
        return { ...file, link }
      }
      await pipeline(openInput(file), withoutFirst(skip), createWriteStream(link))
      return { ...file, link, compression: 'uncompressed' as const }
    }),
  )
}

async function bytesToSkip(file: InputFile): Promise<number> {
  if (file.format !== 'ndjson') return 0
  const head = await readHead(file, BYTE_ORDER_MARK.length)
  return head.equals(BYTE_ORDER_MARK) ? head.length : 0
}

function withoutFirst(count: number) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let left = count
    for await (const chunk of chunks) {
      yield chunk.subarray(left)
      left = Math.max(0, left - chunk.length)
    }
  }
}
