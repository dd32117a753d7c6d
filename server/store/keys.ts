import { hash as digest, randomBytes, randomUUID } from 'node:crypto'
import type { Selectable, Transaction } from 'kysely'
import type { LimitReset } from '../schemas/key.ts'
import { storeMemory } from './memory.ts'
import type { Store } from './store.ts'
import type { ApiKeyTable, Tables } from './tables.ts'

const PREFIX = 'sk-tb-v1-'

export const DEFAULT_USER_ID = 'user_default'

/** The default workspace of a key. Clients expect a random UUID's format. */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000000'

export type ApiKey = Selectable<ApiKeyTable>

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

/** A new key. Its `secret` is not stored and shown only once. */
export interface CreatedKey {
  secret: string
  key: ApiKey
}

/** SHA-256 of a whole key in lower-case hex, the only stored form. */
export function hashKey(secret: string): string {
  return digest('sha256', secret, 'hex')
}

/** About ten thousand keys. Unknown hashes are not cached, because clients can make up any number of them. */
const MEMORY_BYTES = 8 * 2 ** 20
const BYTES_OF_KEY = 800

export type ApiKeys = ReturnType<typeof apiKeys>

export function apiKeys(store: Store) {
  const found = storeMemory<ApiKey | undefined>(store, MEMORY_BYTES, (key) => key && BYTES_OF_KEY)
  return {
    async create(details: NewKey, now: Date): Promise<CreatedKey> {
      const created = makeKey(details, now)
      await store.write((transaction) => transaction.insertInto('api_keys').values(created.key).execute())
      return created
    },

    /** Creates the first key of a new store; undefined if it ever had one, even if two processes try at once. */
    async createFirst(details: NewKey, now: Date): Promise<CreatedKey | undefined> {
      const created = makeKey(details, now)
      return await store.write(async (transaction) => {
        const existing = await transaction.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()
        if (existing !== undefined) return undefined
        await transaction.insertInto('api_keys').values(created.key).execute()
        return created
      })
    },

    /** Cached while the store's `state` is unchanged, so a revocation by any process takes effect at once. */
    findByHash: (hash: string, state?: number): ApiKey | undefined | Promise<ApiKey | undefined> =>
      found.get(
        hash,
        () => store.db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst(),
        state,
      ),

    /** Keys with this id or label. Labels are short and may not be unique. */
    findByName: (idOrLabel: string): Promise<ApiKey[]> =>
      store.db
        .selectFrom('api_keys')
        .selectAll()
        .where((eb) => eb.or([eb('id', '=', idOrLabel), eb('label', '=', idOrLabel)]))
        .orderBy('created_at')
        .orderBy('id')
        .execute(),

    list: (): Promise<ApiKey[]> =>
      store.db.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id').execute(),

    /** Revokes a key for all processes at once. A previous revocation keeps its time. */
    async revoke(id: string, now: Date): Promise<ApiKey | undefined> {
      return await store.write((transaction) => revoke(transaction, id, now))
    },

    /** Replaces a valid key with a new one that has its attributes; undefined if there is none. */
    async rotate(id: string, now: Date): Promise<CreatedKey | undefined> {
      return await store.write(async (transaction) => {
        const old = await transaction.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
        if (old === undefined || !isValid(old, now)) return undefined
        await revoke(transaction, id, now)
        const { secret, key } = makeKey({}, now)
        const { id: newId, hash, label, created_at } = key
        const created = { secret, key: { ...old, id: newId, hash, label, created_at } }
        await transaction.insertInto('api_keys').values(created.key).execute()
        return created
      })
    },
  }
}

export function isValid({ revoked_at, expires_at }: ApiKey, now: Date): boolean {
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > now.getTime())
}

async function revoke(transaction: Transaction<Tables>, id: string, now: Date): Promise<ApiKey | undefined> {
  await transaction
    .updateTable('api_keys')
    .set({ revoked_at: now.toISOString() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await transaction.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
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
