import type { Readable, Transform } from 'node:stream'

/**
 * The bytes of `source` after `transform`; what goes wrong in either is thrown to whoever reads them. `onRead` is told how
 * many more bytes came out of `source`.
 */
export function through(
  source: Readable,
  transform: Transform,
  onRead: (bytes: number) => void,
): AsyncIterable<Buffer> {
  source.once('error', (error) => transform.destroy(error))
  source.on('data', (chunk: Buffer) => onRead(chunk.length))
  return source.pipe(transform)
}
