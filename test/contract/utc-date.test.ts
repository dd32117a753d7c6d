import { utc } from '@date-fns/utc'
import { addDays as addDaysTo } from 'date-fns/addDays'
import { parseISO } from 'date-fns/parseISO'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDays, DATASET_START, daysBetween, UtcDate } from '../../pipeline/contract/utc-date.ts'

/** As the calendar of JavaScript has it: slower, and so not what requests are checked with. */
function isDate(text: string): boolean {
  const instant = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text)
}

const two = (number: number) => String(number).padStart(2, '0')

it('takes exactly the dates of the calendar', () => {
  const years = ['0000', '0001', '1600', '1900', '1999', '2000', '2023', '2024', '2025', '2100', '2400', '9999']
  for (const year of years) {
    for (let month = 0; month < 100; month += month < 14 ? 1 : 17) {
      for (let day = 0; day < 100; day += day < 34 ? 1 : 11) {
        const text = `${year}-${two(month)}-${two(day)}`
        expect(UtcDate.safeParse(text).success, text).toBe(isDate(text))
      }
    }
  }
})

it('takes no other form of a date', () => {
  const others = ['', '2025-1-01', '2025-01-01T00:00:00Z', ' 2025-01-01', '+12025-01-01', '2025-01-0a', '2025/01/01']
  for (const text of others) expect(UtcDate.safeParse(text).success, text).toBe(false)
})

it('counts days as date-fns does', () => {
  const [around, apart] = [fc.integer({ min: -50_000, max: 50_000 }), fc.integer({ min: -1000, max: 1000 })]
  fc.assert(
    fc.property(around, apart, (offset, days) => {
      const dateAt = (count: number) =>
        addDaysTo(parseISO(DATASET_START, { in: utc }), count, { in: utc })
          .toISOString()
          .slice(0, 10)
      const [first, last] = [dateAt(offset), dateAt(offset + days)]
      expect(addDays(first, days)).toBe(last)
      expect(daysBetween(first, last)).toBe(days)
    }),
  )
})
