import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serverConfig } from '../../../pipeline/commands/serve.ts'
import { UsageError } from '../../../pipeline/errors.ts'
import { temporaryFolder } from '../../support/app.ts'
import { publish, sampleRows } from '../../support/publish.ts'

/** `tokenboard serve` as a process of its own, on a release that is there already. */
async function serve(...flags: string[]) {
  const folder = await temporaryFolder()
  const publicDir = join(folder, 'public')
  await publish(publicDir, sampleRows({ days: 3 }))
  const child = spawn(process.execPath, ['pipeline/cli.ts', 'serve', '--port', '0', ...flags], {
    env: { PUBLIC_DIR: publicDir, DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const stderr = text(child.stderr)
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return { child, lines, stderr, ended }
}

test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, and prints three lines to stdout', async (signal) => {
  const { child, lines, stderr, ended } = await serve()
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(3)
  const url = lines[0]?.replace('listening ', '') ?? ''
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  child.kill(signal)
  expect(await ended).toEqual([0, null])
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['listening', 'key', 'try'])
  const log = (await stderr).split('\n').filter((line) => line !== '')
  expect(log.every((line) => JSON.parse(line).level >= 30)).toBe(true)
  expect(log.join('')).not.toContain(lines[1]?.slice('key sk-tb-v1-'.length))
})

test('--host wins over the default, and off loopback no key is printed', async () => {
  const { lines, child, ended } = await serve('--host', '0.0.0.0')
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(1)
  expect(lines[0]).toMatch(/^listening http:\/\/0\.0\.0\.0:\d+$/)
  child.kill('SIGTERM')
  await ended
  expect(lines).toHaveLength(1)
})

test('wrong settings are wrong usage', async () => {
  vi.stubEnv('LOG_LEVEL', 'loud')
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(UsageError)
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(/PORT .*LOG_LEVEL /)
})
