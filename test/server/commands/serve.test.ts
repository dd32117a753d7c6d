import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { serverConfig } from '../../../pipeline/commands/serve.ts'
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
  await expect.poll(() => lines.length).toBe(3)
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
  await expect.poll(() => lines.length).toBe(1)
  expect(lines[0]).toMatch(/^listening http:\/\/0\.0\.0\.0:\d+$/)
  child.kill('SIGTERM')
  await ended
  expect(lines).toHaveLength(1)
})

/** The processes that a process started. */
function workersOf(pid: number | undefined): number[] {
  const told = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)])
    .toString()
    .trim()
  return told.split(/\s+/).map(Number)
}

describe('with workers', () => {
  const linesOf = (log: string) =>
    log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('one address and one key are printed, when all are ready, and all of them answer', async () => {
    const { child, lines, stderr, ended } = await serve('--workers', '2')
    await expect.poll(() => lines.length).toBe(3)
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['listening', 'key', 'try'])
    const [url, key] = [lines[0]?.replace('listening ', ''), lines[1]?.replace('key ', '')]
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const headers = { authorization: `Bearer ${key}`, connection: 'close' }
        return (await fetch(`${url}/api/v1/key`, { headers })).status
      }),
    )
    expect(statuses).toEqual(Array(8).fill(200))
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    const answered = linesOf(await stderr).filter(({ msg }) => msg === 'request')
    expect(answered).toHaveLength(8)
    expect(new Set(answered.map(({ pid }) => pid)).size).toBe(2)
    expect(lines).toHaveLength(3)
  })

  test('one that dies is replaced', async () => {
    const { child, lines, stderr, ended } = await serve('--workers', '2')
    await expect.poll(() => lines.length).toBe(3)
    const url = lines[0]?.replace('listening ', '') ?? ''
    const [first = 0] = workersOf(child.pid)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => workersOf(child.pid).filter((pid) => pid !== first).length).toBe(2)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(linesOf(await stderr)).toContainEqual(
      expect.objectContaining({ msg: 'a worker ended and will be replaced', worker_pid: first, signal: 'SIGKILL' }),
    )
  })

  test('when all die at once, those that take their place listen at the same address', async () => {
    const { child, lines, ended } = await serve('--workers', '2')
    await expect.poll(() => lines.length).toBe(3)
    const url = lines[0]?.replace('listening ', '') ?? ''
    const former = workersOf(child.pid)
    for (const pid of former) process.kill(pid, 'SIGKILL')
    await expect.poll(() => workersOf(child.pid).filter((pid) => !former.includes(pid)).length).toBe(2)
    const status = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status
    await expect.poll(status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('what keeps them from starting is told once', async () => {
    const { stderr, ended } = await serve('--workers', '3', '--host', '192.0.2.1')
    expect(await ended).toEqual([1, null])
    expect((await stderr).match(/cannot listen on 192\.0\.2\.1/g)).toHaveLength(1)
  })
})

test('wrong settings are wrong usage', async () => {
  vi.stubEnv('LOG_LEVEL', 'loud')
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(CliError)
  await expect(serverConfig({ PORT: 'x' })).rejects.toThrow(/PORT .*LOG_LEVEL /)
})
