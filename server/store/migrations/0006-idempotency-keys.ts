import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Nothing uses this table any more. Stores that have it are read as they are. */
export const idempotencyKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('idempotency_keys')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('body_hash', 'text', (column) => column.notNull())
      .addColumn('preset_json', 'text', (column) => column.notNull())
      .addColumn('version_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('idempotency_keys_created_at').on('idempotency_keys').column('created_at').execute()
  },
}
