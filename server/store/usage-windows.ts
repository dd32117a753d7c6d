import { toNanos } from '../../pipeline/contract/usd.ts'
import { addDays, toInstant, toUtcDate, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { LimitReset } from '../schemas/key.ts'
import type { ApiKey } from './keys.ts'
import type { KeySpendEntry } from './usage.ts'

export type UsageWindow = 'lifetime' | LimitReset

/** Billionths of a USD by window: charged usage, or usage with own provider keys (BYOK). */
export type WindowSums = Record<UsageWindow, bigint>

/** The usage of a key in each window that includes `now`. */
export function sumSpend(entries: readonly KeySpendEntry[], now: Date): { charged: WindowSums; byok: WindowSums } {
  const isInWindow = windowsAt(now)
  const sums = (ofKind: readonly KeySpendEntry[]): WindowSums => {
    const over = (window: UsageWindow) =>
      ofKind.filter(({ date }) => isInWindow[window](date)).reduce((sum, { cost_usd }) => sum + toNanos(cost_usd), 0n)
    return { lifetime: over('lifetime'), daily: over('daily'), weekly: over('weekly'), monthly: over('monthly') }
  }
  return {
    charged: sums(entries.filter(({ is_byok }) => is_byok === 0)),
    byok: sums(entries.filter(({ is_byok }) => is_byok === 1)),
  }
}

/** Which dates lie in the current UTC day, UTC week (from Monday) and UTC month. */
function windowsAt(now: Date): Record<UsageWindow, (date: UtcDate) => boolean> {
  const today = toUtcDate(now)
  const monday = mondayOf(today)
  const sunday = addDays(monday, 6)
  const month = today.slice(0, 'YYYY-MM'.length)
  return {
    lifetime: () => true,
    daily: (date) => date === today,
    weekly: (date) => date >= monday && date <= sunday,
    monthly: (date) => date.startsWith(month),
  }
}

function mondayOf(date: UtcDate): UtcDate {
  const daysSinceMonday = (toInstant(date).getUTCDay() + 6) % 7
  return addDays(date, -daysSinceMonday)
}

/** The end of the current window, exclusive. */
export function endOfWindow(window: LimitReset, now: Date): Date {
  const today = toUtcDate(now)
  switch (window) {
    case 'daily':
      return toInstant(addDays(today, 1))
    case 'weekly':
      return toInstant(addDays(mondayOf(today), 7))
    case 'monthly':
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  }
}

/** A key's limit and the usage that counts against it, in billionths of a USD. */
export interface LimitUse {
  limit: bigint
  spent: bigint
}

export function limitUse(
  key: Pick<ApiKey, 'limit_usd' | 'limit_reset' | 'include_byok_in_limit'>,
  { charged, byok }: { charged: WindowSums; byok: WindowSums },
): LimitUse | null {
  if (key.limit_usd === null) return null
  const window = key.limit_reset ?? 'lifetime'
  const spent = charged[window] + (key.include_byok_in_limit === 1 ? byok[window] : 0n)
  return { limit: toNanos(key.limit_usd), spent }
}
