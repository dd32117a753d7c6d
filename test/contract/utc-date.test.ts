import { utc } from '@date-fns/utc'
import { addDays as addDaysTo } from 'date-fns/addDays'
import { parseISO } from 'date-fns/parseISO'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDays, DATASET_START, daysBetween, UtcDate } from '../../pipeline/contract/utc-date.ts'

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))

it('takes the dates that a Date takes, and no others', () => {
  const isInCalendar = (text: string) => {
    const instant = new Date(`${text}T00:00:00Z`)
    return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text)
  }
  const around = fc.tuple(
    digits(4),
    fc.constantFrom('00', '01', '02', '04', '12', '13'),
    fc.integer({ min: 0, max: 33 }),
  )
  const text = fc.oneof(
    fc.tuple(digits(4), digits(2), digits(2)).map((parts) => parts.join('-')),
    around.map(([year, month, day]) => `${year}-${month}-${String(day).padStart(2, '0')}`),
    fc.constantFrom('0000-02-29', '1900-02-29', '2000-02-29', '2024-02-29', '2026-02-29', '2026-02-30', '2025-04-31'),
  )
  fc.assert(
    fc.property(text, (date) => {
      expect(UtcDate.safeParse(date).success).toBe(isInCalendar(date))
    }),
    { numRuns: 5000 },
  )
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
