import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { BuildError } from '../base/errors.ts'
import { formatBytes } from '../base/numbers.ts'
import type { PublishedFile } from '../publication/copy.ts'
import type { Copied } from '../publication/export.ts'

/** A file that the bucket shall have. */
export interface LocalFile extends Pick<PublishedFile, 'path' | 'source' | 'bytes' | 'content'> {
  sha256: string
}

/** Larger files are not read into memory: many are compared at once. */
const SMALL_BYTES = 2 ** 20

/** The limit of services for an upload in one request. */
const LARGEST_BYTES = 5 * 2 ** 30

/** The files of a copy without links. Throws `BuildError` for a file that is too large for a bucket. */
export function localFiles({ published, contents }: Copied): LocalFile[] {
  return published.map(({ path, source, bytes, content }) => {
    if (bytes > LARGEST_BYTES) {
      throw new BuildError(
        `${source} has ${formatBytes(bytes)}, but buckets take at most 5 GiB in one request; nothing was uploaded`,
      )
    }
    const [, sha256] = /^sha256:(.+)$/.exec(contents.get(path) ?? '') ?? []
    if (sha256 === undefined) throw new Error(`${path} is no file`)
    return { path, source, bytes, sha256, ...(content !== undefined && { content }) }
  })
}

export async function md5Of({ source, bytes, content }: LocalFile): Promise<Buffer> {
  if (content !== undefined || bytes <= SMALL_BYTES) {
    return hash('md5', content ?? (await readFile(source)), 'buffer')
  }
  const sum = createHash('md5')
  for await (const chunk of createReadStream(source)) sum.update(chunk)
  return sum.digest()
}

export function bodyOf({ source, bytes, content }: LocalFile): Promise<Buffer> | ReadableStream<Uint8Array> {
  if (content !== undefined) return Promise.resolve(content)
  return bytes <= SMALL_BYTES ? readFile(source) : ReadableStream.from<Uint8Array>(createReadStream(source))
}
