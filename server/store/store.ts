import { sql } from 'kysely'
import type { Engine, ObserveStatement } from './engine.ts'
import { migrate, NewerStoreError } from './migrations.ts'
import { RETRY_BUDGET_MS, StoreConflictError } from './retry.ts'
import { openSqlite } from './sqlite.ts'

export interface Store extends Engine {
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store that cannot be opened. The message says which and why. */
export class StoreError extends Error {
  override name = 'StoreError'
}

interface StoreOptions {
  retryBudgetMs?: number
  observe?: ObserveStatement
}

/** Opens the store at `url` (`sqlite:PATH` or `postgres://…`) and migrates it. Throws `StoreError`. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const engine = await openEngine(url, options)
  try {
    // In a write transaction: if several processes start at once, one migrates and the others wait.
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

async function openEngine(url: string, { retryBudgetMs = RETRY_BUDGET_MS, observe }: StoreOptions): Promise<Engine> {
  if (isPostgresUrl(url)) {
    // Load it only when needed: it takes a while.
    const { openPostgres } = await import('./postgres.ts')
    try {
      return openPostgres(url, retryBudgetMs, observe)
    } catch (error) {
      // Do not show the URL, which may have a password.
      throw cannotBeOpened('of DATABASE_URL', error)
    }
  }
  const path = url.replace(/^sqlite:/, '')
  return await openSqlite(path, retryBudgetMs, observe).catch((error: unknown) => {
    if (error instanceof StoreConflictError) throw error
    throw cannotBeOpened(path, error)
  })
}

export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/.test(url)
}

function cannotBeOpened(name: string, error: unknown): StoreError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreError(`the store ${name} cannot be opened: ${reason}`, { cause: error })
}
