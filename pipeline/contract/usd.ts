import { z } from 'zod'

/** A non-negative amount of USD as decimal text with up to nine decimals. */
export const Usd = z
  .string()
  .regex(/^\d{1,29}(\.\d{1,9})?$/, { error: 'must be an amount of USD with at most nine digits after the point' })
export type Usd = z.infer<typeof Usd>

const DIGITS = 9
const NANOS_PER_USD = 10n ** BigInt(DIGITS)

export function toNanos(amount: Usd): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole) * NANOS_PER_USD + BigInt(fraction.padEnd(DIGITS, '0'))
}

/** Formats billionths of a dollar without trailing zeros: `1.25`, `0`, `0.000000001`. */
export function toUsd(nanos: bigint): Usd {
  const fraction = String(nanos % NANOS_PER_USD)
    .padStart(DIGITS, '0')
    .replace(/0+$/, '')
  const whole = String(nanos / NANOS_PER_USD)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
