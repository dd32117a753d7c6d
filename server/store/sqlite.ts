import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { type Engine, type ObserveStatement, timed } from './engine.ts'
import { retry, StoreUnavailableError, takeTurns } from './retry.ts'
import type { Tables } from './tables.ts'

const IN_MEMORY = ':memory:'

/** SQLite's code for a database that another connection locks. */
export const BUSY = 5

/** READONLY, IOERR, FULL and CANTOPEN: disk errors, after which SQLite has rolled back itself. */
const OF_THE_DISK = [8, 10, 13, 14]

export async function openSqlite(path: string, retryBudgetMs: number, observe?: ObserveStatement): Promise<Engine> {
  const database = await retry(async () => openFile(path), retryBudgetMs, isBusy)
  const own = { count: 0 }
  const db = new Kysely<Tables>({ dialect: nodeSqliteDialect(database, own), ...timed(observe) })
  const inTurn = takeTurns(retryBudgetMs)
  return {
    name: path,
    db,
    textType: 'text',
    // Retry the whole transaction, not only its BEGIN, so that readers can use the connection in between.
    write: (work) =>
      inTurn((budgetMs) => retry(() => db.transaction().execute(work), budgetMs, isBusy)).catch(rethrowDiskError),
    state: stateOf(database, own),
  }
}

function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY
}

/** Turns disk errors into `StoreUnavailableError`: the disk may have space again later. */
function rethrowDiskError(error: unknown): never {
  if (!OF_THE_DISK.includes(primaryCode(error))) throw error
  throw new StoreUnavailableError((error as Error).message, { cause: error })
}

/** SQLite's code of an error without its details; NaN for other errors. */
export function primaryCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : Number.NaN
}

/** Opens the SQLite file at `path`, or creates it, readable by its owner only. */
function openFile(path: string): DatabaseSync {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true })
    // SQLite would make the file readable for everyone. Its journal files copy this mode.
    closeSync(openSync(path, 'a', 0o600))
  }
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true })
  try {
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    verifyDatabase(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Reads the whole file, because writing to a damaged one makes it worse. Takes about six seconds per gigabyte. */
function verifyDatabase(database: DatabaseSync): void {
  const [result = 'unknown'] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {})
  if (result !== 'ok') throw new Error(`it is damaged; restore a backup (${result})`)
}

/** Kysely on `node:sqlite` with one connection, whose transactions take the write lock immediately or fail. */
function nodeSqliteDialect(database: DatabaseSync, own: ChangeCount): Dialect {
  return {
    createDriver: () => new ImmediateDriver(database, own),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** A deferred transaction that reads before writing can fail midway; an immediate one cannot. */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync, own: ChangeCount) {
    super({ database: asSqliteDatabase(database, own) })
    this.#database = database
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite has already rolled back after a full disk. A second rollback would hide the cause.
    if (this.#database.isTransaction) await super.rollbackTransaction(connection)
  }
}

/** All other statements may change something, including `BEGIN` and `COMMIT`. */
const READS = /^\s*select\b/i

/** Bounds the cache of prepared statements. Only a few dozen occur regularly. */
const MOST_STATEMENTS = 500

function asSqliteDatabase(database: DatabaseSync, own: ChangeCount): SqliteDatabase {
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()

  return {
    close: () => database.close(),
    // Preparing most statements takes longer than running them.
    prepare(sql) {
      if (!READS.test(sql)) own.count++
      const known = prepared.get(sql)
      if (known !== undefined) return known
      if (prepared.size >= MOST_STATEMENTS) prepared.clear()
      const made = prepare(database, sql)
      prepared.set(sql, made)
      return made
    },
  }
}

function prepare(database: DatabaseSync, sql: string): ReturnType<SqliteDatabase['prepare']> {
  const statement = database.prepare(sql)
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  }
}

/** Returns a number that changes with every commit; undefined during this connection's own transaction. */
function stateOf(database: DatabaseSync, own: ChangeCount): () => number | undefined {
  // Changes only with commits of other connections.
  const byOthers = database.prepare('PRAGMA data_version')
  byOthers.setReturnArrays(true)
  let seenOwn = 0
  let seenOthers: unknown
  let state = 0

  return () => {
    if (database.isTransaction) return undefined
    const others = (byOthers.get() as unknown as unknown[])[0]
    if (own.count !== seenOwn || others !== seenOthers) state++
    seenOwn = own.count
    seenOthers = others
    return state
  }
}

interface ChangeCount {
  count: number
}
