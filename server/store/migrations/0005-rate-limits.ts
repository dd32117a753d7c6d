import { type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Counters of rate limits that all servers share (PostgreSQL only). The table is unlogged: a crash may empty it, but
 * counting needs no disk write.
 */
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
