/** Stores as earlier versions left them: with the first migrations alone, and rows of that time. */
import { type Migration, Migrator } from 'kysely/migration'
import { hashKey } from '../../server/store/keys.ts'
import { MIGRATIONS } from '../../server/store/migrations.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import { isPostgresUrl } from '../../server/store/store.ts'
import type { Tables } from '../../server/store/tables.ts'

export const WORKSPACE = '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e'
const AT = '2025-02-01T00:00:00.000Z'

/** Rows as the version wrote them that had this migration as its newest: never edited once released, as the migration. */
export const ROWS: Record<string, { [Table in keyof Tables]?: Record<string, string | number | null>[] }> = {
  '0001-api-keys': {
    api_keys: [
      {
        ...{ id: 'key-1', hash: hashKey('sk-one'), label: 'sk-…one', name: 'é', creator_user_id: 'user_ada' },
        ...{ workspace_id: WORKSPACE, is_management: 1, is_free_tier: 0, limit_usd: '12.50', limit_reset: 'daily' },
        ...{ include_byok_in_limit: 1, created_at: AT, expires_at: '2026-01-01T00:00:00.000Z', revoked_at: null },
      },
    ],
  },
  '0002-presets': {
    presets: [
      {
        ...{ id: 'preset-1', workspace_id: WORKSPACE, slug: 'agent', name: 'agent', description: null },
        ...{ status: 'active', status_updated_at: null, creator_user_id: 'user_ada', update_number: 1 },
        ...{ designated_version_id: 'version-2', version_count: 2, created_at: AT, updated_at: AT },
      },
    ],
    preset_versions: [1, 2].map((version) => ({
      ...{ id: `version-${version}`, preset_id: 'preset-1', version, creator_id: 'user_ada', created_at: AT },
      ...{ updated_at: AT, system_prompt_json: '"\\ud800\\u0000"', config_json: `{"model":"acme/${version}"}` },
    })),
  },
  '0003-embeddings-models': {
    embeddings_models: [{ position: 1, id: 'acme/embed', entry: '{"id":"acme/embed"}' }],
    embeddings_catalogue: [{ id: 1, revision: 3 }],
  },
  '0004-usage': {
    usage_days: [{ date: '2025-02-01', digest: 'abc' }],
    usage: [
      {
        ...{ key_hash: hashKey('sk-one'), date: '2025-02-01', is_byok: 0, cost_usd: '0.10' },
        ...{ requests: 2, free_requests: 1 },
      },
    ],
  },
  '0005-rate-limits': {},
  '0006-idempotency-keys': {},
}

export const NAMES = Object.keys(MIGRATIONS)

/** Makes a store with the first migrations alone, and the rows of that time. */
export async function makeOldStore(url: string, names: readonly string[]): Promise<void> {
  const engine = isPostgresUrl(url)
    ? (await import('../../server/store/postgres.ts')).openPostgres(url, 5000)
    : await openSqlite(url.replace('sqlite:', ''), 5000)
  const migrations = Object.fromEntries(names.map((name): [string, Migration] => [name, MIGRATIONS[name] as Migration]))
  await engine.write(async (db) => {
    const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
    if (error !== undefined) throw error
    for (const [table, rows] of names.flatMap((name) => Object.entries(ROWS[name] ?? {}))) {
      await db
        .insertInto(table as keyof Tables)
        .values(rows as never)
        .execute()
    }
  })
  await engine.db.destroy()
}
