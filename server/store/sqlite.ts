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
import type { Engine } from './engine.ts'
import { retry, StoreUnavailableError } from './retry.ts'
import type { Tables } from './tables.ts'
import { takeTurns } from './turns.ts'

/** The path that keeps a store in memory, for tests. */
const IN_MEMORY = ':memory:'

const BUSY = 5

/** READONLY, IOERR, FULL and CANTOPEN: what SQLite says of a disk that takes no more. It has rolled back by itself then. */
const OF_THE_DISK = [8, 10, 13, 14]

/** Opens the database in the file at `path`. */
export async function openSqlite(path: string, retryBudgetMs: number): Promise<Engine> {
  const database = await retry(async () => openFile(path), retryBudgetMs, isBusy)
  const own = { count: 0 }
  const db = new Kysely<Tables>({ dialect: nodeSqliteDialect(database, own) })
  const inTurn = takeTurns(retryBudgetMs)
  return {
    name: path,
    db,
    isShared: false,
    // The whole transaction is tried anew, not its BEGIN alone: between two tries the one connection is free for readers.
    write: (work) =>
      inTurn((budgetMs) => retry(() => db.transaction().execute(work), budgetMs, isBusy)).catch(toldOfDisk),
    state: stateOf(database, own),
  }
}

/** Whether SQLite refused a statement because another connection holds the lock that it needs. */
function isBusy(error: unknown): boolean {
  return plainCode(error) === BUSY
}

/** Throws what kept a write from being made. A disk may have room again, so clients are told to come back. */
function toldOfDisk(error: unknown): never {
  if (!OF_THE_DISK.includes(plainCode(error))) throw error
  throw new StoreUnavailableError((error as Error).message, { cause: error })
}

/** The result code of SQLite, or NaN of any other error. */
function plainCode(error: unknown): number {
  // The low byte of an extended result code is the plain one.
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : Number.NaN
}

/** Opens the SQLite file at `path`, made with its folder if need be, readable by its owner alone. */
function openFile(path: string): DatabaseSync {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true })
    // SQLite would make the file readable for everyone; its journal files take over the mode of the file.
    closeSync(openSync(path, 'a', 0o600))
  }
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true })
  try {
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    mustBeSound(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Reads all of the file: what is written into a damaged one makes it worse, and what is read from it may be wrong. Takes
 * some six seconds for a gigabyte.
 */
function mustBeSound(database: DatabaseSync): void {
  const [result = 'unknown'] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {})
  if (result !== 'ok') throw new Error(`it is damaged, put a backup in its place (${result})`)
}

/** Kysely on `node:sqlite`, with one connection whose transactions take the write lock at once or fail at once. */
function nodeSqliteDialect(database: DatabaseSync, own: ChangeCount): Dialect {
  return {
    createDriver: () => new ImmediateDriver(database, own),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** A deferred transaction that reads before it writes can lose its turn midway; an immediate one never does. */
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
    // After a full disk and its like SQLite has rolled back by itself; a second rollback would hide the cause.
    if (this.#database.isTransaction) await super.rollbackTransaction(connection)
  }
}

/** Lets Kysely run all migrations in one transaction: SQLite can roll back a changed schema, and the lock is ours. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Every other statement may change something, `BEGIN` and `COMMIT` among them. */
const READS = /^\s*select\b/i

/** Beyond so many texts of statements all are prepared anew: those that occur again and again are a few dozen. */
const MOST_STATEMENTS = 500

function asSqliteDatabase(database: DatabaseSync, own: ChangeCount): SqliteDatabase {
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()

  return {
    close: () => database.close(),
    // Preparing takes longer than running most statements.
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

/**
 * Makes a function that tells one state of the database from another: its number stays the same as long as nobody
 * commits a change, neither another connection nor this one, which adds up its own in `own`. Undefined while this
 * connection is in the middle of a change, which may yet be rolled back. Asking takes one or two microseconds.
 */
function stateOf(database: DatabaseSync, own: ChangeCount): () => number | undefined {
  // Grows with what other connections commit, and with that alone.
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

/** How many statements that may change something this connection has begun. */
interface ChangeCount {
  count: number
}
