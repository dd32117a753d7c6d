import { connect } from 'node:net'

/** One answer, as it came over the wire. */
export interface WireAnswer {
  status: number
  /** Names in lower case, in the order in which they came. */
  fields: [name: string, value: string][]
  /** The same by name; of repeated ones the last. */
  headers: Record<string, string>
  body: Buffer
}

/** How long a server may take to answer all that was sent and close. */
const LIMIT_MS = 20_000

/** Ends the connection when the server has answered what was sent before it. */
const LAST_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n'

/** Sends text (Latin-1) as no HTTP client would, and then a last request: one answer for each request that the server saw. */
export function exchangeAndLeave(url: string, text: string): Promise<WireAnswer[]> {
  return exchange(Number(new URL(url).port), Buffer.from(text + LAST_REQUEST, 'latin1'))
}

/**
 * Sends `bytes` on a connection of its own and reads all that comes back until the server closes it. `isHead` tells for
 * each answer whether it is one without a body. Throws where the server does not close in time, or what comes back is no HTTP.
 */
export async function exchange(port: number, bytes: Buffer, isHead: boolean[] = []): Promise<WireAnswer[]> {
  const received = await everything(port, bytes)
  const answers: WireAnswer[] = []
  for (let rest = received; rest.length > 0; ) {
    const { answer, length } = parseAnswer(rest, isHead[answers.length] ?? false)
    // What comes before the answer proper, such as 100 Continue.
    if (answer.status >= 200) answers.push(answer)
    rest = rest.subarray(length)
  }
  return answers
}

function everything(port: number, bytes: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const limit = setTimeout(() => {
    socket.destroy()
    reject(new Error(`no end after ${LIMIT_MS} ms; so far: ${Buffer.concat(chunks).toString('latin1', 0, 300)}`))
  }, LIMIT_MS)
  socket.on('connect', () => socket.write(bytes))
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // The server may be done with a client that still writes, and end the connection while there is something left.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
  })
  socket.on('close', () => {
    clearTimeout(limit)
    resolve(Buffer.concat(chunks))
  })
  return promise
}

function parseAnswer(bytes: Buffer, isHead: boolean): { answer: WireAnswer; length: number } {
  const headEnd = bytes.indexOf('\r\n\r\n')
  const [line = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]
  if (headEnd < 0 || status === undefined) throw new Error(`no HTTP: ${bytes.toString('latin1', 0, 200)}`)
  const fields = lines.map((field): [string, string] => [nameIn(field), valueIn(field)])
  const headers = Object.fromEntries(fields)
  const start = headEnd + 4
  const code = Number(status)
  // What was refused before it could be read has a body, whatever the method.
  const isBare = headers['x-request-id'] === undefined
  if ((isHead && !isBare) || code < 200 || code === 204 || code === 304) {
    return { answer: { status: code, fields, headers, body: Buffer.alloc(0) }, length: start }
  }
  const { body, length } =
    headers['transfer-encoding'] === 'chunked'
      ? chunked(bytes, start)
      : {
          body: bytes.subarray(start, start + Number(headers['content-length'])),
          length: Number(headers['content-length']),
        }
  if (Number.isNaN(length) || start + length > bytes.length) throw new Error(`an answer of ${status} was cut`)
  return { answer: { status: code, fields, headers, body }, length: start + length }
}

function nameIn(field: string): string {
  return field.slice(0, field.indexOf(':')).toLowerCase()
}

function valueIn(field: string): string {
  return field.slice(field.indexOf(':') + 1).trim()
}

function chunked(bytes: Buffer, start: number): { body: Buffer; length: number } {
  const pieces: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (lineEnd < 0 || Number.isNaN(size)) throw new Error('chunks were cut')
    const from = lineEnd + 2
    pieces.push(bytes.subarray(from, from + size))
    at = from + size + 2
    if (size === 0) return { body: Buffer.concat(pieces), length: at - start }
  }
}
