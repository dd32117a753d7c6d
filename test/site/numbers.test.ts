import { describe, expect, it } from 'vitest'
import {
  counted,
  formatBytes,
  formatChange,
  formatInteger,
  formatShare,
  formatTicks,
  formatTokens,
} from '../../pipeline/base/numbers.ts'

describe('numbers on pages', () => {
  it.each([
    [0n, '0'],
    [999n, '999'],
    [1000n, '1,000'],
    [9223372036854775807n, '9,223,372,036,854,775,807'],
  ])('formatInteger keeps every digit of %s', (value, text) => expect(formatInteger(value)).toBe(text))

  it.each([
    [0n, '0'],
    [999n, '999'],
    [1000n, '1K'],
    [350_000_000_000n, '350B'],
    [1_234_567_890_123n, '1.23T'],
    [999_999n, '1M'],
    [2n ** 63n, '9,220Q'],
  ])('formatTokens rounds %s to three digits', (value, text) => expect(formatTokens(value)).toBe(text))

  it.each([
    [[0], ['0']],
    [
      [0, 500e9, 1e12, 1.5e12],
      ['0', '0.5T', '1.0T', '1.5T'],
    ],
    [
      [0, 100e9, 200e9],
      ['0', '100B', '200B'],
    ],
    [
      [0, 1, 2],
      ['0', '1', '2'],
    ],
    [
      [0, 2500, 5000],
      ['0', '2.5K', '5.0K'],
    ],
  ])('formatTicks writes %s in one unit', (values, texts) => expect(formatTicks(values)).toEqual(texts))

  it.each([
    [1n, 8n, '12.50 %'],
    [1n, 3n, '33.33 %'],
    [2n, 3n, '66.67 %'],
    [1n, 20_000n, '0.01 %'],
    [1n, 20_001n, '0.00 %'],
    [2n ** 63n, 2n ** 63n, '100.00 %'],
    [0n, 0n, '–'],
  ])('formatShare rounds %s of %s exactly', (part, whole, text) => expect(formatShare(part, whole)).toBe(text))

  it.each([
    [100n, 105n, '+5.0 %'],
    [100n, 50n, '−50.0 %'],
    [100n, 100n, '±0.0 %'],
    [10_000n, 10_004n, '±0.0 %'],
    [1n, 12_346n, '+1,234,500.0 %'],
    [2n ** 62n, 2n ** 63n, '+100.0 %'],
  ])('formatChange gives the change from %s to %s a sign', (before, now, text) =>
    expect(formatChange(before, now)).toBe(text),
  )

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [1_823_774, '1.8 MB'],
    [99_960, '100 kB'],
    [999_999, '1000 kB'],
    [5e12, '5.0 TB'],
  ])('formatBytes writes %s bytes in a readable unit', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

  it('counted uses the singular for one', () => {
    expect([counted(0, 'day'), counted(1, 'day'), counted(1234, 'day')]).toEqual(['0 days', '1 day', '1,234 days'])
  })
})
