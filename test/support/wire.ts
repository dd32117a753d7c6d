import { connect } from 'node:net'

/** An answer as it came over the wire; names of headers in lower case, in the order in which they came. */
export interface WireAnswer {
  status: number
  headers: [name: string, value: string][]
  body: string
}

/** Ends the connection when the server has answered what was sent before it. */
export const LAST_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n'

/**
 * Sends bytes (Latin-1) as no HTTP client would, and then `LAST_REQUEST`; returns all that comes back until the server
 * closes the connection: one answer for each request that it saw.
 */
export async function exchange(url: string, bytes: string): Promise<WireAnswer[]> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const closed = Promise.withResolvers<void>()
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // A server may also end a connection at once, while there is something left that it will not read.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') closed.reject(error)
  })
  socket.on('close', () => closed.resolve())
  socket.write(Buffer.from(bytes + LAST_REQUEST, 'latin1'))
  await closed.promise
  return answersIn(Buffer.concat(chunks).toString('latin1'))
}

function answersIn(text: string): WireAnswer[] {
  const answers: WireAnswer[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (end < 0 || Number.isNaN(status)) throw new Error(`no answer begins with ${JSON.stringify(rest.slice(0, 200))}`)
    const headers = fields.map((field): [string, string] => {
      const [name = '', value = ''] = field.split(/: (.*)/s)
      return [name.toLowerCase(), value]
    })
    const bytes = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0)
    const body = end + '\r\n\r\n'.length
    answers.push({ status, headers, body: rest.slice(body, body + bytes) })
    rest = rest.slice(body + bytes)
  }
  return answers
}
