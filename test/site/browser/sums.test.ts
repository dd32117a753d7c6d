import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, startOf } from '../../../pipeline/site/browser/explore/calendar.ts'
import { OTHER, type Row } from '../../../pipeline/site/browser/explore/row.ts'
import {
  chooseSeries,
  MOST_SERIES,
  OTHER_NAME,
  REST_NAME,
  sumOf,
} from '../../../pipeline/site/browser/explore/series.ts'
import { isPartial, sumRows } from '../../../pipeline/site/browser/explore/sums.ts'
import { GRAINS } from '../../../pipeline/site/browser/explore/view.ts'
import { resolveWindow } from '../../../pipeline/site/browser/explore/window.ts'
import { tries } from '../../support/property.ts'
import { rowsFrom } from './rows.ts'

const { options } = tries({ share: 10 })
const BIG = 2n ** 63n - 1n

/** Rows of some dates, with gaps, in the order of dates. */
const rows = fc
  .uniqueArray(
    fc.record({
      date: fc.nat(70).map((days) => addDays('2025-12-20', days)),
      model_permaslug: fc.constantFrom(
        'a',
        'b',
        'c/d',
        'e:free',
        OTHER,
        ...Array.from({ length: 12 }, (_, i) => `m${i}`),
      ),
      total_tokens: fc.bigInt({ min: 1n, max: BIG }),
    }),
    { selector: (row) => `${row.date} ${row.model_permaslug}`, minLength: 1, maxLength: 200 },
  )
  .map((list): Row[] => list.sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date))))
const window = fc.tuple(fc.nat(70), fc.nat(70)).map(([from, days]) => {
  return { from: addDays('2025-12-20', from), to: addDays('2025-12-20', from + days) }
})

describe('sums of the explorer', () => {
  test('equal the rows of each period added up, to the last digit', () => {
    fc.assert(
      fc.property(rows, window, fc.constantFrom(...GRAINS), (list, { from, to }, grain) => {
        const sums = sumRows(list, { from, to }, grain)
        const inWindow = list.filter(({ date }) => date >= from && date <= to)
        for (const [position, { start, days }] of sums.periods.entries()) {
          const own = inWindow.filter(({ date }) => startOf(date, grain) === start)
          expect(days).toBe(new Set(own.map(({ date }) => date)).size)
          expect(sums.totals[position]).toBe(own.length === 0 ? null : own.reduce((sum, r) => sum + r.total_tokens, 0n))
          for (const [slug, values] of sums.models) {
            const tokens = own.filter((row) => row.model_permaslug === slug).map((row) => row.total_tokens)
            expect(values[position]).toBe(tokens.length === 0 ? null : sumOf(tokens))
          }
        }
        expect(sumOf(sums.totals)).toBe(sumOf(inWindow.map((row) => row.total_tokens)))
      }),
      options,
    )
  })

  test('have each period of the window once, also periods without rows', () => {
    const sums = sumRows(rowsFrom('2026-01-05 a 1\n2026-01-08 a 2'), { from: '2026-01-04', to: '2026-01-08' }, 'day')
    expect(sums.periods.map(({ name }) => name)).toEqual([
      '2026-01-04',
      '2026-01-05',
      '2026-01-06',
      '2026-01-07',
      '2026-01-08',
    ])
    expect(sums.models.get('a')).toEqual([null, 1n, null, null, 2n])
    expect(sums.totals).toEqual([null, 1n, null, null, 2n])
  })

  test('name weeks by their Monday, and months by year and month', () => {
    const window = { from: '2025-12-31', to: '2026-02-01' }
    const names = (grain: 'week' | 'month') =>
      sumRows(rowsFrom('2026-01-05 a 1'), window, grain).periods.map(({ name }) => name)
    expect(names('week')).toEqual(['2025-12-29', '2026-01-05', '2026-01-12', '2026-01-19', '2026-01-26'])
    expect(names('month')).toEqual(['2025-12', '2026-01', '2026-02'])
  })

  test('mark periods that are partial: cut by the window or with missing days', () => {
    const days = Array.from({ length: 14 }, (_, i) => `${addDays('2026-01-05', i)} a 1`)
    const whole = sumRows(rowsFrom(days.join('\n')), { from: '2026-01-05', to: '2026-01-18' }, 'week')
    expect(whole.periods.map(isPartial)).toEqual([false, false])
    const cut = sumRows(rowsFrom(days.join('\n')), { from: '2026-01-06', to: '2026-01-17' }, 'week')
    expect(cut.periods.map(({ days, length }) => [days, length])).toEqual([
      [6, 7],
      [6, 7],
    ])
    expect(cut.periods.map(isPartial)).toEqual([true, true])
    const gap = sumRows(rowsFrom(days.toSpliced(3, 1).join('\n')), { from: '2026-01-05', to: '2026-01-18' }, 'week')
    expect(gap.periods.map(isPartial)).toEqual([true, false])
  })
})

describe('series of the explorer', () => {
  test('add up to all tokens with the rest, whichever models are chosen', () => {
    const chosen = fc.uniqueArray(fc.constantFrom('a', 'b', 'm1', 'm2', 'unknown'))
    fc.assert(
      fc.property(rows, window, fc.constantFrom(...GRAINS), chosen, (list, place, grain, models) => {
        const sums = sumRows(list, place, grain)
        const series = chooseSeries(sums, models, true)
        for (const [position, total] of sums.totals.entries())
          expect(sumOf(series.map(({ values }) => values[position] ?? null))).toBe(total ?? 0n)
        expect(series.filter(({ kind }) => kind === 'model').length).toBeLessThanOrEqual(MOST_SERIES)
      }),
      options,
    )
  })

  const crowd = rowsFrom(
    [
      ...Array.from({ length: 12 }, (_, i) => `2026-01-01 model-${String(i).padStart(2, '0')} ${100 - i}`),
      '2026-01-01 other 500',
    ].join('\n'),
  )
  const day = { from: '2026-01-01', to: '2026-01-01' }

  test('are by default the ten models with the most tokens in the window, the rest and `other`', () => {
    const series = chooseSeries(sumRows(crowd, day, 'day'), [], true)
    expect(series.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 10 }, (_, i) => `model-${String(i).padStart(2, '0')}`),
      REST_NAME,
      OTHER_NAME,
    ])
    expect(series.at(-2)?.values).toEqual([90n + 89n])
    expect(series.at(-1)?.values).toEqual([500n])
  })

  test('are the chosen models, largest first, without the rest if it is switched off', () => {
    const sums = sumRows(crowd, day, 'day')
    const names = chooseSeries(sums, ['model-11', 'model-02', 'nowhere'], false).map(({ name }) => name)
    expect(names).toEqual(['model-02', 'model-11', 'nowhere'])
    expect(chooseSeries(sums, ['nowhere'], false)[0]?.values).toEqual([null])
  })
})

describe('a window of the explorer', () => {
  const reach = { from: '2025-03-01', to: '2025-05-31' }
  const resolve = (window: Parameters<typeof resolveWindow>[0]) => resolveWindow(window, reach)

  test('given in days ends with the release, and begins with it at the earliest', () => {
    expect(resolve({ days: 30 }).window).toEqual({ from: '2025-05-02', to: '2025-05-31' })
    expect(resolve({ days: 365 }).window).toEqual(reach)
    expect(resolve({ days: 'all' })).toEqual({ window: reach, notices: [] })
  })

  test('given by two dates is cut to the release with a notice', () => {
    expect(resolve({ from: '2025-04-01', to: '2025-04-02' })).toEqual({
      window: { from: '2025-04-01', to: '2025-04-02' },
      notices: [],
    })
    const cut = resolve({ from: '2025-01-01', to: '2025-12-31' })
    expect(cut.window).toEqual(reach)
    expect(cut.notices).toHaveLength(1)
  })

  test('outside the release is replaced by the default with a notice', () => {
    const outside = resolve({ from: '2024-01-01', to: '2024-02-01' })
    expect(outside.window).toEqual({ from: '2025-03-03', to: '2025-05-31' })
    expect(outside.notices).toHaveLength(1)
  })
})
