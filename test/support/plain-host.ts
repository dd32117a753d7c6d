import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

/** What every web server knows of endings; of anything else it says nothing. */
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

export interface PlainHost {
  /** The origin and the sub-path below which the folder lies: `http://127.0.0.1:40001/some/path/`. */
  url: string
  stop(): Promise<void>
}

/** The plainest host there is: the files of a folder below a sub-path, whole or a range, with hardly a header. */
export async function serveFolder(folder: string, place = '/some/path/'): Promise<PlainHost> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    const wanted = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const path = join(folder, normalize(decodeURIComponent(wanted).slice(place.length)))
    const bytes = wanted.startsWith(place) ? await readFile(path).catch(() => undefined) : undefined
    if (bytes === undefined) return response.writeHead(404).end()
    const type = TYPES[extname(path)]
    if (type !== undefined) response.setHeader('content-type', type)
    response.setHeader('accept-ranges', 'bytes')
    const range = rangeOf(request.headers.range, bytes.length)
    if (range === undefined) return response.setHeader('content-length', bytes.length).end(bytes)
    const { first, last } = range
    const content = bytes.subarray(first, last + 1)
    response.setHeader('content-range', `bytes ${first}-${last}/${bytes.length}`)
    return response.writeHead(206, { 'content-length': content.length }).end(content)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${place}`,
    stop() {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

/** The first and last byte of a single range; `bytes=-5` are the last five. */
function rangeOf(header = '', length: number): { first: number; last: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (from === '') return to === '' ? undefined : { first: Math.max(length - Number(to), 0), last: length - 1 }
  return { first: Number(from), last: to === '' ? length - 1 : Math.min(Number(to), length - 1) }
}
