const UNITS = ['', 'K', 'M', 'B', 'T', 'Q']

/** Every digit, with separators of thousands: `1,234,567`. */
export function exact(tokens: bigint): string {
  return String(tokens).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** Three digits that a person can say: `1.23M`. Below a thousand it is exact. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(Number(tokens.toPrecision(3)))
  const rounded = Number(tokens.toPrecision(3))
  const unit = Math.min(Math.floor(Math.log10(rounded) / 3), UNITS.length - 1)
  return `${Number((rounded / 1000 ** unit).toPrecision(3))}${UNITS[unit]}`
}

/** `tokens / total` in decimal digits, exact and rounded half up: `0.012346`; all zeros where the total is zero. */
export function fraction(tokens: bigint, total: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits)
  const scaled = total === 0n ? 0n : (2n * tokens * scale + total) / (2n * total)
  const decimals = String(scaled % scale).padStart(digits, '0')
  return `${scaled / scale}.${decimals}`
}

/** `1.23 %` */
export function percent(tokens: bigint, total: bigint): string {
  return `${fraction(tokens * 100n, total, 2)} %`
}
