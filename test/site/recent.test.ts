import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OTHER, type RankingRow } from '../../pipeline/contract/ranking.ts'
import { recentDays } from '../../pipeline/site/recent.ts'
import { manyRows, rowsOf } from '../support/rows.ts'

const totalOf = (rows: readonly RankingRow[], date: string) =>
  rows.filter((row) => row.date === date).reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)

describe('recentDays', () => {
  it('takes at most the last 90 days', () => {
    const dates = recentDays(manyRows(200, 3)).periods.map(({ start }) => start)
    expect([dates.length, dates[0], dates.at(-1)]).toEqual([90, '2026-08-22', '2026-11-19'])
    expect(recentDays(manyRows(5, 3)).periods.length).toBe(5)
  })

  it('names the eight models with the most tokens within the window, and sums all others', () => {
    const old = rowsOf([['2026-01-01', { 'was/great': 10n ** 17n }]])
    const rows = [...old, ...manyRows(90, 12)]
    const { series } = recentDays(rows)
    expect(series.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 8 }, (_, rank) => `author-${rank % 7}/model-number-${rank}-20260101`),
      'all others',
    ])
    expect(series.at(-1)?.paint).toBe('rest')
  })

  it('orders models with equal tokens by code points', () => {
    const tokens = Object.fromEntries(['ｚ', '😀', 'b', 'a', 'c', 'd', 'e', 'f'].map((name) => [name, 1]))
    const { series } = recentDays(rowsOf([['2026-11-19', tokens]]))
    expect(series.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'ｚ', '😀'])
  })

  it('has no series of all others if every model is named', () => {
    expect(recentDays(rowsOf([['2026-11-19', { a: 3, b: 2 }]])).series.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('is null on dates without rows and on dates that do not name the model', () => {
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

  it('sums to the tokens of each day, to the last digit', () => {
    const tokens = fc.dictionary(fc.constantFrom(...'abcdefghijklmno', OTHER), fc.bigInt({ min: 1n, max: 2n ** 62n }), {
      minKeys: 1,
    })
    fc.assert(
      fc.property(fc.array(tokens, { minLength: 1, maxLength: 5 }), (days) => {
        const rows = rowsOf(days.map((day, index) => [`2026-11-1${index}`, day] as const))
        const { periods, series } = recentDays(rows)
        for (const [index, { start }] of periods.entries()) {
          expect(series.reduce((sum, { values }) => sum + (values[index] ?? 0n), 0n)).toBe(totalOf(rows, start))
        }
      }),
    )
  })
})
