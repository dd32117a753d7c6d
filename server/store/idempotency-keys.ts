import type { Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** A request that is to be done once: `name` has its caller, operation, preset and key, `bodyHash` its body's SHA-256. */
export interface Once {
  name: string
  bodyHash: string
}

export type Answer = Pick<Tables['idempotency_keys'], 'body_hash' | 'preset_json' | 'version_id'>

const KEPT_MS = 24 * 60 * 60 * 1000

/** Bounds what a write has to do for earlier ones. More than one, so that expired rows do not pile up. */
const MOST_REMOVED = 20

/** The answer that a request of this name got in the 24 hours before `now`. */
export async function findAnswer(
  transaction: Transaction<Tables>,
  name: string,
  now: Date,
): Promise<Answer | undefined> {
  return await transaction
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'preset_json', 'version_id'])
    .where('name', '=', name)
    .where('created_at', '>', endOfExpired(now))
    .executeTakeFirst()
}

/** Keeps the answer to a request, in the transaction that did what it asked for, and removes some expired ones. */
export async function keepAnswer(
  transaction: Transaction<Tables>,
  name: string,
  answer: Answer,
  now: Date,
): Promise<void> {
  const expired = transaction
    .selectFrom('idempotency_keys')
    .select('name')
    .where('created_at', '<=', endOfExpired(now))
    .orderBy('created_at')
    .limit(MOST_REMOVED)
  await transaction.deleteFrom('idempotency_keys').where('name', 'in', expired).execute()
  const values = { ...answer, created_at: now.toISOString() }
  await transaction
    .insertInto('idempotency_keys')
    .values({ name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute()
}

function endOfExpired(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString()
}
