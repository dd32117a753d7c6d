import { type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Shared counters of rate limits (PostgreSQL only). Unlogged: a crash may empty it, but no use needs a disk write. */
export const rateLimits: Migration = {
  async up(db: Kysely<unknown>) {
    if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return
    await db.schema
      .createTable('rate_limits')
      .modifyFront(sql`unlogged`)
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('started', 'integer', (column) => column.notNull())
      .addColumn('ends', 'integer', (column) => column.notNull())
      .addColumn('uses', 'integer', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('rate_limits_ends').on('rate_limits').column('ends').execute()
  },
}
