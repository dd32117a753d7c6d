import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

/** A folder as any plain host serves it: below a path of its own, without a header of ours. */
export interface StaticServer {
  /** Where the folder is, with a slash at its end. */
  url: string
  stop(): Promise<void>
}

/** Serves the files of a folder below `/some/path/` on a free port. */
export async function serveFolder(folder: string): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://host').pathname).replace(/^\/some\/path\//, '')
    try {
      const bytes = await readFile(join(folder, path))
      const range = rangeOf(request.headers.range, bytes.length)
      response.setHeader('accept-ranges', 'bytes')
      if (range === undefined) return response.setHeader('content-length', bytes.length).end(bytes)
      const { first, last } = range
      const content = bytes.subarray(first, last + 1)
      response.setHeader('content-range', `bytes ${first}-${last}/${bytes.length}`)
      return response.writeHead(206, { 'content-length': content.length }).end(content)
    } catch {
      return response.writeHead(404).end()
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const stop = () => new Promise<void>((done, fail) => server.close((error) => (error ? fail(error) : done())))
  return { url: `http://127.0.0.1:${port}/some/path/`, stop }
}

/** The first and last byte of a single range; `bytes=-5` are the last five. */
function rangeOf(header = '', length: number): { first: number; last: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (from === '') return to === '' ? undefined : { first: Math.max(length - Number(to), 0), last: length - 1 }
  return { first: Number(from), last: to === '' ? length - 1 : Math.min(Number(to), length - 1) }
}
