/** As much of S3 as copying a site into a bucket needs: listing, putting, removing. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StoredObject {
  body: Buffer
  type: string | undefined
  cache: string | undefined
  modified: Date
}

export interface Bucket {
  url: string
  objects: Map<string, StoredObject>
  /** What was asked for that changes something, in order, such as `PUT a/b.csv`. */
  changes: string[]
  stop(): void
}

/** A bucket `name`, addressed by path. */
export async function startBucket(name: string): Promise<Bucket> {
  const objects = new Map<string, StoredObject>()
  const changes: string[] = []
  const server = createServer(async (request, response) => {
    const body = unchunked(Buffer.concat(await Array.fromAsync(request)), request.headers['x-amz-content-sha256'])
    const { pathname } = new URL(request.url ?? '', 'http://bucket')
    const key = decodeURIComponent(pathname.slice(`/${name}/`.length))
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/xml').end(listing(name, objects))
      return
    }
    changes.push(`${request.method} ${key}`)
    if (request.method === 'DELETE') objects.delete(key)
    else {
      const { 'content-type': type, 'cache-control': cache } = request.headers
      objects.set(key, { body, type, cache, modified: new Date() })
    }
    response.statusCode = request.method === 'DELETE' ? 204 : 200
    response.setHeader('etag', '"0"').end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, objects, changes, stop: () => server.close() }
}

/** The body behind the framing of a signed stream: each chunk is told by its length, in hexadecimal. */
function unchunked(body: Buffer, signature: string | string[] | undefined): Buffer {
  if (!String(signature).startsWith('STREAMING-')) return body
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, end), 16)
    if (!(length > 0)) return Buffer.concat(chunks)
    chunks.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

function listing(name: string, objects: ReadonlyMap<string, StoredObject>): string {
  const entries = [...objects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([key, { body, modified }]) =>
        `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>"0"</ETag>` +
        `<Size>${body.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    )
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${name}</Name><Prefix></Prefix>
<KeyCount>${entries.length}</KeyCount><MaxKeys>10000</MaxKeys><IsTruncated>false</IsTruncated>${entries.join('')}
</ListBucketResult>`
}
