import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/app.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { serveTokenboard } from '../support/server-process.ts'

test('a second SIGTERM ends the server without waiting for running requests', async () => {
  const folder = await temporaryFolder()
  const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
  await publish(folders.publicDir, sampleRows({ days: 2 }))
  const server = await serveTokenboard(folders, {})
  onTestFinished(server.kill)
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  const head = 'POST /api/v1/presets/slow/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
  socket.write(`${head}authorization: Bearer ${server.key}\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n{`)
  await once(socket, 'data')
  server.signal('SIGTERM')
  // Nothing new is accepted: the first one has arrived.
  await expect.poll(() => isRefused(server.port)).toBe(true)
  server.signal('SIGTERM')
  // One that waited would end with 0.
  expect(await server.ended).toEqual({ code: 130, signal: null })
})

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}
