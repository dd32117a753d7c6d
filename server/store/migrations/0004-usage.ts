import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Usage by API key and UTC date. `usage_days` has the digest of each date's usage. The index on keys finds an
 * account's.
 */
export const usage: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('usage_days')
      .addColumn('date', 'text', (column) => column.primaryKey())
      .addColumn('digest', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('usage')
      .addColumn('key_hash', 'text', (column) => column.notNull())
      .addColumn('date', 'text', (column) => column.notNull())
      .addColumn('is_byok', 'integer', (column) => column.notNull())
      .addColumn('cost_usd', 'text', (column) => column.notNull())
      .addColumn('requests', 'integer', (column) => column.notNull())
      .addColumn('free_requests', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_pk', ['key_hash', 'date', 'is_byok'])
      .execute()
    await db.schema.createIndex('usage_date').on('usage').column('date').execute()
    await db.schema.createIndex('api_keys_creator').on('api_keys').column('creator_user_id').execute()
  },
}
