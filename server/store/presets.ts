import { randomUUID } from 'node:crypto'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Page } from '../schemas/pagination.ts'
import { Preset, type PresetVersion, type PresetWithDesignatedVersion } from '../schemas/preset.ts'
import type { ApiKey } from './keys.ts'
import type { Store } from './store.ts'
import type { PresetVersionTable, Tables } from './tables.ts'

export type Author = Pick<ApiKey, 'workspace_id' | 'creator_user_id'>

export type VersionContent = Pick<PresetVersion, 'config' | 'system_prompt'>

export type PresetName = Pick<Preset, 'workspace_id' | 'slug'>

export interface VersionList {
  versions: AsyncIterable<PresetVersion>
  totalCount: number
}

const PRESET_COLUMNS = Object.keys(Preset.shape) as (keyof Preset)[]

export type Presets = ReturnType<typeof presets>

/**
 * The presets of a store. A workspace only sees and changes its own. Reads the `clock` inside the write transaction, so that
 * later versions have later times.
 */
export function presets(store: Store, clock: () => Date) {
  const { db } = store
  return {
    /** Adds and designates a version. Throws `StoreConflictError` if other writers block it. */
    async addVersion(author: Author, slug: string, content: VersionContent): Promise<PresetWithDesignatedVersion> {
      // Serialize before taking the lock: large contents take a while.
      const texts = toTexts(content)
      return await store.write(async (transaction) => {
        const { preset, row } = await insertVersion(transaction, author, slug, texts, clock())
        return { ...preset, designated_version: { ...row, ...content } }
      })
    },

    async find(name: PresetName): Promise<PresetWithDesignatedVersion | undefined> {
      const found = await findPreset(db, name)
      if (found === undefined) return undefined
      const { version_count: _, ...preset } = found
      return { ...preset, designated_version: await readVersion(db, { id: preset.designated_version_id }) }
    },

    async findVersion(name: PresetName, version: number): Promise<PresetVersion | undefined> {
      const preset = await findPreset(db, name)
      if (preset === undefined || version > preset.version_count) return undefined
      return await readVersion(db, { preset_id: preset.id, version })
    },

    async list(workspaceId: string, { offset, limit }: Page): Promise<{ presets: Preset[]; totalCount: number }> {
      const ofWorkspace = db.selectFrom('presets').where('workspace_id', '=', workspaceId)
      const { totalCount } = await ofWorkspace
        .select(({ fn }) => fn.countAll<number>().as('totalCount'))
        .executeTakeFirstOrThrow()
      const byUpdate = ofWorkspace.select(PRESET_COLUMNS).orderBy('update_number', 'desc').orderBy('slug')
      return { presets: await byUpdate.limit(limit).offset(offset).execute(), totalCount }
    },

    /** Versions in ascending order. They are streamed because each may be megabytes long. */
    async listVersions(name: PresetName, { offset, limit }: Page): Promise<VersionList | undefined> {
      const preset = await findPreset(db, name)
      if (preset === undefined) return undefined
      const { id, version_count: totalCount } = preset
      return { versions: readVersions(db, id, offset + 1, Math.min(offset + limit, totalCount)), totalCount }
    },
  }
}

async function insertVersion(
  transaction: Transaction<Tables>,
  author: Author,
  slug: string,
  texts: ReturnType<typeof toTexts>,
  at: Date,
) {
  const now = at.toISOString()
  const id = randomUUID()
  const { version_count: version, ...preset } = await putPreset(transaction, author, slug, id, now)
  const { creator_user_id: creator_id } = author
  const row = { id, preset_id: preset.id, version, creator_id, created_at: now, updated_at: now }
  await transaction
    .insertInto('preset_versions')
    .values({ ...row, ...texts })
    .execute()
  return { preset, row }
}

async function findPreset(db: Kysely<Tables>, { workspace_id, slug }: PresetName) {
  return await db
    .selectFrom('presets')
    .select([...PRESET_COLUMNS, 'version_count'])
    .where((eb) => eb.and({ workspace_id, slug }))
    .executeTakeFirst()
}

async function readVersion(
  db: Kysely<Tables>,
  key: { id: string } | { preset_id: string; version: number },
): Promise<PresetVersion> {
  const row = await db
    .selectFrom('preset_versions')
    .selectAll()
    .where((eb) => eb.and(key))
    .executeTakeFirstOrThrow()
  return toVersion(row)
}

async function* readVersions(db: Kysely<Tables>, presetId: string, first: number, last: number) {
  for (let version = first; version <= last; version++) yield await readVersion(db, { preset_id: presetId, version })
}

/** Creates or advances the preset in one statement that locks its row, so version numbers have no gaps. */
async function putPreset(
  transaction: Transaction<Tables>,
  { workspace_id, creator_user_id }: Author,
  slug: string,
  versionId: string,
  now: string,
) {
  return await transaction
    .insertInto('presets')
    .values({
      id: randomUUID(),
      workspace_id,
      slug,
      name: slug,
      description: null,
      status: 'active',
      status_updated_at: null,
      creator_user_id,
      designated_version_id: versionId,
      version_count: 1,
      update_number: nextUpdateNumber(transaction, workspace_id),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'slug']).doUpdateSet((eb) => ({
        designated_version_id: eb.ref('excluded.designated_version_id'),
        version_count: eb('presets.version_count', '+', 1),
        update_number: eb.ref('excluded.update_number'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returning([...PRESET_COLUMNS, 'version_count'])
    .executeTakeFirstOrThrow()
}

function nextUpdateNumber(transaction: Transaction<Tables>, workspaceId: string) {
  return transaction
    .selectFrom('presets')
    .select(({ eb, fn, lit }) => eb(fn.coalesce(fn.max('update_number'), lit(0)), '+', lit(1)).as('next'))
    .where('workspace_id', '=', workspaceId)
}

function toTexts({ config, system_prompt }: VersionContent) {
  return { config_json: JSON.stringify(config), system_prompt_json: JSON.stringify(system_prompt) }
}

function toVersion({ config_json, system_prompt_json, ...row }: Selectable<PresetVersionTable>): PresetVersion {
  return { ...row, config: JSON.parse(config_json), system_prompt: JSON.parse(system_prompt_json) }
}
