import { expect, test } from 'vitest'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'

/** As the calendar of JavaScript has it: slower, and so not what requests are checked with. */
function isDate(text: string): boolean {
  const instant = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text)
}

const two = (number: number) => String(number).padStart(2, '0')

test('takes exactly the dates of the calendar', () => {
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

test('takes no other form of a date', () => {
  for (const text of [
    '',
    '2025-1-01',
    '2025-01-01T00:00:00Z',
    ' 2025-01-01',
    '+12025-01-01',
    '2025-01-0a',
    '2025/01/01',
  ])
    expect(UtcDate.safeParse(text).success, text).toBe(false)
})
