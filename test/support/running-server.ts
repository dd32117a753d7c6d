import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { readServerConfig } from '../../server/base/config.ts'
import { startServer } from '../../server/main.ts'
import { captureLog, NOW, temporaryFolder } from './app.ts'
import { type PublishOptions, publish, type Row, sampleRows } from './publish.ts'

/** A server that listens, in the process of the test, and connections to it without the manners of an HTTP client. */

export async function workspace(rows: Row[] = sampleRows({ days: 3 }), options: PublishOptions = {}) {
  const folder = await temporaryFolder()
  const publicDir = join(folder, 'public')
  await publish(publicDir, rows, options)
  return { folder, publicDir, dataDir: join(folder, 'data') }
}

export async function start(
  { publicDir, dataDir }: { publicDir: string; dataDir: string },
  settings: Record<string, string> = {},
  options: Parameters<typeof startServer>[2] = {},
) {
  const config = readServerConfig({}, { PORT: '0', PUBLIC_DIR: publicDir, DATA_DIR: dataDir, ...settings })
  const printed: string[] = []
  const log = captureLog()
  const server = await startServer(
    config,
    { clock: () => NOW, print: (line) => printed.push(line), logStream: log.stream },
    options,
  )
  let closing: Promise<void> | undefined
  const close = () => (closing ??= server.close())
  onTestFinished(close)
  const key = printed[1]?.replace('key ', '') ?? ''
  return { url: server.url, port: Number(new URL(server.url).port), printed, log, close, key }
}

/** No test waits for it: whatever did would be ended as a hanging test. */
export const NEVER_MS = 2 ** 31 - 1

/** Rows of a window that is larger than what sockets hold. */
export const LARGE = sampleRows({ days: 40 })
  .filter(({ model_permaslug }) => model_permaslug !== 'other')
  .map((row) => ({ ...row, model_permaslug: row.model_permaslug.padEnd(3000, 'x') }))

/** A request for the window of `LARGE`. */
export function getLarge(key: string, connection = 'keep-alive'): string {
  const path = '/api/v1/datasets/rankings-daily?start_date=2025-01-01'
  return `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: ${connection}\r\n\r\n`
}

/** Asks for the window of `LARGE`, and reads no more than the beginning of the answer. */
export async function readSlowly(port: number, key: string, connection?: string): Promise<Socket> {
  const socket = await rawConnection(port)
  socket.pause()
  socket.write(getLarge(key, connection))
  await once(socket, 'readable')
  return socket
}

export async function rawConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** A connection, and the server's end of it. */
export async function bothEnds(port: number): Promise<{ socket: Socket; served: Socket }> {
  const accepted = new Map<number | undefined, Socket>()
  const note = (message: unknown) => {
    const { socket } = message as { socket: Socket }
    accepted.set(socket.remotePort, socket)
  }
  subscribe('net.server.socket', note)
  try {
    const socket = await rawConnection(port)
    await expect.poll(() => accepted.has(socket.localPort)).toBe(true)
    return { socket, served: accepted.get(socket.localPort) as Socket }
  } finally {
    unsubscribe('net.server.socket', note)
  }
}

/** Sends packets on a new connection that nobody reads from yet, each when the server has read the one before. */
export async function sendPackets(port: number, packets: readonly string[]): Promise<Socket> {
  const { socket, served } = await bothEnds(port)
  socket.pause()
  let sent = 0
  for (const packet of packets) {
    socket.write(packet)
    sent += packet.length
    await expect.poll(() => served.bytesRead).toBe(sent)
  }
  return socket
}

/** Asks for a stop, and waits until nobody can connect any more. What is under way goes on. */
export async function beginStop(port: number, close: () => Promise<void>): Promise<{ closed: Promise<void> }> {
  const closed = close()
  const connecting = () => once(connect(port, '127.0.0.1'), 'connect').catch(({ code }) => code)
  await expect.poll(connecting).toBe('ECONNREFUSED')
  return { closed }
}

/** The one answer to `request`, after which nothing more is sent. */
export async function rawAnswer(port: number, request: string) {
  const socket = await rawConnection(port)
  socket.end(request)
  return parseAnswer(await text(socket))
}

export function parseAnswer(bytes: string) {
  const [head = '', body = ''] = bytes.split('\r\n\r\n', 2)
  const [status = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(fields.map((field) => field.toLowerCase().split(': ', 2)))
  return { statusCode: Number(status.split(' ')[1]), headers, body }
}
