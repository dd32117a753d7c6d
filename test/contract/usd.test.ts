import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toNanos, toUsd, Usd } from '../../pipeline/contract/usd.ts'

test.each([
  ['0', 0n],
  ['1.25', 1_250_000_000n],
  ['0.000000001', 1n],
  ['12.50', 12_500_000_000n],
  ['11999999999.999999988', 11_999_999_999_999_999_988n],
])('toNanos reads %s USD as %s billionths', (text, nanos) => {
  expect(toNanos(text)).toBe(nanos)
})

test.each([
  [0n, '0'],
  [1n, '0.000000001'],
  [2_500_000_000n, '2.5'],
  [10_000_000_000n, '10'],
])('toUsd writes %s billionths as %s USD', (nanos, text) => {
  expect(toUsd(nanos)).toBe(text)
})

test('toNanos reads what toUsd writes, for any amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }), (nanos) => toNanos(Usd.parse(toUsd(nanos))) === nanos),
  )
})

test.each(['', '-1', '1.', '.5', '1e3', '0.0000000001', '1,5', ' 1'])('Usd refuses %j', (text) => {
  expect(Usd.safeParse(text).success).toBe(false)
})
