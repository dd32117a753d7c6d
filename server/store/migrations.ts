import type { Kysely, Transaction } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { apiKeys } from './migrations/0001-api-keys.ts'
import { presets } from './migrations/0002-presets.ts'
import { embeddingsModels } from './migrations/0003-embeddings-models.ts'
import { usage } from './migrations/0004-usage.ts'
import { rateLimits } from './migrations/0005-rate-limits.ts'
import { idempotencyKeys } from './migrations/0006-idempotency-keys.ts'

/** Run in this order. Never edit or undo a released one. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-api-keys': apiKeys,
  '0002-presets': presets,
  '0003-embeddings-models': embeddingsModels,
  '0004-usage': usage,
  '0005-rate-limits': rateLimits,
  '0006-idempotency-keys': idempotencyKeys,
}

/** A newer version wrote the store. */
export class NewerStoreError extends Error {
  override name = 'NewerStoreError'
}

/** Upgrades the store to this version's tables, in the transaction `db`. */
export async function migrate<T>(db: Transaction<T>): Promise<void> {
  await refuseNewerStore(db)
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } }).migrateToLatest()
  if (error !== undefined) throw error
}

async function refuseNewerStore<T>(db: Kysely<T>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return
  const executed = await (db as unknown as Kysely<{ [DEFAULT_MIGRATION_TABLE]: { name: string } }>)
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
    .execute()
  const unknown = executed.map(({ name }) => name).filter((name) => !(name in MIGRATIONS))
  if (unknown.length > 0) {
    throw new NewerStoreError(
      `the store was written by a newer version of tokenboard (${unknown.join(', ')}); update tokenboard to use it`,
    )
  }
}
