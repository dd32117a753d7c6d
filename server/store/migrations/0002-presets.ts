import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

export const presets: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('presets')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('status_updated_at', 'text')
      .addColumn('creator_user_id', 'text', (column) => column.notNull())
      // Not a foreign key: it would be circular, which engines declare differently.
      .addColumn('designated_version_id', 'text', (column) => column.notNull())
      .addColumn('version_count', 'integer', (column) => column.notNull())
      .addColumn('update_number', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('presets_workspace_id_slug', ['workspace_id', 'slug'])
      .execute()
    await db.schema
      .createIndex('presets_workspace_id_update_number')
      .on('presets')
      .columns(['workspace_id', 'update_number'])
      .execute()
    await db.schema
      .createTable('preset_versions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('preset_id', 'text', (column) => column.notNull().references('presets.id'))
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('creator_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addColumn('system_prompt_json', 'text', (column) => column.notNull())
      .addColumn('config_json', 'text', (column) => column.notNull())
      .addUniqueConstraint('preset_versions_preset_id_version', ['preset_id', 'version'])
      .execute()
  },
}
