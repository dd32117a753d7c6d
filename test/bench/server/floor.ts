import { hash, randomUUID } from 'node:crypto'
import { readFileSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

/**
 * The floor under Tokenboard's answers: what they cost when a small program of bare `node:http` writes them by hand. It
 * does for each request what Tokenboard promises for each request, and nothing else:
 *
 * - it asks the store whether anything changed (`PRAGMA data_version`), as a revoked key is refused at once;
 * - it takes the SHA-256 of the key, which it does not look up;
 * - it gives the request an id, and answers with the headers that a window has;
 * - it writes a line for each answer, the lines of 20 ms together.
 *
 * It has no routes, no parameters, no limits and no errors. `/window` is the file that it was given, `/key` as many bytes
 * as `GET /key` has, and `If-None-Match: "x"` gets a 304.
 */
const [windowFile = '', storeFile = '', keyBytes = ''] = process.argv.slice(2)
const window = readFileSync(windowFile)
const key = window.subarray(0, Number(keyBytes))
const dataVersion = new DatabaseSync(storeFile).prepare('PRAGMA data_version')
dataVersion.setReturnArrays(true)

const EXPOSED = [
  'Accept-Ranges, Allow, Content-Encoding, Content-Length, Content-Location, Content-Range, ETag, Last-Modified, Link',
  'RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Attribution',
  'X-Content-Hash, X-Dataset-End-Date, X-Request-Id',
].join(', ')

/** Names and values in turn. */
const WINDOW_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, max-age=60',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  etag: '"x"',
  'last-modified': 'Sun, 22 Nov 2026 00:00:00 GMT',
  vary: 'Authorization, Accept, Accept-Encoding',
  link: '</x>; rel="license", </y>; rel="describedby"; type="application/json"',
  'x-attribution': 'Source: somebody, https://example.org, as of 2026',
  'x-content-hash': `sha256:${'0'.repeat(56)}`,
}).flat()

const LONGEST_WAIT_MS = 20
let lines = ''

function log(request: IncomingMessage, id: string, status: number): void {
  if (lines === '') setTimeout(writeLines, LONGEST_WAIT_MS)
  const url = JSON.stringify(request.url)
  const asked = `"reqId":"${id}","method":"GET","url":${url},"address":"${request.socket.remoteAddress}"`
  lines += `{"level":30,"time":${Date.now()},"pid":1,${asked},"status":${status},"elapsed_ms":0,"msg":"request"}\n`
}

function writeLines(): void {
  writeSync(process.stderr.fd, lines)
  lines = ''
}

const server = createServer((request, response) => {
  dataVersion.get()
  hash('sha256', request.headers.authorization ?? '')
  const id = randomUUID()
  const headers = ['x-request-id', id, ...WINDOW_HEADERS]
  if (request.headers['if-none-match'] === '"x"') {
    response.writeHead(304, headers)
    response.end(() => log(request, id, 304))
    return
  }
  const body = request.url === '/key' ? key : window
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length))
  response.writeHead(200, headers)
  response.end(body, () => log(request, id, 200))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
