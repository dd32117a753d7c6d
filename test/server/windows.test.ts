import { expect, test } from 'vitest'
import { windowResolver } from '../../server/published/windows.ts'

function at(first: string) {
  let instant = first
  const windowOf = windowResolver(() => new Date(instant))
  const pass = (next: string) => {
    instant = next
  }
  return { windowOf, pass }
}

test('forgets cached windows at midnight UTC', () => {
  const { windowOf, pass } = at('2025-03-10T23:59:59.999Z')
  expect(windowOf({})).toEqual({ start_date: '2025-02-07', end_date: '2025-03-09' })
  expect(windowOf({ end_date: '2025-03-20' }).end_date).toBe('2025-03-09')
  pass('2025-03-11T00:00:00Z')
  expect(windowOf({})).toEqual({ start_date: '2025-02-08', end_date: '2025-03-10' })
  expect(windowOf({ end_date: '2025-03-20' }).end_date).toBe('2025-03-10')
  // A clock that is set back, too.
  pass('2025-03-10T12:00:00Z')
  expect(windowOf({}).end_date).toBe('2025-03-09')
})
