import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { loadAhead, loadHistory, loadRelease } from '../../server/published/loaders.ts'
import { temporaryFolder } from '../support/app.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { writeHistory } from '../support/published-history.ts'

const WINDOW = { start_date: '2025-01-01', end_date: '2025-01-03' }

async function published(options = {}) {
  const publicDir = await temporaryFolder()
  await publish(publicDir, sampleRows({ days: 3 }), options)
  return publicDir
}

test('loads a release in a thread, first its days, plain, and then with weeks, months and gzip', async () => {
  const { plain, whole } = loadRelease({ publicDir: await published({ periods: true }), isFirst: true })
  const [first, complete] = [await plain, await whole]
  expect([first.has('weekly'), complete.has('weekly')]).toEqual([false, true])
  expect([first.hasGzip, complete.hasGzip]).toEqual([false, true])
  const bytes = Buffer.concat(first.answer('daily', WINDOW, 'json').pieces)
  expect(JSON.parse(bytes.toString()).data).toHaveLength(3 * 51)
  expect(gunzipSync(Buffer.concat(complete.answer('daily', WINDOW, 'json', 'gzip').pieces))).toEqual(bytes)
})

test('loads the history in a thread, first plain, and then with gzip', async () => {
  const publicDir = await published()
  await writeHistory(publicDir)
  const { plain, whole } = loadHistory({ path: join(publicDir, FOLDER, 'history.csv.gz'), isFirst: true })
  const [first, complete] = [await plain, await whole]
  expect([first.daily?.gzip, complete.daily?.gzip?.json.crcs.length]).toEqual([undefined, 3])
  expect(complete.daily?.rows).toEqual(first.daily?.rows)
})

test('rejects both promises with the reason when a release is invalid', async () => {
  const publicDir = await published({ spoilRows: (bytes: Buffer) => bytes.subarray(1) })
  const { plain, whole } = loadRelease({ publicDir })
  for (const loading of [plain, whole]) {
    await expect(loading).rejects.toMatchObject({
      name: 'ReleaseError',
      message: expect.stringContaining('size of rankings-daily.ndjson.gz'),
    })
  }
})

test('does not use a load that began ahead when the pointer has changed since', async () => {
  const publicDir = await published({ asOf: '2025-01-04T00:00:00Z' })
  await loadAhead(publicDir)
  await publish(publicDir, sampleRows({ days: 3 }), { asOf: '2025-01-05T00:00:00Z' })
  const { manifest } = await loadRelease({ publicDir, stamp: 'that of the new one' }).plain
  expect(manifest.release).toBe('20250105T000000Z')
})
