import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FORMATS, type Format } from '../../server/published/formats.ts'
import { temporaryFolder } from '../support/app.ts'
import { DEFAULT_AS_OF, publish, type Row, sampleRows } from '../support/publish.ts'
import { loadCurrent } from '../support/release-loader.ts'

const rows = sampleRows({ days: 20, models: 3 }).filter(({ date }) => !['2025-01-03', '2025-01-09'].includes(date))

async function prepared(published = rows) {
  const publicDir = await temporaryFolder()
  await publish(publicDir, published)
  return await loadCurrent(publicDir)
}

/** The specification of the formats, as plainly as it can be written. */
const EXPECTED: Record<Format, (expected: Row[], start_date: string, end_date: string) => string> = {
  json: (data, start_date, end_date) =>
    JSON.stringify({ data, meta: { as_of: DEFAULT_AS_OF, start_date, end_date, version: 'v1' } }),
  csv: (data) =>
    ['date,model_permaslug,total_tokens', ...data.map((row) => Object.values(row).join(',')), ''].join('\n'),
  ndjson: (data) => data.map((row) => `${JSON.stringify(row)}\n`).join(''),
}

test.each(FORMATS)('a window contains exactly its rows: %s', async (format) => {
  const dataset = await prepared()
  const day = fc.integer({ min: 1, max: 25 }).map((n) => `2025-01-${String(n).padStart(2, '0')}`)
  fc.assert(
    fc.property(day, day, (a, b) => {
      const [start_date, end_date] = a < b ? [a, b] : [b, a]
      const { pieces, bytes } = dataset.answer('daily', { start_date, end_date }, format)
      const body = Buffer.concat(pieces)
      expect(bytes).toBe(body.length)
      const expected = rows.filter(({ date }) => date >= start_date && date <= end_date)
      expect(body.toString()).toBe(EXPECTED[format](expected, start_date, end_date))
    }),
  )
})

test.each(FORMATS)('answers share the bytes of their rows: %s', async (format) => {
  const dataset = await prepared()
  const rowsOf = (end_date: string) =>
    dataset.answer('daily', { start_date: '2025-01-01', end_date }, format).pieces[format === 'ndjson' ? 0 : 1]
  expect(rowsOf('2025-01-02')?.buffer).toBe(rowsOf('2025-01-20')?.buffer)
  expect(rowsOf('2025-01-02')?.byteOffset).toBe(rowsOf('2025-01-20')?.byteOffset)
})

test('the CSV of the whole release has the content hash of the manifest', async () => {
  const odd = ['a,b', 'a"b', 'a\rb'].map((model_permaslug, i) => ({
    date: '2025-01-01',
    model_permaslug,
    total_tokens: String(9 - i),
  }))
  const dataset = await prepared(odd)
  const { pieces } = dataset.answer('daily', { start_date: '2025-01-01', end_date: '2025-01-01' }, 'csv')
  const csv = Buffer.concat(pieces)
  expect(csv.toString()).toContain('\n2025-01-01,"a,b",9\n2025-01-01,"a""b",8\n2025-01-01,"a\rb",7\n')
  expect(`sha256:${createHash('sha256').update(csv).digest('hex')}`).toBe(dataset.manifest.content_hash)
})

test('bytes is the size of all rows in every format, of their gzip and of their objects', async () => {
  const dataset = await prepared()
  const window = { start_date: '2025-01-01', end_date: '2025-01-31' }
  const head = 'date,model_permaslug,total_tokens\n'.length
  const ofFormat = (format: Format) => dataset.answer('daily', window, format).bytes
  const [csv, ndjson] = [ofFormat('csv') - head, ofFormat('ndjson')]
  const ofObjects = dataset.bytes - csv - 2 * ndjson
  expect(ofObjects).toBeGreaterThan(rows.length * 100)
  expect(ofObjects).toBeLessThan(rows.length * 300)
})
