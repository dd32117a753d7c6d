import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from '../../server/base/errors.ts'
import { olderReleases } from '../../server/published/older-releases.ts'
import { ReleaseError } from '../../server/published/release.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { writeHistory } from '../support/published-history.ts'
import { drop, withdraw, writeIndex } from '../support/release-index.ts'
import { loadHistoryHere, loadReleaseHere } from '../support/release-loader.ts'

const FIRST = '20250104T000000Z'
const SECOND = '20250105T000000Z'
const WINDOW = { start_date: '2025-01-01', end_date: '2025-01-31' }

async function published(
  limits: { mostBytes?: number; mostLoading?: number; mostLoadingEach?: number; onRefused?: () => void } = {},
  load = loadReleaseHere,
) {
  const publicDir = await temporaryFolder()
  await publish(publicDir, sampleRows({ days: 3 }), { asOf: '2025-01-04T00:00:00Z' })
  await publish(publicDir, sampleRows({ days: 4 }), { asOf: '2025-01-05T00:00:00Z' })
  await writeIndex(publicDir)
  const log = captureLog()
  const logger = fastify({ logger: { level: 'trace', stream: log.stream } }).log
  const loaded = () => log.lines().map(({ release }) => release)
  const loaders = { loadRelease: load, loadHistory: loadHistoryHere }
  const messages = () => log.lines().map(({ msg }) => msg)
  return { publicDir, releases: olderReleases(publicDir, logger, loaders, limits), loaded, messages }
}

/** Loads nothing to its end before `letGo` is called; `begun` when the first load has begun. */
function heldLoads() {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const load: typeof loadReleaseHere = (request) => {
    begun.resolve()
    const { plain, whole } = loadReleaseHere(request)
    return { plain: held.promise.then(() => plain), whole: held.promise.then(() => whole) }
  }
  return { load, begun: begun.promise, letGo: held.resolve }
}

test('reads a release once, by its name, for many requests at a time and later', async () => {
  const { releases, loaded } = await published()
  const found = await Promise.all([FIRST, SECOND, FIRST, FIRST].map((name) => releases.find(name)))
  expect(found.map((dataset) => dataset?.manifest.release)).toEqual([FIRST, SECOND, FIRST, FIRST])
  expect((await releases.find(FIRST))?.manifest).toBe(found[0]?.manifest)
  expect(found[2]?.manifest).toBe(found[0]?.manifest)
  expect(loaded().toSorted()).toEqual([FIRST, SECOND])
})

test('refuses a request with 429 when too many releases are being loaded', async () => {
  const { load, begun, letGo } = heldLoads()
  const onRefused = vi.fn()
  const { releases } = await published({ mostLoading: 1, onRefused }, load)
  const waiting = [FIRST, FIRST].map((name) => releases.find(name))
  await begun
  const [refused] = await Promise.allSettled([releases.find(SECOND)])
  expect([releases.waiting(), onRefused.mock.calls.length]).toEqual([1, 1])
  letGo()
  const [first, again, second] = [...(await Promise.allSettled(waiting)), refused]
  expect([first?.status, again?.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(second).toMatchObject({ status: 'rejected', reason: { status: 429 } })
  expect((await releases.find(SECOND))?.manifest.release).toBe(SECOND)
})

test('a caller who asks for the same release at the same time is not refused with the one who fills the queue', async () => {
  const { load, begun, letGo } = heldLoads()
  const { releases } = await published({ mostLoadingEach: 1 }, load)
  const first = releases.find(FIRST, 'one')
  await begun
  const [own, other] = [Promise.allSettled([releases.find(SECOND, 'one')]), releases.find(SECOND, 'two')]
  const [refused] = await own
  letGo()
  expect(refused).toMatchObject({ status: 'rejected', reason: { status: 429 } })
  expect([await first, await other].map((found) => found?.manifest.release)).toEqual([FIRST, SECOND])
})

test('keeps no more releases than fit into its memory', async () => {
  const { releases, loaded } = await published({ mostBytes: 1 })
  for (const name of [FIRST, FIRST, SECOND, FIRST]) await releases.find(name)
  expect(loaded()).toEqual([FIRST, SECOND, FIRST])
})

test('finds nothing under a name that the index does not list, even if the folder exists', async () => {
  const { publicDir, releases } = await published()
  await publish(publicDir, sampleRows({ days: 5 }), { asOf: '2025-01-06T00:00:00Z' })
  expect(await releases.find('20250106T000000Z')).toBeUndefined()
  await writeIndex(publicDir)
  expect((await releases.find('20250106T000000Z'))?.manifest.days).toBe(5)
})

test('reads a release again when a rebuilt dataset uses its name', async () => {
  const { publicDir, releases } = await published()
  const before = await releases.find(FIRST)
  await publish(publicDir, sampleRows({ days: 2, scale: 3 }), { asOf: '2025-01-04T00:00:00Z' })
  await writeIndex(publicDir)
  const after = await releases.find(FIRST)
  expect(after?.manifest.content_hash).not.toBe(before?.manifest.content_hash)
  expect(after?.answer('daily', WINDOW, 'ndjson').pieces.join('').split('\n')).toHaveLength(2 * 51 + 1)
})

test('refuses a withdrawn release with 410, even if it was in memory', async () => {
  const { publicDir, releases } = await published()
  await releases.find(FIRST)
  await withdraw(publicDir, FIRST)
  const asking = releases.find(FIRST)
  await expect(asking).rejects.toThrow(ApiError)
  await expect(asking).rejects.toMatchObject({
    status: 410,
    metadata: { tombstone: `/${FOLDER}/releases/${FIRST}/TOMBSTONE.json` },
  })
})

test('refuses a release whose manifest differs from the index, each time, but no other', async () => {
  const { publicDir, releases } = await published()
  await writeFile(join(publicDir, FOLDER, 'releases', FIRST, 'manifest.json'), '{}')
  for (let i = 0; i < 2; i++) {
    const asking = releases.find(FIRST)
    await expect(asking).rejects.toThrow(ReleaseError)
    await expect(asking).rejects.toThrow(/sha256 of manifest.json is [0-9a-f]+, but [0-9a-f]+ was promised/)
  }
  expect((await releases.find(SECOND))?.manifest.release).toBe(SECOND)
})

test('reports an unreadable index, and reads it again once it is right', async () => {
  const { publicDir, releases } = await published()
  await writeFile(join(publicDir, FOLDER, 'releases/index.json'), '{"dataset":')
  await expect(releases.find(FIRST)).rejects.toThrow(/index.json is not valid/)
  await writeIndex(publicDir)
  expect((await releases.find(FIRST))?.manifest.release).toBe(FIRST)
})

describe('with a history', () => {
  const NONE = { mostLoading: 0 }

  // Followed files are checked each second: not by chance while a test runs.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test('reads no release, however many are asked for, and has those whose data files were dropped', async () => {
    const { publicDir, releases, messages } = await published(NONE)
    await writeHistory(publicDir)
    await drop(publicDir, FIRST)
    await writeIndex(publicDir)
    const asked = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? FIRST : SECOND))
    const found = await Promise.all(asked.map((name) => releases.find(name)))
    expect(found.map((dataset) => dataset?.manifest.release)).toEqual(asked)
    expect(found[0]?.answer('daily', WINDOW, 'ndjson').pieces.join('').split('\n')).toHaveLength(3 * 51 + 1)
    expect(messages()).toEqual(['history loaded'])
  })

  test('refuses a withdrawn release, and finds a dropped one as soon as the history has it', async () => {
    const { publicDir, releases, messages } = await published(NONE)
    await writeHistory(publicDir)
    await releases.find(FIRST)
    await withdraw(publicDir, FIRST)
    await expect(releases.find(FIRST)).rejects.toMatchObject({ status: 410 })
    const third = await publish(publicDir, sampleRows({ days: 5 }), { asOf: '2025-01-06T00:00:00Z' })
    await rm(join(publicDir, FOLDER, 'releases', FIRST), { recursive: true })
    await writeHistory(publicDir)
    await drop(publicDir, third)
    await writeIndex(publicDir)
    expect((await releases.find(SECOND))?.manifest.release).toBe(SECOND)
    expect((await releases.find(third))?.manifest.days).toBe(5)
    expect(messages().filter((message) => message === 'history loaded')).toHaveLength(2)
  })

  test('reads a release from its files while the history, read once, is damaged or does not have it', async () => {
    const { publicDir, releases, loaded, messages } = await published()
    const history = join(publicDir, FOLDER, 'history.csv.gz')
    await writeHistory(publicDir, (csv) => csv.replaceAll(/^daily,2025-01-04.*\n/gm, ''))
    const whole = await readFile(history)
    await writeFile(history, 'no gzip')
    expect((await releases.find(FIRST))?.manifest.release).toBe(FIRST)
    await drop(publicDir, FIRST)
    await writeIndex(publicDir)
    for (let i = 0; i < 5; i++) expect((await releases.find(FIRST))?.manifest.release).toBe(FIRST)
    await writeFile(history, whole)
    expect((await releases.find(FIRST))?.manifest.release).toBe(FIRST)
    expect((await releases.find(SECOND))?.manifest.release).toBe(SECOND)
    expect(messages()).toEqual([
      'the history is refused',
      'older release loaded',
      'history loaded',
      'the history does not have the rows of the release',
      'older release loaded',
    ])
    expect(loaded().at(-1)).toBe(SECOND)
  })
})
