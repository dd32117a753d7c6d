import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prepareDataset } from '../../server/dataset.ts'
import { readCurrentRelease } from '../../server/release.ts'
import { temporaryFolder } from '../support/app.ts'
import { DEFAULT_AS_OF, publish, sampleRows } from '../support/publish.ts'

const rows = sampleRows({ days: 20, models: 3 }).filter(({ date }) => !['2025-01-03', '2025-01-09'].includes(date))

async function prepared() {
  const publicDir = await temporaryFolder()
  await publish(publicDir, rows)
  return prepareDataset(await readCurrentRelease(publicDir))
}

test('any window is answered with exactly its rows', async () => {
  const dataset = await prepared()
  const day = fc.integer({ min: 1, max: 25 }).map((n) => `2025-01-${String(n).padStart(2, '0')}`)
  fc.assert(
    fc.property(day, day, (a, b) => {
      const [start_date, end_date] = a < b ? [a, b] : [b, a]
      const { pieces, bytes } = dataset.answer({ start_date, end_date })
      const body = Buffer.concat(pieces)
      expect(bytes).toBe(body.length)
      expect(body.toString()).toBe(
        JSON.stringify({
          data: rows.filter(({ date }) => date >= start_date && date <= end_date),
          meta: { as_of: DEFAULT_AS_OF, start_date, end_date, version: 'v1' },
        }),
      )
    }),
  )
})

test('the rows of an answer are not copied', async () => {
  const dataset = await prepared()
  const rowsOf = (end_date: string) => dataset.answer({ start_date: '2025-01-01', end_date }).pieces[1]
  expect(rowsOf('2025-01-02')?.buffer).toBe(rowsOf('2025-01-20')?.buffer)
  expect(rowsOf('2025-01-02')?.byteOffset).toBe(rowsOf('2025-01-20')?.byteOffset)
})
