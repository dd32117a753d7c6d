import type { Kysely, Selectable, Transaction } from 'kysely'
import type { KeySpendDay } from '../../pipeline/contract/usage.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Store } from './store.ts'
import type { Tables, UsageTable } from './tables.ts'

/** One date of usage. `digest` is of its text; `read` parses it and may throw. */
export interface IncomingDay {
  digest: string
  read(): KeySpendDay
}

/** What a key used on one UTC date. `is_byok`: with the owner's own provider key. */
export type KeySpendEntry = Pick<Selectable<UsageTable>, 'date' | 'is_byok' | 'cost_usd'>

/** Usage by API key, from the newest build. */
export interface KeySpendStore {
  /** Replaces all usage in one transaction, without touching unchanged dates. Several processes may call it at once. */
  replace(days: readonly IncomingDay[]): Promise<{ changedDays: number }>
  /** All usage of a key. */
  ofKey(hash: string): Promise<KeySpendEntry[]>
  /** The requests for `:free` models by all keys of an account on a date, without BYOK. */
  freeRequests(userId: string, date: UtcDate): Promise<number>
}

const ROWS_PER_INSERT = 1000

export function keySpend(store: Store): KeySpendStore {
  const { db } = store
  return {
    async replace(days) {
      // Compare without the write lock first: usually nothing changed.
      const { gone: removed, fresh } = await difference(db, days)
      if (removed.length + fresh.length === 0) return { changedDays: 0 }
      return await store.write((transaction) => apply(transaction, days))
    },

    ofKey: (hash) =>
      db.selectFrom('usage').select(['date', 'is_byok', 'cost_usd']).where('key_hash', '=', hash).execute(),

    async freeRequests(userId, date) {
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
