import { pipeline, type Readable, type Transform } from 'node:stream'

/**
 * The bytes of `source` after `transform`; what goes wrong in either is thrown to whoever reads them. `onRead` is told how
 * many more bytes came out of `source`, which is closed as soon as nobody reads on.
 */
export function through(
  source: Readable,
  transform: Transform,
  onRead: (bytes: number) => void,
): AsyncIterable<Buffer> {
  source.on('data', (chunk: Buffer) => onRead(chunk.length))
  // Whoever reads `transform` is told what its callback is told.
  return pipeline(source, transform, () => {})
}
