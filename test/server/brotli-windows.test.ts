import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import { brotliWindows } from '../../server/published/brotli-windows.ts'
import { datasetOf, serialiseRelease } from '../../server/published/dataset.ts'
import { readCurrentRelease } from '../../server/published/release.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'
import { publish, sampleRows } from '../support/publish.ts'

const WINDOW = { start_date: '2025-01-01', end_date: '2025-01-03' }

async function prepare() {
  const publicDir = await temporaryFolder()
  await publish(publicDir, sampleRows({ days: 3 }))
  const captured = captureLog()
  const { log } = fastify({ logger: { level: 'info', stream: captured.stream } })
  return { dataset: datasetOf(serialiseRelease(await readCurrentRelease(publicDir))), log, captured }
}

test('an answer is made once, while nobody waits for it', async () => {
  const { dataset, log } = await prepare()
  const compress = vi.fn((bytes: Buffer) => promisify(brotliCompress)(bytes))
  const find = brotliWindows(log, compress)
  expect(find(dataset, WINDOW, 'json')).toBeUndefined()
  expect(find(dataset, WINDOW, 'json')).toBeUndefined()
  await expect.poll(() => find(dataset, WINDOW, 'json')).toBeDefined()
  const { pieces, bytes } = find(dataset, WINDOW, 'json') ?? { pieces: [], bytes: 0 }
  const packed = Buffer.concat(pieces)
  expect(packed.length).toBe(bytes)
  expect(brotliDecompressSync(packed)).toEqual(Buffer.concat(dataset.answer(WINDOW, 'json').pieces))
  expect(compress).toHaveBeenCalledTimes(1)
})

test('where compressing fails there is none, the log says so once, and it is not tried again', async () => {
  const { dataset, log, captured } = await prepare()
  const compress = vi.fn(async () => Promise.reject(new Error('no memory')))
  const find = brotliWindows(log, compress)
  expect(find(dataset, WINDOW, 'json')).toBeUndefined()
  await expect.poll(() => captured.lines().length).toBe(1)
  expect(captured.lines()[0]).toMatchObject({ level: 50, err: { message: 'no memory' } })
  expect(find(dataset, WINDOW, 'json')).toBeUndefined()
  expect(compress).toHaveBeenCalledTimes(1)
})
