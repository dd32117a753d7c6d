import { join } from 'node:path'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { type KeySpendDay, type KeySpendHeader, USAGE_FILE } from '../contract/usage.ts'
import { toNanos, toUsd } from '../contract/usd.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { KeySpendRow } from '../raw/records.ts'

interface KeySum {
  api_key_hash: string
  is_byok: boolean
  nanos: bigint
  requests: bigint
  free_requests: bigint
}

/** Sums usage per API key and UTC date over all sources. */
export class KeySpendLedger {
  readonly #days = new Map<UtcDate, Map<string, KeySum>>()

  add({ date, api_key_hash, is_byok, cost_usd, requests, free_requests }: KeySpendRow): void {
    const day = this.#days.get(date) ?? new Map<string, KeySum>()
    this.#days.set(date, day)
    const name = `${api_key_hash} ${is_byok}`
    const sum = day.get(name) ?? { api_key_hash, is_byok, nanos: 0n, requests: 0n, free_requests: 0n }
    day.set(name, sum)
    sum.nanos += toNanos(cost_usd)
    sum.requests += requests
    sum.free_requests += free_requests
  }

  get days(): KeySpendDay[] {
    return [...this.#days].sort(byName).map(([date, day]) => ({
      date,
      usage: [...day].sort(byName).map(([, { api_key_hash, is_byok, nanos, requests, free_requests }]) => ({
        api_key_hash,
        is_byok,
        cost_usd: toUsd(nanos),
        requests: Number(requests),
        free_requests: Number(free_requests),
      })),
    }))
  }
}

/** The lines of a usage file after its header. */
export interface UsageLines {
  days: number
  text: string
}

export function usageLines({ days }: KeySpendLedger): UsageLines {
  return { days: days.length, text: days.map(toLine).join('') }
}

/** The lines of the usage file below `dataDir`; undefined if there is none. */
export async function readUsageLines(dataDir: string): Promise<UsageLines | undefined> {
  const whole = await readTextIfAny(join(dataDir, USAGE_FILE))
  if (whole === undefined) return undefined
  const text = whole.slice(whole.indexOf('\n') + 1)
  return { days: text.split('\n').length - 1, text }
}

/** Replaces the usage file below `dataDir`. Readers see the old or the new file, whole. */
export async function writeUsage({ days, text }: UsageLines, asOf: Date, dataDir: string, files: Files): Promise<void> {
  const header: KeySpendHeader = { version: 1, as_of: toTimestamp(asOf), days }
  await replaceFile(files, join(dataDir, USAGE_FILE), toLine(header) + text)
}

function toLine(value: KeySpendHeader | KeySpendDay): string {
  return `${JSON.stringify(value)}\n`
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
