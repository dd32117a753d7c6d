/** What rankings need beyond the exchanges in `test/server/exchanges/rankings-daily.http`. */
import { expect, test } from 'vitest'
import { FORMATS } from '../../../server/published/negotiation.ts'
import { RANKINGS, type TestApp, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { publish, sampleRows } from '../../support/publish.ts'
import { writeIndex } from '../../support/release-index.ts'
import { heldLoads, loadReleaseHere } from '../../support/release-loader.ts'

const rows = sampleRows()

function getter({ app, authorized }: TestApp) {
  return (query = '', headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: RANKINGS + query, headers: { ...authorized, ...headers } })
}

test('as_of answers from an older release while no release is current', async () => {
  const setup = await testApp()
  const get = getter(setup)
  await publish(setup.publicDir, rows, { spoilRows: (bytes) => bytes.subarray(1) })
  await publish(setup.publicDir, rows, {
    asOf: '2025-02-05T00:12:00Z',
    spoilPointer: (pointer) => Object.assign(pointer, { rows: 1 }),
  })
  await writeIndex(setup.publicDir)
  assertEnvelope(await get(), 503)
  expect((await get('?as_of=20250205T001200Z')).statusCode).toBe(200)
})

test('each period, form and coding has a tag of its own, by which it is 304, and is the same for HEAD and as_of', async () => {
  const setup = await testApp()
  const get = getter(setup)
  const release = await publish(setup.publicDir, sampleRows({ models: 2 }), { periods: true })
  await writeIndex(setup.publicDir)
  await setup.app.ready()
  await setup.app.releases.complete()
  const tags = new Set<unknown>()
  const choices = ['day', 'week', 'month'].flatMap((period) =>
    FORMATS.map((format) => `?period=${period}&format=${format}`),
  )
  for (const query of choices) {
    for (const coding of ['gzip', 'identity']) {
      const accept = { 'accept-encoding': coding }
      const { headers, rawPayload } = await get(query, accept)
      const { date, 'x-request-id': id, ...same } = headers
      tags.add(headers.etag)
      expect((await get(query, accept, 'HEAD')).headers).toMatchObject(same)
      expect((await get(query, { ...accept, 'if-none-match': String(headers.etag) })).statusCode).toBe(304)
      for (const asOf of [release, '2025-02-10T00:12:00Z']) {
        const again = await get(`${query}&as_of=${asOf}`, accept)
        expect(again.headers).toMatchObject(same)
        expect(again.rawPayload.equals(rawPayload)).toBe(true)
      }
    }
  }
  expect(tags.size).toBe(18)
})

test('answers with weeks once they are read, and with 503 if they cannot be, while it answers with days', async () => {
  const gate = Promise.withResolvers<void>()
  const setup = await testApp({
    loadRelease: (order) => {
      const { plain, whole } = loadReleaseHere(order)
      return { plain, whole: gate.promise.then(() => whole) }
    },
  })
  const get = getter(setup)
  await publish(setup.publicDir, rows, { periods: true })
  expect((await get()).statusCode).toBe(200)
  const asking = get('?period=week')
  expect((await get('?period=day')).statusCode).toBe(200)
  gate.resolve()
  expect((await asking).statusCode).toBe(200)

  const broken = await testApp()
  await publish(broken.publicDir, rows, {
    periods: true,
    spoilManifest: ({ tables }) => Object.assign(tables?.weekly ?? {}, { rows: 1 }),
  })
  expect((await getter(broken)()).statusCode).toBe(200)
  assertEnvelope(await getter(broken)('?period=month'), 503)
})

test('answers 429 with Retry-After to the key that waits for too many older releases, and still reads those', async () => {
  const { loadRelease, letGo } = heldLoads()
  const setup = await testApp({ loadRelease })
  const asOf = Array.from({ length: 12 }, (_, hour) => `2025-02-05T${String(hour).padStart(2, '0')}:00:00Z`)
  const names: string[] = []
  for (const instant of asOf) names.push(await publish(setup.publicDir, sampleRows({ days: 1 }), { asOf: instant }))
  await publish(setup.publicDir, rows)
  await writeIndex(setup.publicDir)
  await setup.app.ready()
  const get = getter(setup)

  const asking = names.map((name) => get(`?as_of=${name}&start_date=2025-01-01`))
  // Nine of twelve are refused. The gate opens only then: a store may answer late for the last of them.
  const settled: { name: string; refused: Awaited<ReturnType<typeof get>> }[] = []
  for (const [index, name] of names.entries()) asking[index]?.then((refused) => settled.push({ name, refused }))
  await expect.poll(() => settled).toHaveLength(9)
  const { name, refused } = settled[0] ?? expect.unreachable()
  const body = assertEnvelope(refused, 429)
  expect(body).toEqual({
    error: { code: 429, message: 'Too many older releases are being read. Please try again later.' },
    user_id: 'user_ada',
  })
  expect(refused.headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
  expect((await get()).statusCode).toBe(200)
  const headers = { authorization: `Bearer ${await setup.createKey()}` }
  const other = setup.app.inject({ url: `${RANKINGS}?as_of=${name}&start_date=2025-01-01`, headers })
  letGo()
  const statuses = (await Promise.all(asking)).map(({ statusCode }) => statusCode)
  expect(statuses.toSorted()).toEqual([...Array(3).fill(200), ...Array(9).fill(429)])
  expect((await other).statusCode).toBe(200)
})

test('logs each answer as one line, whether it is plain, compressed, a 304 or without a body', async () => {
  const setup = await testApp()
  const get = getter(setup)
  await publish(setup.publicDir, rows)
  const { headers } = await get()
  await get('', { 'accept-encoding': 'gzip' })
  await get('', { 'if-none-match': String(headers.etag) })
  await get('', {}, 'HEAD')
  const lines = setup.log.lines().filter(({ msg }) => msg === 'request')
  expect(lines.map(({ method, status }) => [method, status])).toEqual([
    ['GET', 200],
    ['GET', 200],
    ['GET', 304],
    ['HEAD', 200],
  ])
  expect(new Set(lines.map(({ reqId }) => reqId)).size).toBe(4)
})

test('says under which disclosure rule a release was made, to browsers too, and nothing of others', async () => {
  const setup = await testApp()
  const get = getter(setup)
  const rule = { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' } as const
  await publish(setup.publicDir, rows, { asOf: '2025-02-05T00:12:00Z' })
  await publish(setup.publicDir, rows, {
    spoilManifest: (manifest) => {
      manifest.disclosure = { rule, since: '2025-01-01', protects: ['customers'], exempt: [] }
    },
  })
  await writeIndex(setup.publicDir)
  const { headers } = await get()
  expect(headers['x-dataset-disclosure']).toBe('min_contributors=5; p_percent=10; publish_after_days=3')
  expect(headers['access-control-expose-headers']).toMatch(/, X-Dataset-Disclosure, X-Provisional-From$/)
  const { headers: older } = await get('?as_of=20250205T001200Z')
  expect(older).not.toHaveProperty('x-dataset-disclosure')
  expect(older['access-control-expose-headers']).toMatch(/, X-Request-Id, X-Provisional-From$/)
})
