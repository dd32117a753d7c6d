import { utc } from '@date-fns/utc'
import { endOfMonth } from 'date-fns/endOfMonth'
import { startOfISOWeek } from 'date-fns/startOfISOWeek'
import { expect, test } from 'vitest'
import { addDays as contractAddDays, toInstant, toUtcDate } from '../../../pipeline/contract/utc-date.ts'
import { addDays, daysBetween, endOf, isDate, startOf, tickName } from '../../../pipeline/site/chart/calendar.ts'

const DATES = Array.from({ length: 1500 }, (_, days) => contractAddDays('2024-12-20', days))

test('counts days as the contract does, across leap years and clock changes', () => {
  for (const [days, date] of DATES.entries()) {
    expect(addDays('2024-12-20', days)).toBe(date)
    expect(daysBetween('2024-12-20', date)).toBe(days)
  }
})

test('begins weeks on Monday (ISO 8601) and months on their first day', () => {
  for (const date of DATES) {
    expect(startOf(date, 'day')).toBe(date)
    expect(startOf(date, 'week')).toBe(toUtcDate(startOfISOWeek(toInstant(date), { in: utc })))
    expect(startOf(date, 'month')).toBe(`${date.slice(0, 7)}-01`)
  }
})

test('ends a period on the day before the next one begins', () => {
  for (const date of DATES) {
    expect(endOf(date, 'day')).toBe(contractAddDays(date, 1))
    const monday = startOf(date, 'week')
    expect(endOf(monday, 'week')).toBe(contractAddDays(monday, 7))
    const last = toUtcDate(endOfMonth(toInstant(date), { in: utc }))
    expect(endOf(startOf(date, 'month'), 'month')).toBe(contractAddDays(last, 1))
  }
})

test('accepts only dates that exist, in one notation', () => {
  for (const date of DATES) expect(isDate(date)).toBe(true)
  for (const text of [
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '',
    '20260101',
    '2026-01-01T00',
    ' 2026-01-01',
  ])
    expect(isDate(text), text).toBe(false)
})

test('names ticks independently of language and time zone', () => {
  const name = (date: string, isMonth: boolean, isNewYear: boolean) => tickName(date, { isMonth, isNewYear })
  expect(name('2026-11-05', false, false)).toBe('Nov 5')
  expect(name('2026-11-05', false, true)).toBe('Nov 5, 2026')
  expect(name('2026-01-01', true, false)).toBe('Jan 2026')
})
