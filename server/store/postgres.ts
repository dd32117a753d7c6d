import {
  type DataTypeNode,
  type DialectAdapter,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  sql,
  type TableMetadata,
  type Transaction,
} from 'kysely'
import { Client, DatabaseError, Pool, type PoolClient, types } from 'pg'
import { type Engine, type ObserveStatement, timed } from './engine.ts'
import { retry, StoreUnavailableError, UnknownOutcomeError } from './retry.ts'
import type { Tables } from './tables.ts'
import { takeTurns } from './turns.ts'

const MOST_CONNECTIONS = 10

/** Defaults; the URL overrides them. `query_timeout` is for networks that drop responses. */
const TIMEOUTS = {
  connectionTimeoutMillis: 5000,
  statement_timeout: 10_000,
  // The database ends a writer that stalls while it holds the lock.
  idle_in_transaction_session_timeout: 10_000,
  query_timeout: 15_000,
}

/** The advisory lock of all writes: our own number and the schema of the store. */
export const WRITE_LOCK = '1414483010, quote_ident(current_schema())::regnamespace::oid::int'

/** Opens the database at `url` (`postgres://…`). Connects on first use, and again after a loss. */
export function openPostgres(url: string, retryBudgetMs: number, observe?: ObserveStatement): Engine {
  const pool = new Pool({
    ...TIMEOUTS,
    connectionString: url,
    max: Number(/[?&]max=(\d{1,4})(?=&|$)/.exec(url)?.[1] ?? MOST_CONNECTIONS),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'tokenboard',
    types: { getTypeParser: parserOf },
  })
  // Without these listeners a lost connection would end the process. Its user gets the error, and the pool reconnects.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: detectingLoss(pool) }), ...timed(observe) })
  const inTurn = takeTurns(retryBudgetMs)
  return {
    name: nameOf(url),
    db,
    isShared: true,
    write: (work) => inTurn((budgetMs) => retry((remainingMs) => writeOnce(db, work, remainingMs), budgetMs, mayPass)),
    // Only a query shows what other servers changed.
    state: () => undefined,
  }
}

/** Who connects to what by `url`. */
function connectionOf(url: string) {
  const { user, host, port, database, password } = new Client({ connectionString: url })
  return { user, host, port, database, password }
}

function nameOf(url: string): string {
  const { user, host, port, database } = connectionOf(url)
  return `postgres://${user}@${host}:${port}/${database}`
}

/** One transaction behind the lock. Read committed: a stricter level's snapshot would be older than the lock. */
async function writeOnce<T>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  lockTimeoutMs: number,
): Promise<T> {
  let isCommitting = false
  try {
    return await db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (transaction) => {
        const timeout = `${Math.max(1, Math.ceil(lockTimeoutMs))}ms`
        await sql`SELECT set_config('lock_timeout', ${timeout}, true)`.execute(transaction)
        await sql`SELECT pg_advisory_xact_lock(${sql.raw(WRITE_LOCK)})`.execute(transaction)
        const result = await work(transaction)
        isCommitting = true
        return result
      })
  } catch (error) {
    if (!(isCommitting && error instanceof StoreUnavailableError)) throw error
    throw new UnknownOutcomeError('the connection was lost during a commit; the change may or may not be stored', {
      cause: error,
    })
  }
}

const LOCKED = new Set(['55P03', '40P01', '40001'])

/** Wrong credentials and missing databases: retrying does not help. */
const REFUSED = /^(28|3D)/

function mayPass(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return false
  if (error instanceof StoreUnavailableError) return !REFUSED.test(codeOf(error.cause))
  return LOCKED.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}

/** SQLSTATEs of a database that is unreachable, full, shut down, timed out, or a read-only standby. */
const UNAVAILABLE = /^(08|28|3D|53|57|58|25P03|25006)/

/** Whether an error is about the connection or the database, not the statement. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE.test(codeOf(error))
  // `pg` throws plain errors for lost connections. TypeError and RangeError come from converting values.
  return !(error instanceof TypeError || error instanceof RangeError)
}

/** A pool whose connections throw `StoreUnavailableError` once they are lost, and are not reused then. */
function detectingLoss(pool: Pool): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw unavailable(error)
      })
      return withLoss(client)
    },
    end: () => pool.end(),
    options: pool.options,
  }
}

function withLoss(client: PoolClient): PostgresPoolClient {
  let lost: StoreUnavailableError | undefined
  return {
    query: (async (text: string, values: readonly unknown[]) => {
      // Kysely still rolls back after a loss. Throw the first error again, which has the cause.
      if (lost !== undefined) throw lost
      try {
        return await client.query(text, [...values])
      } catch (error) {
        // The detail has values of the row, and errors are logged.
        if (error instanceof DatabaseError) error.detail = undefined
        if (!isUnavailable(error)) throw error
        lost = unavailable(error)
        throw lost
      }
    }) as unknown as PostgresPoolClient['query'],
    release: (isBroken) => client.release(isBroken || lost !== undefined),
  }
}

function unavailable(error: unknown): StoreUnavailableError {
  return new StoreUnavailableError(reasonOf(error), { cause: error })
}

/** The message of an error. AggregateError, for a host with several addresses, has one per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}

class StoreDialect extends PostgresDialect {
  override createAdapter(): DialectAdapter {
    return new LockedAdapter()
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new PortableCompiler()
  }

  override createIntrospector(db: Kysely<unknown>): PostgresIntrospector {
    return new SchemaIntrospector(db)
  }
}

/** Migrations run in a write transaction, which already has the lock. */
class LockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** Translates SQLite's types in migrations: 64-bit integers, and text compared by bytes. */
const TYPES: Record<string, string> = { integer: 'bigint', text: 'text collate "C"' }

class PortableCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(TYPES[node.dataType] ?? node.dataType)
  }
}

/** Returns only the names of tables in the store's schema, which migrating needs. Kysely's own reads every column. */
class SchemaIntrospector extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string }>`
      SELECT tablename AS name, schemaname AS schema FROM pg_tables WHERE schemaname = current_schema()
    `.execute(this.#db)
    return rows.map((table) => ({ ...table, isView: false, isForeign: false, columns: [] }))
  }
}

/** `pg` returns `numeric` and `bigint` sums as text. */
const PARSERS: Record<number, (text: string) => number> = {
  [types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [types.builtins.INT8]: toInteger,
  [types.builtins.NUMERIC]: toInteger,
}

function parserOf(type: number, format?: 'text' | 'binary') {
  return PARSERS[type] ?? types.getTypeParser(type, format as 'text')
}

function toInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is no integer that JavaScript counts exactly`)
  return number
}
