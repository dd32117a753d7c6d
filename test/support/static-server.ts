import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
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

export interface StaticServer {
  /** The origin and the sub-path below which the folder lies: `http://127.0.0.1:40001/some/place/`. */
  url: string
  stop(): Promise<void>
}

/** The plainest host there is: the files of a folder below a sub-path, with hardly a header, and 404 for all else. */
export async function serveFolder(folder: string, place: string): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    const wanted = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const path = join(folder, normalize(decodeURIComponent(wanted).slice(place.length)))
    const isFile = wanted.startsWith(place) && (await stat(path).catch(() => undefined))?.isFile() === true
    if (!isFile) return void response.writeHead(404).end()
    const type = TYPES[extname(path)]
    response.writeHead(200, type === undefined ? {} : { 'content-type': type })
    createReadStream(path).pipe(response)
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
