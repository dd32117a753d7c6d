import type { Readable, Transform } from 'node:stream'

/** The bytes of `source` after `transform`; what goes wrong in either is thrown to whoever reads them. */
export function through(source: Readable, transform: Transform): AsyncIterable<Buffer> {
  source.once('error', (error) => transform.destroy(error))
  return source.pipe(transform)
}
