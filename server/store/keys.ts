import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Store } from './store.ts'
import type { ApiKeyTable, LimitReset } from './tables.ts'

const PREFIX = 'sk-tb-v1-'

/** Who owns a key that was made without naming a user. */
export const DEFAULT_USER_ID = 'user_default'

/** The workspace of a key that was made without naming one; of the form of a random UUID, as clients check it. */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000000'

/** A key as the store keeps it: without its secret. */
export type ApiKey = Selectable<ApiKeyTable>

/** What may be said about a new key; anything not said has its default. */
export interface NewKey {
  name?: string | undefined
  userId?: string | undefined
  workspaceId?: string | undefined
  isManagement?: boolean | undefined
  isFreeTier?: boolean | undefined
  expiresAt?: Date | undefined
  limitUsd?: string | undefined
  limitReset?: LimitReset | undefined
  includeByokInLimit?: boolean | undefined
}

/** A key just made. `secret` is shown now and never again. */
export interface CreatedKey {
  secret: string
  key: ApiKey
}

/** The keys of a store. */
export interface ApiKeys {
  create(details: NewKey, now: Date): Promise<CreatedKey>
  /** Makes the first key of a new store; undefined when it ever had one, also if two processes ask at once. */
  createFirst(details: NewKey, now: Date): Promise<CreatedKey | undefined>
  findByHash(hash: string): Promise<ApiKey | undefined>
}

/** SHA-256 of a whole key in lower-case hex: the only form of it that is stored. */
export function hashKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function apiKeys(store: Store): ApiKeys {
  return {
    async create(details, now) {
      const created = makeKey(details, now)
      await store.write((transaction) => transaction.insertInto('api_keys').values(created.key).execute())
      return created
    },

    async createFirst(details, now) {
      const created = makeKey(details, now)
      return await store.write(async (transaction) => {
        const existing = await transaction.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()
        if (existing !== undefined) return undefined
        await transaction.insertInto('api_keys').values(created.key).execute()
        return created
      })
    },

    async findByHash(hash) {
      return await store.db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()
    },
  }
}

function makeKey(details: NewKey, now: Date): CreatedKey {
  const random = randomBytes(32).toString('hex')
  const secret = PREFIX + random
  const key: ApiKey = {
    id: randomUUID(),
    hash: hashKey(secret),
    label: `${PREFIX}${random.slice(0, 3)}...${random.slice(-3)}`,
    name: details.name ?? null,
    creator_user_id: details.userId ?? DEFAULT_USER_ID,
    workspace_id: details.workspaceId ?? DEFAULT_WORKSPACE_ID,
    is_management: Number(details.isManagement ?? false),
    is_free_tier: Number(details.isFreeTier ?? false),
    limit_usd: details.limitUsd ?? null,
    limit_reset: details.limitReset ?? null,
    include_byok_in_limit: Number(details.includeByokInLimit ?? false),
    created_at: now.toISOString(),
    expires_at: details.expiresAt?.toISOString() ?? null,
    revoked_at: null,
  }
  return { secret, key }
}
