import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GRAINS } from '../../../pipeline/site/browser/explore/view.ts'
import { resolveWindow, wholePeriods } from '../../../pipeline/site/browser/explore/window.ts'
import { addDays, startOf } from '../../../pipeline/site/chart/calendar.ts'
import { cellsOf, isPartial, isUnfinished } from '../../../pipeline/site/chart/cells.ts'
import { type ChartRow, OTHER, sumOf } from '../../../pipeline/site/chart/rows.ts'
import {
  chooseSeries,
  MOST_SERIES,
  OTHER_NAME,
  REST_NAME,
  type SeriesOptions,
} from '../../../pipeline/site/chart/series.ts'
import { tries } from '../../support/property.ts'
import { rowsFrom } from './rows.ts'

const { options } = tries({ share: 10 })
const BIG = 2n ** 63n - 1n

const MODELS = ['a', 'b', 'c/d', 'e:free', ...Array.from({ length: 12 }, (_, i) => `m${i}`)]

/** Rows of some dates, with gaps, in the order of dates. */
const rows = fc
  .uniqueArray(
    fc.record({
      date: fc.nat(70).map((days) => addDays('2025-12-20', days)),
      model_permaslug: fc.constantFrom(...MODELS, OTHER),
      total_tokens: fc.bigInt({ min: 1n, max: BIG }),
    }),
    { selector: (row) => `${row.date} ${row.model_permaslug}`, minLength: 1, maxLength: 200 },
  )
  .map((list): ChartRow[] => list.sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date))))
const window = fc.tuple(fc.nat(70), fc.nat(70)).map(([from, days]) => {
  return { from: addDays('2025-12-20', from), to: addDays('2025-12-20', from + days) }
})

describe('cells', () => {
  test('are the rows of the window, to the last digit, and their totals', () => {
    fc.assert(
      fc.property(rows, window, fc.constantFrom(...GRAINS), (list, { from, to }, grain) => {
        const own = list.filter(({ date }) => startOf(date, grain) === date)
        const cells = cellsOf(own, { from, to }, grain)
        for (const [position, { start }] of cells.periods.entries()) {
          const ofPeriod = own.filter(({ date }) => date === start)
          const total = ofPeriod.length === 0 ? null : sumOf(ofPeriod.map((row) => BigInt(row.total_tokens)))
          expect(cells.totals[position]).toBe(total)
          for (const [slug, values] of cells.names) {
            const row = ofPeriod.find(({ model_permaslug }) => model_permaslug === slug)
            expect(values[position]).toBe(row?.total_tokens ?? null)
          }
        }
      }),
      options,
    )
  })

  test('have each period of the window once, also periods without rows', () => {
    const cells = cellsOf(rowsFrom('2026-01-05 a 1\n2026-01-08 a 2'), { from: '2026-01-04', to: '2026-01-08' }, 'day')
    expect(cells.periods.map(({ name }) => name)).toEqual([4, 5, 6, 7, 8].map((day) => `2026-01-0${day}`))
    expect(cells.names.get('a')).toEqual([null, 1n, null, null, 2n])
    expect(cells.totals).toEqual([null, 1n, null, null, 2n])
  })

  test('name weeks by their Monday, and months by year and month', () => {
    const window = { from: '2025-12-31', to: '2026-02-01' }
    const names = (grain: 'week' | 'month') => cellsOf([], window, grain).periods.map(({ name }) => name)
    expect(names('week')).toEqual(['2025-12-29', '2026-01-05', '2026-01-12', '2026-01-19', '2026-01-26'])
    expect(names('month')).toEqual(['2025-12', '2026-01', '2026-02'])
  })

  test('mark weeks with fewer days, and provisional ones', () => {
    const weeks = rowsFrom('2026-01-05 a 9 6\n2026-01-12 a 9 7\n2026-01-19 a 9 7\n2026-01-26 a 9 2')
    const { periods } = cellsOf(weeks, { from: '2026-01-06', to: '2026-01-27' }, 'week', {
      provisionalFrom: '2026-01-19',
    })
    expect(periods.map(isPartial)).toEqual([true, false, false, true])
    expect(periods.map(({ isProvisional }) => isProvisional)).toEqual([false, false, true, true])
    expect(periods.map(isUnfinished)).toEqual([true, false, true, true])
  })
})

const NONE: SeriesOptions = { rest: 'none', order: [] }

describe('series', () => {
  test('add up to all tokens with the rest, whichever models are chosen', () => {
    const chosen = fc.uniqueArray(fc.constantFrom('a', 'b', 'm1', 'm2', 'unknown'))
    fc.assert(
      fc.property(rows, window, chosen, fc.constantFrom('joined', 'apart'), (list, place, models, rest) => {
        const cells = cellsOf(list, place, 'day')
        const series = chooseSeries(cells, { chosen: models, rest, order: [] })
        for (const [position, total] of cells.totals.entries())
          expect(sumOf(series.map(({ values }) => values[position] ?? null))).toBe(total ?? 0n)
        expect(series.filter(({ paint }) => paint.startsWith('s')).length).toBeLessThanOrEqual(MOST_SERIES)
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

  test('are by default the eight models with the most tokens in the window, the rest and `other`', () => {
    const series = chooseSeries(cellsOf(crowd, day, 'day'), { rest: 'apart', order: [] })
    expect(series.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 8 }, (_, i) => `model-${String(i).padStart(2, '0')}`),
      REST_NAME,
      OTHER_NAME,
    ])
    expect(series.at(-2)?.values).toEqual([92n + 91n + 90n + 89n])
    expect(series.at(-1)?.values).toEqual([500n])
  })

  test('are the chosen models, largest first, without the rest if it is switched off', () => {
    const cells = cellsOf(crowd, day, 'day')
    const names = chooseSeries(cells, { ...NONE, chosen: ['model-11', 'model-02', 'nowhere'] }).map(({ name }) => name)
    expect(names).toEqual(['model-02', 'model-11', 'nowhere'])
    expect(chooseSeries(cells, { ...NONE, chosen: ['nowhere'] })[0]?.values).toEqual([null])
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

  test.each([
    ['2025-04-01', '2025-04-02', '2025-04-01', '2025-04-02', 0],
    ['2025-01-01', '2025-12-31', '2025-03-01', '2025-05-31', 1],
    ['2024-01-01', '2024-02-01', '2025-03-03', '2025-05-31', 1],
  ])('from %s to %s is cut to the release, or the default outside of it: from %s to %s, %i notices', (...given) => {
    const [from, to, first, last, notices] = given
    const resolved = resolve({ from, to })
    expect(resolved.window).toEqual({ from: first, to: last })
    expect(resolved.notices).toHaveLength(notices)
  })

  test('moves outwards to whole weeks and months, but not out of the release', () => {
    const whole = (from: string, to: string, grain: 'day' | 'week' | 'month') =>
      wholePeriods({ from, to }, grain, reach)
    expect(whole('2025-04-02', '2025-04-16', 'day')).toEqual({ from: '2025-04-02', to: '2025-04-16' })
    expect(whole('2025-04-02', '2025-04-16', 'week')).toEqual({ from: '2025-03-31', to: '2025-04-20' })
    expect(whole('2025-04-02', '2025-04-16', 'month')).toEqual({ from: '2025-04-01', to: '2025-04-30' })
    expect(whole('2025-03-01', '2025-05-31', 'week')).toEqual(reach)
  })
})
