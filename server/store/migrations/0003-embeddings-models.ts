import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The embeddings catalogue. `position` keeps the order, because databases sort text differently. */
export const embeddingsModels: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('embeddings_models')
      .addColumn('position', 'integer', (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('entry', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('embeddings_catalogue')
      .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('revision', 'integer', (column) => column.notNull())
      .execute()
  },
}
