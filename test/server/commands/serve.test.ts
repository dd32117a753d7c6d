import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { serverConfig } from '../../../pipeline/commands/serve.ts'
import { temporaryFolder } from '../../support/app.ts'
import { runProcess } from '../../support/pipeline.ts'
import { publish, sampleRows } from '../../support/publish.ts'
import { type ServerProcess, startNode } from '../../support/server-process.ts'

/** `tokenboard serve` as a process of its own, on a release that is there already, once it has printed so many lines. */
async function serve(lines: number, ...flags: string[]): Promise<ServerProcess> {
  const folder = await temporaryFolder()
  const publicDir = join(folder, 'public')
  await publish(publicDir, sampleRows({ days: 3 }))
  const env = { PUBLIC_DIR: publicDir, DATA_DIR: join(folder, 'data') }
  const server = await startNode(['pipeline/cli.ts', 'serve', '--port', '0', ...flags], env, { lines })
  onTestFinished(server.kill)
  return server
}

const firstWords = ({ lines }: ServerProcess) => lines.map((line) => line.split(' ')[0])
const records = ({ log }: ServerProcess) => log.map((line) => JSON.parse(line) as Record<string, unknown>)

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'serves until %s, and prints three lines to stdout',
  async (signal) => {
    const server = await serve(3)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    server.signal(signal)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(firstWords(server)).toEqual(['listening', 'key', 'try'])
    expect(records(server).every(({ level }) => Number(level) >= 30)).toBe(true)
    expect(server.log.join()).not.toContain(server.lines[1]?.slice('key sk-tb-v1-'.length))
  },
)

test('--host wins over the default, and off loopback no key is printed', async () => {
  const server = await serve(1, '--host', '0.0.0.0')
  expect(server.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
  server.signal('SIGTERM')
  await server.ended
  expect(server.lines).toHaveLength(1)
})

test.each([
  ['the port is taken', {}, /^tokenboard: cannot listen on 127\.0\.0\.1, port \d+: the port is in use;/],
  [
    'the store cannot be opened',
    { PORT: '0', DATABASE_URL: 'sqlite:/dev/null/x' },
    /^tokenboard: the store \/dev\/null\/x cannot be/,
  ],
])('builds nothing when %s', async (_, settings, message) => {
  const folder = await temporaryFolder()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await runProcess(['serve'], { PORT: String(port), ...settings }, folder)
  expect(stderr).toMatch(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(code).toBe(1)
  expect(await readdir(folder)).not.toContain('public')
})

test('wrong settings are a CliError that names all of them', async () => {
  vi.stubEnv('LOG_LEVEL', 'loud')
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(CliError)
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(/PORT .*\n.*LOG_LEVEL /)
})
