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
import type { Engine } from './engine.ts'
import { retry, StoreUnavailableError, UnknownOutcomeError } from './retry.ts'
import type { Tables } from './tables.ts'
import { takeTurns } from './turns.ts'

/** How many connections a process has at most; `?max=` in the URL says otherwise. */
const MOST_CONNECTIONS = 10

/** As PostgreSQL and `pg` call them; the URL may say otherwise. The last one is for a network that swallows answers. */
const TIMEOUTS = {
  connectionTimeoutMillis: 5000,
  statement_timeout: 10_000,
  // Whoever stops in the middle of a write, and holds the lock, is cut off by the database.
  idle_in_transaction_session_timeout: 10_000,
  query_timeout: 15_000,
}

/** The advisory lock that every write takes: any number of ours, and the schema that the store lies in. */
export const WRITE_LOCK = '1414483010, quote_ident(current_schema())::regnamespace::oid::int'

/** Opens the database at `url` (`postgres://…`). Connects when it is first used, and anew whenever it was lost. */
export function openPostgres(url: string, retryBudgetMs: number): Engine {
  const pool = new Pool({
    ...TIMEOUTS,
    connectionString: url,
    max: Number(/[?&]max=(\d{1,4})(?=&|$)/.exec(url)?.[1] ?? MOST_CONNECTIONS),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'tokenboard',
    types: { getTypeParser: parserOf },
  })
  // Without a listener a connection that is lost would end the process. Whoever uses it is told, and nobody else needs
  // to be: the pool makes another one.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: toldApart(pool) }) })
  const inTurn = takeTurns(retryBudgetMs)
  return {
    name: nameOf(url),
    db,
    isShared: true,
    write: (work) => inTurn((budgetMs) => retry((remainingMs) => writeOnce(db, work, remainingMs), budgetMs, mayPass)),
    // What another server changed is known by asking alone.
    state: () => undefined,
  }
}

function nameOf(url: string): string {
  const { user, host, port, database } = new Client({ connectionString: url })
  return `postgres://${user}@${host}:${port}/${database}`
}

/**
 * One transaction, all of it behind the lock. Read committed, because what a statement sees must be no older than the
 * lock: a snapshot of the whole transaction would be taken while it waits.
 */
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
        // 0 would be no limit.
        const timeout = `${Math.max(1, Math.ceil(lockTimeoutMs))}ms`
        await sql`SELECT set_config('lock_timeout', ${timeout}, true)`.execute(transaction)
        await sql`SELECT pg_advisory_xact_lock(${sql.raw(WRITE_LOCK)})`.execute(transaction)
        const result = await work(transaction)
        isCommitting = true
        return result
      })
  } catch (error) {
    if (!(isCommitting && error instanceof StoreUnavailableError)) throw error
    throw new UnknownOutcomeError('the store was lost while it kept a change; whether it has it is not known', {
      cause: error,
    })
  }
}

const LOCKED = new Set(['55P03', '40P01', '40001'])

/** Wrong credentials and databases that are not there do not become right by themselves. */
const REFUSED = /^(28|3D)/

function mayPass(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return false
  if (error instanceof StoreUnavailableError) return !REFUSED.test(codeOf(error.cause))
  return LOCKED.has(codeOf(error))
}

/** The SQLSTATE of an error that the database told; '' for any other. */
function codeOf(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}

/**
 * SQLSTATE of a database that cannot serve now: connection, credentials and database, resources, an operator's or a
 * timeout's intervention, its disk; a session that was idle within a transaction; a standby, which takes no writes.
 */
const UNAVAILABLE = /^(08|28|3D|53|57|58|25P03|25006)/

/** Whether an error says something of the connection or the database, and nothing of the statement. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE.test(codeOf(error))
  // `pg` throws plain errors for lost connections; those of these two kinds come from reading and writing values.
  return !(error instanceof TypeError || error instanceof RangeError)
}

/** The pool, whose connections tell by `StoreUnavailableError` that they are lost, and are not used again then. */
function toldApart(pool: Pool): PostgresPool {
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
    // Its other form, with a cursor, is not used here.
    query: (async (text: string, values: readonly unknown[]) => {
      // After a loss Kysely still rolls back; the first error is the one that says what happened.
      if (lost !== undefined) throw lost
      try {
        return await client.query(text, [...values])
      } catch (error) {
        // It holds values of the row, and errors are logged.
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

/** Node tells of a host with several addresses by an error without a message, which has one for each address. */
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

/** Migrations run in a write transaction, which has the lock already. */
class LockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** What the migrations say in the words of SQLite: its integers have 64 bits, its texts are compared byte by byte. */
const TYPES: Record<string, string> = { integer: 'bigint', text: 'text collate "C"' }

class PortableCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(TYPES[node.dataType] ?? node.dataType)
  }
}

/**
 * Knows the names of the tables, which is all that migrating asks for, in the schema that the store lies in. Kysely's own
 * describes every column of every schema of the database.
 */
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

/** Sums and counts of integers are `numeric` and `bigint`, which `pg` hands out as text. */
const PARSERS: Record<number, (text: string) => number> = {
  [types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [types.builtins.INT8]: toInteger,
  [types.builtins.NUMERIC]: toInteger,
}

/** The same values as from SQLite, of this pool alone and not of everything that uses `pg`. */
function parserOf(type: number, format?: 'text' | 'binary') {
  return PARSERS[type] ?? types.getTypeParser(type, format as 'text')
}

function toInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is no integer that JavaScript counts exactly`)
  return number
}
