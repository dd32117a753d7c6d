import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TABLES, type Table } from '../../pipeline/contract/tables.ts'
import { type Window, wholePeriods } from '../../pipeline/contract/window.ts'
import type { Dataset } from '../../server/published/dataset.ts'
import { FORMATS, type Format } from '../../server/published/negotiation.ts'
import { temporaryFolder } from '../support/app.ts'
import { DEFAULT_AS_OF, firstOf, periodsOf, publish, type Row, sampleRows } from '../support/publish.ts'
import { loadCurrent } from '../support/release-loader.ts'

const GAPS = ['2025-01-03', '2025-01-09', '2025-02-10']
const rows = sampleRows({ days: 70, models: 3 }).filter(({ date }) => !GAPS.includes(date))

async function load(published: Row[]): Promise<Dataset> {
  const publicDir = await temporaryFolder()
  await publish(publicDir, published, { periods: true })
  return await loadCurrent(publicDir)
}

let loaded: Promise<Dataset> | undefined

/** The dataset of `rows`. It is immutable, so all tests share it. */
function prepared(): Promise<Dataset> {
  loaded ??= load(rows)
  return loaded
}

/** The specification of the formats, as plainly as it can be written. */
const EXPECTED: Record<Format, (expected: Row[], window: Window, columns: string) => string> = {
  json: (data, window) => JSON.stringify({ data, meta: { as_of: DEFAULT_AS_OF, ...window, version: 'v1' } }),
  csv: (data, _window, columns) => [columns, ...data.map((row) => Object.values(row).join(',')), ''].join('\n'),
  ndjson: (data) => data.map((row) => `${JSON.stringify(row)}\n`).join(''),
}

const DATES = Array.from({ length: 80 }, (_, day) => new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10))

function rowsOf(table: Table): Row[] {
  return table === 'daily' ? rows : periodsOf(table, rows)
}

/** Filters the published table by hand: a week is shown if one of its dates is in the window. */
function rowsOfWindow(table: Table, { start_date, end_date }: Window): Row[] {
  const dates = DATES.filter((date) => date >= start_date && date <= end_date)
  const periods = new Set(dates.map((date) => (table === 'daily' ? date : firstOf(table, date))))
  return rowsOf(table).filter(({ date }) => periods.has(date))
}

test.each(TABLES.flatMap((table) => FORMATS.map((format) => ({ table, format }))))(
  'a window contains exactly its rows, plain and in gzip: $table, $format',
  async ({ table, format }) => {
    const dataset = await prepared()
    const date = fc.constantFrom(...DATES)
    fc.assert(
      fc.property(date, date, (a, b) => {
        const asked = a < b ? { start_date: a, end_date: b } : { start_date: b, end_date: a }
        const expected = rowsOfWindow(table, asked)
        const window = wholePeriods(table, asked, dataset.manifest)
        const { pieces, bytes } = dataset.answer(table, window, format)
        const body = Buffer.concat(pieces)
        expect(bytes).toBe(body.length)
        const columns = `date,model_permaslug,total_tokens${table === 'daily' ? '' : ',days'}`
        expect(body.toString()).toBe(EXPECTED[format](expected, window, columns))
        const packed = dataset.answer(table, window, format, 'gzip')
        expect(gunzipSync(Buffer.concat(packed.pieces)).equals(body)).toBe(true)
        expect(dataset.rows(table, window)).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  },
)

test.each(FORMATS)('answers share the bytes of their rows: %s', async (format) => {
  const dataset = await prepared()
  const rowsOf = (end_date: string) =>
    dataset.answer('daily', { start_date: '2025-01-01', end_date }, format).pieces[format === 'ndjson' ? 0 : 1]
  expect(rowsOf('2025-01-02')?.buffer).toBe(rowsOf('2025-01-20')?.buffer)
  expect(rowsOf('2025-01-02')?.byteOffset).toBe(rowsOf('2025-01-20')?.byteOffset)
})

test('bytes is the size of all rows in every format, of their gzip and of their objects', async () => {
  const dataset = await prepared()
  const window = { start_date: '2025-01-01', end_date: '2025-12-31' }
  const bytesOf = (format: Format) => TABLES.map((table) => dataset.answer(table, window, format).bytes)
  const ofFormats = [...bytesOf('csv'), ...bytesOf('ndjson'), ...bytesOf('ndjson')].reduce((sum, bytes) => sum + bytes)
  const length = TABLES.reduce((sum, table) => sum + dataset.rows(table).length, 0)
  expect(dataset.bytes - ofFormats).toBeGreaterThan(length * 100)
  expect(dataset.bytes - ofFormats).toBeLessThan(length * 400)
})
