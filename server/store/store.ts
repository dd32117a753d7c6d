import { sql } from 'kysely'
import type { Engine } from './engine.ts'
import { migrate, NewerStoreError } from './migrations.ts'
import { RETRY_BUDGET_MS, StoreConflictError } from './retry.ts'
import { openSqlite } from './sqlite.ts'

/** What the server keeps beside the published files. */
export interface Store extends Engine {
  /** Throws when the store does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store that cannot be opened; the message says which and why. */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** Opens the store at `url` (`sqlite:PATH` or `postgres://…`) and brings it to the form that this code knows. */
export async function openStore(url: string, { retryBudgetMs = RETRY_BUDGET_MS } = {}): Promise<Store> {
  const engine = await openEngine(url, retryBudgetMs)
  try {
    // In a write transaction, so that of several processes that start at once one migrates and the others find it done.
    await engine.write(migrate)
  } catch (error) {
    await engine.db.destroy()
    if (error instanceof NewerStoreError || error instanceof StoreConflictError) throw error
    throw cannotBeOpened(engine.name, error)
  }
  return {
    ...engine,
    async ping() {
      await sql`SELECT id FROM api_keys LIMIT 1`.execute(engine.db)
    },
    close: () => engine.db.destroy(),
  }
}

async function openEngine(url: string, retryBudgetMs: number): Promise<Engine> {
  if (isPostgresUrl(url)) {
    // Loaded only where it is used, as it takes a while.
    const { openPostgres } = await import('./postgres.ts')
    try {
      return openPostgres(url, retryBudgetMs)
    } catch (error) {
      // The URL names files of certificates; it cannot be shown itself.
      throw cannotBeOpened('of DATABASE_URL', error)
    }
  }
  const path = url.replace(/^sqlite:/, '')
  return await openSqlite(path, retryBudgetMs).catch((error: unknown) => {
    if (error instanceof StoreConflictError) throw error
    throw cannotBeOpened(path, error)
  })
}

/** Whether a store lies in PostgreSQL. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/.test(url)
}

function cannotBeOpened(name: string, error: unknown): StoreError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreError(`the store ${name} cannot be opened: ${reason}`, { cause: error })
}
