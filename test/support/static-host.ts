/** The plainest host for a folder, with hardly a header, whose answers to single paths can be spoilt. */
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { onTestFinished } from 'vitest'

/** Answers a request in the place of the host. `bytes` are those of the file, `count` how often it was asked for. */
export type Answer = (response: ServerResponse, bytes: Buffer, count: number) => void

export interface StaticHost {
  /** The origin and the path below which the folder lies, with a slash at the end. */
  url: string
  /** How often each path was asked for. */
  requests: Map<string, number>
  /** The folder that is served. */
  folder: string
  stop(): Promise<void>
}

/** What every web server knows of endings; of anything else it says nothing. */
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/**
 * Serves the files of a folder on a free port of this machine, whole or a range of them, until it is stopped. `missing` is
 * the status for what is not there.
 */
export async function startHost(
  folder: string,
  {
    answers = {},
    below = '/',
    missing = 404,
  }: { answers?: Record<string, Answer>; below?: string; missing?: number } = {},
): Promise<StaticHost> {
  const requests = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    const isBelow = pathname.startsWith(below)
    const asked = pathname.slice(below.length)
    const count = (requests.get(asked) ?? 0) + 1
    requests.set(asked, count)
    const path = /(^|\/)$/.test(asked) ? `${asked}index.html` : asked
    const file = join(host.folder, normalize(decodeURIComponent(path)))
    const bytes = isBelow ? await readFile(file).catch(() => undefined) : undefined
    const answer = answers[asked]
    if (bytes === undefined) response.writeHead(missing).end('nothing here')
    else if (answer !== undefined) answer(response, bytes, count)
    else send(response, bytes, { type: TYPES[extname(path)], range: request.headers.range })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const host: StaticHost = {
    url: `http://127.0.0.1:${port}${below}`,
    requests,
    folder,
    stop() {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
  return host
}

/** The same until the running test is over. */
export async function serveFolder(...given: Parameters<typeof startHost>): Promise<StaticHost> {
  const host = await startHost(...given)
  onTestFinished(() => host.stop())
  return host
}

/** The file as it lies there. */
export const whole: Answer = (response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
}

/** A status and nothing else, for the first `times` requests. */
export function status(code: number, times = Number.POSITIVE_INFINITY): Answer {
  return (response, bytes, count) => {
    if (count > times) whole(response, bytes, count)
    else response.writeHead(code).end()
  }
}

function send(
  response: ServerResponse,
  bytes: Buffer,
  { type, range }: { type: string | undefined; range: string | undefined },
): void {
  if (type !== undefined) response.setHeader('content-type', type)
  response.setHeader('accept-ranges', 'bytes')
  const part = rangeOf(range, bytes.length)
  const { first, last } = part ?? { first: 0, last: bytes.length - 1 }
  const content = bytes.subarray(first, last + 1)
  if (part !== undefined) response.setHeader('content-range', `bytes ${first}-${last}/${bytes.length}`)
  response.writeHead(part === undefined ? 200 : 206, { 'content-length': content.length }).end(content)
}

/** The first and last byte of a single range; `bytes=-5` are the last five. */
function rangeOf(header = '', length: number): { first: number; last: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (from === '') return to === '' ? undefined : { first: Math.max(length - Number(to), 0), last: length - 1 }
  return { first: Number(from), last: to === '' ? length - 1 : Math.min(Number(to), length - 1) }
}
