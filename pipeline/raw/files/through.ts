import { pipeline, type Readable, type Transform } from 'node:stream'

/** Pipes `source` through `transform`. Errors of both reach the reader. `source` is closed when the reader stops. */
export function through(
  source: Readable,
  transform: Transform,
  onRead: (bytes: number) => void,
): AsyncIterable<Buffer> {
  source.on('data', (chunk: Buffer) => onRead(chunk.length))
  // The reader of `transform` gets the error too.
  return pipeline(source, transform, () => {})
}
