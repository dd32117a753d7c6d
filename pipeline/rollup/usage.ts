import { join } from 'node:path'
import { type Files, replaceFile } from '../base/files.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
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

/** Replaces the usage file below `dataDir`. Readers see the old or the new file, whole. */
export async function writeUsage(ledger: KeySpendLedger, asOf: Date, dataDir: string, files: Files): Promise<void> {
  await replaceFile(files, join(dataDir, USAGE_FILE), serialise(ledger.days, toTimestamp(asOf)))
}

function serialise(days: readonly KeySpendDay[], asOf: Timestamp): string {
  const header: KeySpendHeader = { version: 1, as_of: asOf, days: days.length }
  return [header, ...days].map((line) => `${JSON.stringify(line)}\n`).join('')
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
