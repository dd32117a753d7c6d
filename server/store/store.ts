import { readFileSync } from 'node:fs'
import { sql, type Transaction } from 'kysely'
import type { Engine, ObserveStatement } from './engine.ts'
import { RETRY_BUDGET_MS, StoreConflictError } from './retry.ts'
import { openSqlite } from './sqlite.ts'
import type { Tables } from './tables.ts'

export interface Store extends Engine {
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store that cannot be opened. The message says which and why. */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** A newer version wrote the store. */
export class NewerStoreError extends Error {
  override name = 'NewerStoreError'
}

interface StoreOptions {
  retryBudgetMs?: number
  observe?: ObserveStatement
}

/** Opens the store at `url` (`sqlite:PATH` or `postgres://…`) and makes what it lacks. Throws `StoreError`. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const engine = await openEngine(url, options)
  try {
    // In a write transaction: if several processes start at once, one makes the tables and the others wait.
    await engine.write((transaction) => makeTables(transaction, engine.textType))
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

/** The form of the tables. Stores of 0.16 have the same tables, and no number. */
const FORM = 1

const TABLES = new URL('tables.sql', import.meta.url)

async function makeTables(transaction: Transaction<Tables>, textType: string): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS store_form (form integer NOT NULL)`.execute(transaction)
  const stored = await transaction.selectFrom('store_form').select('form').executeTakeFirst()
  if (stored !== undefined && stored.form > FORM) {
    throw new NewerStoreError(
      `the store was written by a newer version of tokenboard (form ${stored.form}, known is ${FORM}); update tokenboard to use it`,
    )
  }
  for (const statement of readFileSync(TABLES, 'utf8').split(/;\s*$/m)) {
    if (statement.trim() !== '') await sql.raw(statement.replaceAll(/\btext\b/g, textType)).execute(transaction)
  }
  if (stored === undefined) await transaction.insertInto('store_form').values({ form: FORM }).execute()
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
