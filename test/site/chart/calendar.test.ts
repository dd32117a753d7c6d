import { utc } from '@date-fns/utc'
import { endOfMonth } from 'date-fns/endOfMonth'
import { startOfISOWeek } from 'date-fns/startOfISOWeek'
import { expect, test } from 'vitest'
import { addDays as contractAddDays, toInstant, toUtcDate } from '../../../pipeline/contract/utc-date.ts'
import { addDays, daysBetween, endOf, isDate, startOf, tickName } from '../../../pipeline/site/chart/calendar.ts'

const DATES = Array.from({ length: 1500 }, (_, days) => contractAddDays('2024-12-20', days))

test('dates count as those of the contract do, weeks begin on Monday (ISO 8601), and periods end where the next begins', () => {
  for (const [days, date] of DATES.entries()) {
    expect(addDays('2024-12-20', days)).toBe(date)
    expect(daysBetween('2024-12-20', date)).toBe(days)
    expect(isDate(date)).toBe(true)
    const monday = toUtcDate(startOfISOWeek(toInstant(date), { in: utc }))
    const starts = [startOf(date, 'day'), startOf(date, 'week'), startOf(date, 'month')]
    expect(starts).toEqual([date, monday, `${date.slice(0, 7)}-01`])
    const last = toUtcDate(endOfMonth(toInstant(date), { in: utc }))
    const ends = [endOf(date, 'day'), endOf(monday, 'week'), endOf(startOf(date, 'month'), 'month')]
    expect(ends).toEqual([contractAddDays(date, 1), contractAddDays(monday, 7), contractAddDays(last, 1)])
  }
})

test.each(['2026-02-29', '2026-02-30', '2026-13-01', '2026-1-1', '', '20260101', '2026-01-01T00', ' 2026-01-01'])(
  '%j is no date',
  (text) => expect(isDate(text)).toBe(false),
)

test('names ticks independently of language and time zone', () => {
  expect(tickName('2026-11-05', { isMonth: false, isNewYear: false })).toBe('Nov 5')
  expect(tickName('2026-11-05', { isMonth: false, isNewYear: true })).toBe('Nov 5, 2026')
  expect(tickName('2026-01-01', { isMonth: true, isNewYear: false })).toBe('Jan 2026')
})
