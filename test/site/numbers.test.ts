import { expect, it } from 'vitest'
import {
  counted,
  formatBytes,
  formatChange,
  formatInteger,
  formatShare,
  formatTicks,
  formatTokens,
} from '../../pipeline/base/numbers.ts'

/** What each function makes of arguments. */
const CASES = new Map<(...values: never[]) => unknown, [unknown[], unknown][]>([
  [
    formatInteger,
    [
      [[0n], '0'],
      [[999n], '999'],
      [[1000n], '1,000'],
      [[9223372036854775807n], '9,223,372,036,854,775,807'],
    ],
  ],
  [
    formatTokens,
    [
      [[0n], '0'],
      [[999n], '999'],
      [[1000n], '1K'],
      [[350_000_000_000n], '350B'],
      [[1_234_567_890_123n], '1.23T'],
      [[999_999n], '1M'],
      [[2n ** 63n], '9,220Q'],
    ],
  ],
  [
    formatTicks,
    [
      [[[0]], ['0']],
      [[[0, 500e9, 1e12, 1.5e12]], ['0', '0.5T', '1.0T', '1.5T']],
      [[[0, 100e9, 200e9]], ['0', '100B', '200B']],
      [[[0, 1, 2]], ['0', '1', '2']],
      [[[0, 2500, 5000]], ['0', '2.5K', '5.0K']],
    ],
  ],
  [
    formatShare,
    [
      [[1n, 8n], '12.50 %'],
      [[1n, 3n], '33.33 %'],
      [[2n, 3n], '66.67 %'],
      [[1n, 20_000n], '0.01 %'],
      [[1n, 20_001n], '0.00 %'],
      [[2n ** 63n, 2n ** 63n], '100.00 %'],
      [[0n, 0n], '–'],
    ],
  ],
  [
    formatChange,
    [
      [[100n, 105n], '+5.0 %'],
      [[100n, 50n], '−50.0 %'],
      [[100n, 100n], '±0.0 %'],
      [[10_000n, 10_004n], '±0.0 %'],
      [[1n, 12_346n], '+1,234,500.0 %'],
      [[2n ** 62n, 2n ** 63n], '+100.0 %'],
    ],
  ],
  [
    formatBytes,
    [
      [[0], '0 bytes'],
      [[999], '999 bytes'],
      [[1000], '1.0 kB'],
      [[1_823_774], '1.8 MB'],
      [[99_960], '100 kB'],
      [[999_999], '1000 kB'],
      [[5e12], '5.0 TB'],
    ],
  ],
  [
    counted,
    [
      [[0, 'day'], '0 days'],
      [[1, 'day'], '1 day'],
      [[1234, 'day'], '1,234 days'],
    ],
  ],
])

it.each([...CASES])('%o writes numbers as pages have them, exactly rounded', (write, cases) => {
  for (const [values, text] of cases) expect(write(...(values as never[]))).toEqual(text)
})
