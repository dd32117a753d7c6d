import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { readServerConfig } from '../../server/config.ts'
import { startServer } from '../../server/main.ts'
import { captureLog, NOW, temporaryFolder } from './app.ts'
import { publish, type Row, sampleRows } from './publish.ts'

/** A server that listens, in the process of the test, and connections to it without the manners of an HTTP client. */

export async function workspace(rows: Row[] = sampleRows({ days: 3 })) {
  const folder = await temporaryFolder()
  const publicDir = join(folder, 'public')
  await publish(publicDir, rows)
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

export async function rawConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
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
