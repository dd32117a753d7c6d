import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OTHER, sumTokens } from '../../pipeline/contract/ranking.ts'
import { recentDays } from '../../pipeline/site/recent.ts'
import { manyRows, rowsOf } from '../support/rows.ts'

const namesOf = (rows: Parameters<typeof recentDays>[0]) => recentDays(rows).series.map(({ name }) => name)

it('recentDays takes at most the last 90 days', () => {
  const dates = recentDays(manyRows(200, 3)).periods.map(({ start }) => start)
  expect([dates.length, dates[0], dates.at(-1)]).toEqual([90, '2026-08-22', '2026-11-19'])
  expect(recentDays(manyRows(5, 3)).periods.length).toBe(5)
})

it('recentDays names the eight models with the most tokens within the window, equal ones by code points', () => {
  const old = rowsOf([['2026-01-01', { 'was/great': 10n ** 17n }]])
  const largest = Array.from({ length: 8 }, (_, rank) => `author-${rank % 7}/model-number-${rank}-20260101`)
  expect(namesOf([...old, ...manyRows(90, 12)])).toEqual([...largest, 'all others'])
  const tokens = Object.fromEntries(['ｚ', '😀', 'b', 'a', 'c', 'd', 'e', 'f'].map((name) => [name, 1]))
  expect(namesOf(rowsOf([['2026-11-19', tokens]]))).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'ｚ', '😀'])
})

it('recentDays is null on dates without rows and on dates that do not name the model', () => {
  const rows = rowsOf([
    ['2026-11-17', { a: 5, [OTHER]: 1 }],
    ['2026-11-19', { b: 4, a: 3 }],
  ])
  expect(recentDays(rows).series).toEqual([
    { name: 'a', paint: 's0', values: [5n, null, 3n] },
    { name: 'b', paint: 's1', values: [null, null, 4n] },
    { name: 'all others', paint: 'rest', values: [1n, null, 0n] },
  ])
})

it('recentDays sums to the tokens of each day, to the last digit', () => {
  const names = fc.constantFrom(...'abcdefghijklmno', OTHER)
  const tokens = fc.dictionary(names, fc.bigInt({ min: 1n, max: 2n ** 62n }), { minKeys: 1 })
  fc.assert(
    fc.property(fc.array(tokens, { minLength: 1, maxLength: 5 }), (days) => {
      const rows = rowsOf(days.map((day, index) => [`2026-11-1${index}`, day] as const))
      const { periods, series } = recentDays(rows)
      for (const [index, { start }] of periods.entries()) {
        const all = sumTokens(rows.filter(({ date }) => date === start))
        expect(series.reduce((sum, { values }) => sum + (values[index] ?? 0n), 0n)).toBe(all)
      }
    }),
  )
})
