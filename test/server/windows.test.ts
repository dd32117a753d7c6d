import { expect, test } from 'vitest'
import { DATASET_START } from '../../pipeline/contract/utc-date.ts'
import { ApiError } from '../../server/base/errors.ts'
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

test('resolves each pair of dates separately', () => {
  const { windowOf } = at('2025-03-10T12:00:00Z')
  expect(windowOf({ start_date: '2025-03-01' })).toEqual({ start_date: '2025-03-01', end_date: '2025-03-09' })
  expect(windowOf({ end_date: '2025-03-01' })).toEqual({ start_date: '2025-01-30', end_date: '2025-03-01' })
  expect(windowOf({ start_date: DATASET_START, end_date: DATASET_START })).toEqual({
    start_date: DATASET_START,
    end_date: DATASET_START,
  })
})

test('resolves 12,000 windows correctly, twice', () => {
  const { windowOf } = at('2060-01-01T12:00:00Z')
  const date = (day: number) => new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10)
  for (let round = 0; round < 2; round++) {
    for (let day = 0; day < 12_000; day++) {
      const window = { start_date: date(day), end_date: date(day) }
      expect(windowOf(window)).toEqual(window)
    }
  }
})

test('refuses an impossible window each time', () => {
  const { windowOf } = at('2025-03-10T12:00:00Z')
  for (let round = 0; round < 2; round++) {
    expect(() => windowOf({ start_date: '2025-03-02', end_date: '2025-03-01' })).toThrow(ApiError)
  }
})
