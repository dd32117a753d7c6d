import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBMaterializedResult,
  type DuckDBValue,
  type JS,
  listValue,
  structValue,
  version,
} from '@duckdb/node-api'
import { BuildError, reasonOf, UsageError } from './errors.ts'
import { readStatement } from './statements.ts'

/** A value bound to a `$parameter`, or stored in a variable: lists and structs of text, numbers, text, truth values, null. */
export type SqlValue = string | number | bigint | boolean | null | readonly string[] | Readonly<Record<string, string>>
export type SqlParameters = Readonly<Record<string, SqlValue>>

export interface DatabaseOptions {
  /** The file of the working database; DuckDB holds a lock on it for as long as it is open. */
  path: string
  /** Where intermediate results go that exceed the memory limit. */
  temporaryFolder: string
  memoryLimit: string | undefined
  /** As many as the machine has, unless given. */
  threads?: number | undefined
  signal: AbortSignal
}

const PROGRESS_INTERVAL_MS = 200

/** The version of the embedded DuckDB, such as `v1.5.5`. */
export const DUCKDB_VERSION = version()

/**
 * DuckDB as this project uses it: statements stand in the `.sql` files of the rooms and are called by `stage/name`; values are
 * bound, never written into them.
 * An abort of the signal interrupts the running statement.
 */
export class Database {
  readonly #connection: DuckDBConnection
  readonly #instance: DuckDBInstance
  readonly #path: string
  readonly #signal: AbortSignal
  /** What was set and defined last: half of the statements of a long build would only say the same again. */
  readonly #variables = new Map<string, SqlValue>()
  readonly #definitions = new Map<string, string>()
  readonly #interrupt = () => this.#connection.interrupt()

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    { path, signal }: Pick<DatabaseOptions, 'path' | 'signal'>,
  ) {
    this.#instance = instance
    this.#connection = connection
    this.#path = path
    this.#signal = signal
    signal.addEventListener('abort', this.#interrupt)
  }

  /** Opens the working database. Throws `BuildError` when another process has it open, `UsageError` for a path with a `?`. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const instance = await createInstance(options)
    const database = new Database(instance, await instance.connect(), options)
    await database.script('database/settings')
    if (options.memoryLimit !== undefined)
      await database.run('database/set_memory_limit', { memory_limit: options.memoryLimit })
    await database.script('macros/define')
    return database
  }

  /**
   * From now on statements reach what lies below these folders, the file of the database and its temporary folder: no
   * other file, no network, no extension, whatever a file or a value should make DuckDB do. A link counts by where it leads.
   */
  async confine(folders: readonly string[]): Promise<void> {
    await this.run('database/set_allowed_directories', { folders })
    await this.script('database/confine')
  }

  /** Runs a named statement. */
  async run(name: string, parameters: SqlParameters = {}): Promise<void> {
    await this.execute(readStatement(name), parameters)
  }

  /** Runs what consists of several statements, which cannot have parameters. */
  async script(name: string): Promise<void> {
    await this.execute(readStatement(name), {})
  }

  /** Runs SQL that was put together from statements of this project and generated identifiers. */
  async execute(sql: string, parameters: SqlParameters = {}): Promise<void> {
    await this.#guard(() => this.#query(sql, parameters))
  }

  /** Runs a named statement and reports which share of it is done, 0 to 1, while it runs. */
  async runWithProgress(name: string, parameters: SqlParameters, report: (share: number) => void): Promise<void> {
    const timer = setInterval(() => {
      report(Math.max(0, this.#connection.progress.percentage) / 100)
    }, PROGRESS_INTERVAL_MS)
    try {
      await this.run(name, parameters)
    } finally {
      clearInterval(timer)
    }
  }

  /** All rows that a named statement returns; integers of 64 bits and more come as `bigint`. */
  async rows<Row extends Record<string, JS>>(name: string, parameters: SqlParameters = {}): Promise<Row[]> {
    const query = async () => (await this.#query(readStatement(name), parameters)).getRowObjectsJS()
    return (await this.#guard(query)) as Row[]
  }

  /** The same in batches as they come, for more rows than fit in memory; no other statement may run before the last. */
  async *stream<Row extends Record<string, JS>>(name: string, parameters: SqlParameters = {}): AsyncIterable<Row[]> {
    const result = await this.#guard(() => this.#connection.stream(readStatement(name), bind(parameters)))
    yield* result.yieldRowObjectJs() as AsyncIterable<Row[]>
  }

  /** Sets a variable that views read with `getvariable`. */
  async setVariable(name: string, value: SqlValue): Promise<void> {
    if (isDeepStrictEqual(this.#variables.get(name), value)) return
    await this.execute(`SET VARIABLE ${name} = $value`, { value })
    this.#variables.set(name, value)
  }

  /**
   * Defines the views of `name`, unless they are defined already by the same SQL over columns of the same `types`: over
   * others DuckDB would find that a view was altered.
   */
  async define(name: string, sql: string, types: readonly (readonly string[])[]): Promise<void> {
    const definition = JSON.stringify([sql, types])
    if (this.#definitions.get(name) === definition) return
    await this.execute(sql)
    this.#definitions.set(name, definition)
  }

  /** Sets the time zone in which text and timestamps without an offset are read. */
  async setTimeZone(name: string): Promise<void> {
    if (this.#definitions.get('time zone') === name) return
    await this.run('database/set_time_zone', { time_zone: name })
    this.#definitions.set('time zone', name)
  }

  /**
   * Fills a table by appending rows; each row has the table's columns in their order, as text or null. Tables of the
   * state are kept in the file of the database, all others are temporary.
   */
  async append(table: string, rows: Iterable<readonly (string | null)[]>): Promise<void> {
    const catalog = table.startsWith('state_') ? undefined : 'temp'
    const appender = await this.#guard(() => this.#connection.createAppender(table, 'main', catalog))
    for (const row of rows) {
      for (const value of row) {
        if (value === null) appender.appendNull()
        else appender.appendVarchar(value)
      }
      appender.endRow()
    }
    appender.closeSync()
  }

  /** Runs `work` so that all of what it changes in the state is kept, or none of it. */
  async transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.execute('BEGIN TRANSACTION')
    try {
      const result = await work()
      await this.execute('COMMIT')
      return result
    } catch (error) {
      this.#definitions.clear()
      // After a COMMIT that failed there is nothing left to roll back, and DuckDB says so in place of the reason.
      await this.#connection.run('ROLLBACK').catch(() => {})
      throw error
    }
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#interrupt)
    this.#connection.closeSync()
    this.#instance.closeSync()
  }

  /** DuckDB's `run` with values would look for further statements first: a third step where two do. */
  async #query(sql: string, parameters: SqlParameters): Promise<DuckDBMaterializedResult> {
    if (Object.keys(parameters).length === 0) return this.#connection.run(sql)
    const prepared = await this.#connection.prepare(sql)
    try {
      prepared.bind(bind(parameters))
      return await prepared.run()
    } finally {
      prepared.destroySync()
    }
  }

  async #guard<Result>(query: () => Promise<Result>): Promise<Result> {
    this.#signal.throwIfAborted()
    try {
      return await query()
    } catch (error) {
      this.#signal.throwIfAborted()
      throw inPlainWords(error, this.#path)
    }
  }
}

/** What DuckDB says of its memory and of its own file, in the words of someone who has only settings to change. */
function inPlainWords(error: unknown, path: string): unknown {
  const reason = reasonOf(error)
  if (reason.startsWith('Out of Memory Error')) {
    return new BuildError(`there is too little memory for this; give MEMORY_LIMIT more (${reason})`)
  }
  const isCut = reason.includes('Could not read enough bytes') && reason.includes(path)
  if (isCut || reason.includes('Corrupt database file')) {
    return new BuildError(`${path} is damaged; ${remedyFor(path)} (${reason})`)
  }
  return error
}

/** The state may be all that is left of raw files that went since the last build, so nothing but a person throws it away. */
export function remedyFor(path: string): string {
  const folder = dirname(path)
  return (
    `if there is ${path}.wal, move it away first: what a stopped build had noted in it is read again. Else restore ` +
    `${folder} from a backup, or delete it, and the next build reads all files again; it then knows nothing of files that ` +
    'are gone since they were read'
  )
}

/** Raised for a file that is damaged, that another version of DuckDB wrote, or that is something else. */
export class UnreadableDatabaseError extends BuildError {}

const UNREADABLE = /not a valid DuckDB|not read enough bytes|corrupt|version number|checksum|serializ|WAL/i

async function createInstance(options: DatabaseOptions): Promise<DuckDBInstance> {
  return openExclusively(options.path, {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
    temp_directory: options.temporaryFolder,
    ...(options.threads !== undefined && { threads: String(options.threads) }),
  })
}

/** What DuckDB writes before the first table: three headers of 4096 bytes. */
export const EMPTY_DATABASE_BYTES = 12_288

/** Opens a file that no other process has open then. Throws `BuildError` where one has, and what is wrong with the file. */
export async function openExclusively(
  path: string,
  settings: Record<string, string> = { threads: '1', enable_external_access: 'false' },
): Promise<DuckDBInstance> {
  // DuckDB takes what follows for no part of the name, and writes beside the file where there is no folder.
  if (path.includes('?'))
    throw new UsageError(`${path} has a question mark, which DuckDB cannot have; choose another path`)
  try {
    return await DuckDBInstance.create(path, settings)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (message.includes('Could not set lock on file')) {
      throw new BuildError(`another build is running: it holds ${path}; try again when it is done`)
    }
    if (UNREADABLE.test(message.replaceAll(path, '')))
      throw new UnreadableDatabaseError(`${path} is no database that can be read`)
    throw new BuildError(`${path} cannot be opened: ${message}`)
  }
}

function bind(parameters: SqlParameters): Record<string, DuckDBValue> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, toDuckDb(value)]))
}

function toDuckDb(value: SqlValue): DuckDBValue {
  if (value === null || typeof value !== 'object') return value
  return Array.isArray(value) ? listValue(value) : structValue(value as Record<string, string>)
}
