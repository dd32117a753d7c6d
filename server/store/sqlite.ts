import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/** The path that keeps a store in memory, for tests. */
export const IN_MEMORY = ':memory:'

/** Opens the SQLite file at `path`, made with its folder if need be, readable by its owner alone. */
export function openSqlite(path: string): DatabaseSync {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true })
    // SQLite would make the file readable for everyone; its journal files take over the mode of the file.
    closeSync(openSync(path, 'a', 0o600))
  }
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true })
  try {
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Kysely on `node:sqlite`, with one connection whose transactions take the write lock at once or fail at once. */
export function nodeSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createDriver: () => new ImmediateDriver(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** A deferred transaction that reads before it writes can lose its turn midway; an immediate one never does. */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    super({ database: asSqliteDatabase(database) })
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

/** Beyond so many texts of statements all are prepared anew: those that occur again and again are a few dozen. */
const MOST_STATEMENTS = 500

function asSqliteDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()

  return {
    close: () => database.close(),
    // Preparing takes longer than running most statements.
    prepare(sql) {
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
 * Makes a function that tells one state of the database from another: its number stays the same as long as nobody, this
 * connection or any other, commits a change. Undefined while this connection is in the middle of one, which may yet be
 * rolled back. Asking takes about 2 µs.
 */
export function stateOf(database: DatabaseSync): () => number | undefined {
  // Of the file as others left it, and of what this connection did to it: neither counts what the other does.
  const byOthers = database.prepare('PRAGMA data_version')
  const byThis = database.prepare('SELECT total_changes() AS total')
  let seen: unknown[] = []
  let state = 0

  return () => {
    if (database.isTransaction) return undefined
    const found = [byOthers.get()?.['data_version'], byThis.get()?.['total']]
    if (found[0] !== seen[0] || found[1] !== seen[1]) state++
    seen = found
    return state
  }
}
