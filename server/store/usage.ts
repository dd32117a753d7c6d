import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Kysely, Selectable, Transaction } from 'kysely'
import { KeySpendDay, KeySpendHeader } from '../../pipeline/contract/usage.ts'
import { toNanos } from '../../pipeline/contract/usd.ts'
import { addDays, toInstant, toUtcDate, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import { type FollowedFile, followFile } from '../base/followed-file.ts'
import type { LimitReset } from '../schemas/key.ts'
import type { ApiKey } from './keys.ts'
import type { Store } from './store.ts'
import type { Tables, UsageTable } from './tables.ts'

/** One date of usage. `digest` is of its text; `read` parses it and may throw. */
export interface IncomingDay {
  digest: string
  read(): KeySpendDay
}

/** What a key used on one UTC date. `is_byok`: with the owner's own provider key. */
export type KeySpendEntry = Pick<Selectable<UsageTable>, 'date' | 'is_byok' | 'cost_usd'>

const ROWS_PER_INSERT = 1000

export type KeySpendStore = ReturnType<typeof keySpend>

/** Usage by API key, from the newest build. */
export function keySpend(store: Store) {
  const { db } = store
  return {
    /** Replaces all usage in one transaction, without touching unchanged dates. Several processes may call it at once. */
    async replace(days: readonly IncomingDay[]): Promise<{ changedDays: number }> {
      // Compare without the write lock first: usually nothing changed.
      const { gone: removed, fresh } = await difference(db, days)
      if (removed.length + fresh.length === 0) return { changedDays: 0 }
      return await store.write((transaction) => apply(transaction, days))
    },

    /** All usage of a key. */
    ofKey: (hash: string): Promise<KeySpendEntry[]> =>
      db.selectFrom('usage').select(['date', 'is_byok', 'cost_usd']).where('key_hash', '=', hash).execute(),

    /** The requests for `:free` models by all keys of an account on a date, without BYOK. */
    async freeRequests(userId: string, date: UtcDate): Promise<number> {
      const { requests } = await db
        .selectFrom('api_keys')
        .innerJoin('usage', 'usage.key_hash', 'api_keys.hash')
        .select((eb) => eb.fn.sum<number | string | null>('free_requests').as('requests'))
        .where('creator_user_id', '=', userId)
        .where('date', '=', date)
        .where('is_byok', '=', 0)
        .executeTakeFirstOrThrow()
      return Number(requests ?? 0)
    },
  }
}

/** Stored dates that are not in `days`, and days that are not stored. */
async function difference(db: Kysely<Tables>, days: readonly IncomingDay[]) {
  const stored = await db.selectFrom('usage_days').selectAll().execute()
  const incoming = new Set(days.map(({ digest }) => digest))
  const known = new Set(stored.map(({ digest }) => digest))
  return {
    gone: stored.filter(({ digest }) => !incoming.has(digest)).map(({ date }) => date),
    fresh: days.filter(({ digest }) => !known.has(digest)),
  }
}

async function apply(transaction: Transaction<Tables>, days: readonly IncomingDay[]): Promise<{ changedDays: number }> {
  const { gone, fresh } = await difference(transaction, days)
  for (const date of gone) {
    await transaction.deleteFrom('usage').where('date', '=', date).execute()
    await transaction.deleteFrom('usage_days').where('date', '=', date).execute()
  }
  for (const { digest, read } of fresh) {
    const { date, usage } = read()
    await transaction.insertInto('usage_days').values({ date, digest }).execute()
    const rows = usage.map(({ api_key_hash, is_byok, ...amounts }) => {
      return { key_hash: api_key_hash, date, is_byok: Number(is_byok), ...amounts }
    })
    for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
      await transaction
        .insertInto('usage')
        .values(rows.slice(start, start + ROWS_PER_INSERT))
        .execute()
    }
  }
  return { changedDays: fresh.length + gone.length }
}

type UsageWindow = 'lifetime' | LimitReset

/** Billionths of a USD by window: charged usage, or usage with own provider keys (BYOK). */
type WindowSums = Record<UsageWindow, bigint>

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

/** A usage file that cannot be loaded. The message has nothing of its content, which is private. */
class UsageFileError extends Error {
  override name = 'UsageFileError'
}

/** Loads the usage file (pipeline/contract/usage.ts) into the store, now and after each build. */
export function followKeySpend(path: string, usage: KeySpendStore, log: FastifyBaseLogger): FollowedFile {
  return followFile({
    path,
    async load() {
      const started = performance.now()
      const { header, days } = await readUsageFile(path)
      const { changedDays } = await usage.replace(days)
      const elapsed_ms = Math.round(performance.now() - started)
      log.info({ as_of: header.as_of, days: header.days, changed_days: changedDays, elapsed_ms }, 'usage loaded')
    },
    onRefused: (error) => log.error({ err: error }, 'the new usage of keys is refused; the previous usage stays'),
    log,
  })
}

async function readUsageFile(path: string): Promise<{ header: KeySpendHeader; days: IncomingDay[] }> {
  const text = await readFile(path, 'utf8')
  if (!text.endsWith('\n')) throw new UsageFileError(`${path} does not end with a line ending`)
  const [first = '', ...lines] = text.slice(0, -1).split('\n')
  const header = parse(`${path}, line 1`, () => KeySpendHeader.parse(JSON.parse(first)))
  if (lines.length !== header.days) {
    throw new UsageFileError(`${path} has ${lines.length} days instead of ${header.days}`)
  }
  const days: IncomingDay[] = []
  for (const [index, line] of lines.entries()) {
    const digest = hash('sha256', line)
    days.push({ digest, read: () => parse(`${path}, line ${index + 2}`, () => KeySpendDay.parse(JSON.parse(line))) })
    // Let requests be served meanwhile.
    await nextTurn()
  }
  return { header, days }
}

function parse<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    // The cause would quote the line, which has hashes of keys.
    const reason = error instanceof SyntaxError ? 'is not JSON' : 'is not in the format of a usage file'
    throw new UsageFileError(`${where} ${reason}`)
  }
}
