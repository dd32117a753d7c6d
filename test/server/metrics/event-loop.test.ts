import { expect, test } from 'vitest'
import { EventLoopDelay } from '../../../server/metrics/event-loop.ts'

/** A histogram of values in seconds between two looks, which are 0.02 for an idle loop. */
function histogramOf(values: number[]) {
  const sorted = () => values.toSorted((a, b) => a - b)
  return {
    get count() {
      return values.length
    },
    get mean() {
      return (1e9 * values.reduce((sum, value) => sum + value, 0)) / values.length
    },
    percentile: (percent: number) => 1e9 * (sorted()[Math.ceil((percent / 100) * values.length) - 1] ?? 0),
    reset: () => values.splice(0),
  }
}

const numbersOf = (delay: EventLoopDelay) =>
  Object.fromEntries(delay.family('d', '').samples.map(([line, value]) => [line, Math.round(value * 1e6) / 1e6]))

test('an idle loop has no delay, although each look takes the resolution', () => {
  const numbers = numbersOf(new EventLoopDelay(histogramOf([0.02, 0.02, 0.0199])))
  expect(numbers).toMatchObject({ 'd{quantile="0.5"}': 0, 'd{quantile="1"}': 0, d_count: 3, d_sum: 0 })
})

test('nothing is measured before the first look', () => {
  expect(numbersOf(new EventLoopDelay(histogramOf([])))).toMatchObject({ 'd{quantile="1"}': 0, d_count: 0, d_sum: 0 })
})

test('a block is seen for a whole window, by whoever asks, and its count and sum for good', () => {
  const values = [0.02, 0.02, 1.02]
  const delay = new EventLoopDelay(histogramOf(values))
  const seen = { 'd{quantile="0.5"}': 0, 'd{quantile="1"}': 1, d_count: 3, d_sum: 1 }
  expect([numbersOf(delay), numbersOf(delay)]).toMatchObject([seen, seen])
  delay.rotate()
  values.push(0.02)
  expect(numbersOf(delay)).toMatchObject({ ...seen, d_count: 4 })
  delay.rotate()
  expect(numbersOf(delay)).toMatchObject({ 'd{quantile="1"}': 0, d_count: 4, d_sum: 1 })
})
