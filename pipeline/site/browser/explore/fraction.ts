/** `tokens / total` with `digits` decimals, rounded half up: `0.012346`. Zero if the total is zero. */
export function fraction(tokens: bigint, total: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits)
  const scaled = total === 0n ? 0n : (2n * tokens * scale + total) / (2n * total)
  const decimals = String(scaled % scale).padStart(digits, '0')
  return `${scaled / scale}.${decimals}`
}
