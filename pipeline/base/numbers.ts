const UNITS: readonly (readonly [power: number, unit: string])[] = [
  [15, 'Q'],
  [12, 'T'],
  [9, 'B'],
  [6, 'M'],
  [3, 'K'],
]
const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
const SHARE_DIGITS = 2
const NOTHING = '–'

/** `1234567` -> `1,234,567`. */
export function formatInteger(value: bigint | number | string): string {
  return value.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** Tokens rounded to three digits: `1.23T`, `350B`, `12`. */
export function formatTokens(value: bigint | number): string {
  const size = Number(value)
  if (size < 1000) return formatInteger(value)
  const rounded = Number(size.toPrecision(3))
  const [power, unit] = UNITS.find(([exponent]) => rounded >= 10 ** exponent) ?? [0, '']
  const [whole = '', fraction] = String(Number((rounded / 10 ** power).toPrecision(3))).split('.')
  return `${formatInteger(Number(whole))}${fraction === undefined ? '' : `.${fraction}`}${unit}`
}

/** Axis ticks, all in the unit of the greatest: `0`, `0.5T`, `1.0T`. */
export function formatTicks(values: readonly number[]): string[] {
  const greatest = Math.max(...values, 0)
  const [power, unit] = UNITS.find(([exponent]) => greatest >= 10 ** exponent) ?? [0, '']
  const scaled = values.map((value) => Number((value / 10 ** power).toPrecision(12)))
  const digits = Math.max(...scaled.map((value) => String(value).split('.')[1]?.length ?? 0), 0)
  return scaled.map((value) => {
    const [whole = '', fraction] = value.toFixed(digits).split('.')
    return value === 0 ? '0' : `${formatInteger(Number(whole))}${fraction === undefined ? '' : `.${fraction}`}${unit}`
  })
}

/** A percentage with two decimals, half rounded up: `12.35 %`. Exact for any size. */
export function formatShare(part: bigint, whole: bigint): string {
  if (whole === 0n) return NOTHING
  const hundredths = rounded(part * 10_000n, whole)
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(SHARE_DIGITS, '0')} %`
}

/** A change in percent: `+5.2 %`, `−0.3 %`, `±0.0 %`. `before` must not be zero. */
export function formatChange(before: bigint, now: bigint): string {
  const difference = now - before
  const tenths = rounded((difference < 0n ? -difference : difference) * 1000n, before)
  const sign = tenths === 0n ? '±' : difference < 0n ? '−' : '+'
  return `${sign}${formatInteger(tenths / 10n)}.${tenths % 10n} %`
}

export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1)
  const value = bytes / 1000 ** power
  return power === 0 ? `${bytes} bytes` : `${value < 99.95 ? value.toFixed(1) : value.toFixed(0)} ${BYTE_UNITS[power]}`
}

/** A count with its noun: `1 day`, `1,234 days`. */
export function counted(count: bigint | number | string, noun: string): string {
  return `${formatInteger(count)} ${plural(count, noun)}`
}

export function plural(count: bigint | number | string, noun: string): string {
  return String(count) === '1' ? noun : `${noun}s`
}

/** The nearest integer to a non-negative quotient, half rounded up. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor)
}
