import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsText, shareOf } from '../../server/published/selected-text.ts'
import { rankedTable, selectRows } from '../../server/published/selection.ts'
import { sampleRows } from '../support/publish.ts'

test('a share is rounded half up to 6 decimals, exactly', () => {
  expect(shareOf(1n, 2_000_000n)).toBe(0.000001)
  expect(shareOf(10n ** 30n - 1n, 2_000_000n * 10n ** 30n)).toBe(0)
  expect(shareOf(2n, 3n)).toBe(0.666667)
  expect(shareOf(0n, 0n)).toBe(0)
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 10n ** 20n }), (part, rest) => {
      const [whole = '', decimals = ''] = String(shareOf(part, part + rest)).split('.')
      const millionths = BigInt(whole + decimals.padEnd(6, '0'))
      const twice = 2n * 1_000_000n * part
      expect(twice - 2n * millionths * (part + rest) < part + rest).toBe(true)
      expect(2n * millionths * (part + rest) - twice <= part + rest).toBe(true)
    }),
  )
})

test('lets other requests run while a long answer is written', async () => {
  const byDate = Map.groupBy(sampleRows({ days: 60 }), ({ date }) => date)
  const table = rankedTable([...byDate.keys()], (date) => byDate.get(date) ?? [])
  const rows = await selectRows(table, { first: '2025-01-01', last: '2025-12-31' }, {})
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await rowsText(rows, ['date', 'share'], 'csv', { authors: new Map(), provisionalFrom: '2025-02-07' })
  clearImmediate(next)
  expect(rows).toHaveLength(3060)
  expect(turns).toBeGreaterThanOrEqual(6)
})
