import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The catalogue of embeddings models. `embeddings_models` holds its entries in the order of the list: `position` is
 * counted when they are stored, because databases do not agree on how text is ordered. `embeddings_catalogue` has no
 * row until the catalogue is filled for the first time, and one from then on.
 */
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
