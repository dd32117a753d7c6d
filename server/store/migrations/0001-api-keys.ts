import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** API keys. The secret is not stored: `hash` is its SHA-256 in lower-case hex, `label` a masked form. */
export const apiKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('api_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('creator_user_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('is_management', 'integer', (column) => column.notNull())
      .addColumn('is_free_tier', 'integer', (column) => column.notNull())
      .addColumn('limit_usd', 'text')
      .addColumn('limit_reset', 'text')
      .addColumn('include_byok_in_limit', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('revoked_at', 'text')
      .execute()
  },
}
