import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PERIOD_TABLES, type PeriodTable } from '../../pipeline/contract/tables.ts'
import { type Window, wholePeriods } from '../../pipeline/contract/window.ts'
import { firstOf } from '../support/publish.ts'

const day = (offset: number) => new Date(Date.UTC(2025, 0, 1 + offset)).toISOString().slice(0, 10)
const move = (date: string, days: number) => day((Date.parse(date) - Date.UTC(2025, 0, 1)) / 86_400_000 + days)

const window = fc
  .tuple(fc.nat(800), fc.nat(100))
  .map(([start, length]): Window => ({ start_date: day(start), end_date: day(start + length) }))

/** Day by day: each end moves on while the next day is of the same period and of the release. */
function dayByDay(table: PeriodTable, { start_date, end_date }: Window, release: Window): Window {
  const isSame = (a: string, b: string) => firstOf(table, a) === firstOf(table, b)
  let [start, end] = [start_date, end_date]
  while (start > release.start_date && isSame(start, move(start, -1))) start = move(start, -1)
  while (end < release.end_date && isSame(end, move(end, 1))) end = move(end, 1)
  return { start_date: start, end_date: end }
}

test.each(PERIOD_TABLES)('both ends of a window move outwards to whole periods within the release: %s', (table) => {
  fc.assert(
    fc.property(window, window, (asked, release) => {
      expect(wholePeriods(table, asked, release)).toEqual(dayByDay(table, asked, release))
    }),
    { numRuns: 500 },
  )
})

test('a window of days stays', () => {
  fc.assert(
    fc.property(window, window, (asked, release) => {
      expect(wholePeriods('daily', asked, release)).toEqual(asked)
    }),
  )
})
