import { rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { currentRelease } from '../../server/published/current-release.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { loadReleaseHere } from '../support/release-loader.ts'

const rows = sampleRows({ days: 3 })
const FIRST = { asOf: '2025-01-04T00:00:00Z' }
const SECOND = { asOf: '2025-01-05T00:00:00Z' }
const WINDOW = { start_date: '2025-01-01', end_date: '2025-01-03' }
const broken = { ...SECOND, spoilRows: (bytes: Buffer) => bytes.subarray(1) }

async function followed() {
  const publicDir = await temporaryFolder()
  const log = captureLog()
  const logger: FastifyBaseLogger = fastify({ logger: { level: 'trace', stream: log.stream } }).log
  const releases = currentRelease(publicDir, logger, loadReleaseHere)
  const messages = () => log.lines().map(({ msg }) => msg)
  return { publicDir, log, messages, releases, name: () => releases.dataset()?.manifest.release }
}

test('loads a release once, also for checks at the same time, follows a new one, and stays when the pointer vanishes', async () => {
  const { publicDir, releases, name, messages } = await followed()
  await publish(publicDir, rows, FIRST)
  await Promise.all([releases.check(), releases.check(), releases.check()])
  const before = releases.dataset()
  await releases.check()
  expect(releases.dataset()).toBe(before)
  await publish(publicDir, rows, SECOND)
  await releases.check()
  expect(messages()).toEqual(['release loaded', 'release loaded'])
  await rm(join(publicDir, FOLDER, 'latest.json'))
  await releases.check()
  expect(name()).toBe('20250105T000000Z')
})

test('serves the daily table of its first release before weeks, months and gzip are ready', async () => {
  const { publicDir, releases } = await followed()
  await publish(publicDir, rows, { ...FIRST, periods: true })
  await releases.check()
  expect(releases.dataset()).toMatchObject({ isComplete: false, hasGzip: false })
  expect(releases.dataset()?.has('weekly')).toBe(false)
  const complete = await releases.complete()
  expect(complete).toMatchObject({ isComplete: true, hasGzip: true })
  expect(complete?.has('weekly')).toBe(true)
  expect(releases.dataset()).toBe(complete)
})

test('serves the daily table of its first release if weeks are wrong, and refuses a later one with wrong weeks', async () => {
  const { publicDir, releases, log, messages, name } = await followed()
  const spoilManifest = ({ tables }: Manifest) => Object.assign(tables?.weekly ?? {}, { rows: 1 })
  await publish(publicDir, rows, { ...FIRST, periods: true, spoilManifest })
  await releases.check()
  expect(await releases.complete()).toBeUndefined()
  expect(name()).toBe('20250104T000000Z')
  expect(log.lines().at(-1)).toMatchObject({ level: 50, err: { message: expect.stringContaining('number of rows') } })
  const spoilHash = ({ tables }: Manifest) =>
    Object.assign(tables?.weekly ?? {}, { content_hash: `sha256:${'0'.repeat(64)}` })
  await publish(publicDir, rows, { ...SECOND, periods: true, spoilManifest: spoilHash })
  await releases.check()
  expect(messages().at(-1)).toBe('the new release is refused')
  expect(name()).toBe('20250104T000000Z')
})

test('sees a pointer that was replaced within the same second and size', async () => {
  const { publicDir, releases, name } = await followed()
  const pointer = join(publicDir, FOLDER, 'latest.json')
  const instant = new Date('2025-01-06T00:00:00Z')
  for (const options of [FIRST, SECOND]) {
    await publish(publicDir, rows, options)
    await utimes(pointer, instant, instant)
    await releases.check()
  }
  expect(name()).toBe('20250105T000000Z')
})

test('refuses and logs an invalid release, and keeps serving the previous one', async () => {
  const { publicDir, releases, log, name } = await followed()
  await publish(publicDir, rows, FIRST)
  await releases.check()
  await publish(publicDir, rows, broken)
  await releases.check()
  expect(name()).toBe('20250104T000000Z')
  expect(releases.dataset()?.answer('daily', WINDOW, 'json').bytes).toBeGreaterThan(rows.length)
  expect(log.lines().at(-1)).toMatchObject({
    level: 50,
    msg: 'the new release is refused',
    still_serving: '20250104T000000Z',
    err: { type: 'ReleaseError', message: expect.stringContaining('size of rankings-daily.ndjson.gz') },
  })
})

test('tries a refused release again, less and less often, until its bytes are right', async () => {
  const { publicDir, releases, messages, name } = await followed()
  await publish(publicDir, rows, broken)
  for (let i = 0; i < 40; i++) await releases.check()
  const refusals = messages().length
  expect(refusals).toBeGreaterThan(2)
  expect(refusals).toBeLessThan(8)
  const pointer = join(publicDir, FOLDER, 'latest.json')
  await publish(publicDir, rows, SECOND)
  await utimes(pointer, new Date(), new Date())
  await releases.check()
  expect(name()).toBe('20250105T000000Z')
})

test('follow() checks every second until stop()', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { publicDir, releases, name } = await followed()
    await publish(publicDir, rows, FIRST)
    releases.follow()
    expect(name()).toBeUndefined()
    vi.advanceTimersByTime(1000)
    await releases.check()
    expect(name()).toBe('20250104T000000Z')
    await releases.stop()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
