import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBMaterializedResult,
  DuckDBScalarFunction,
  type DuckDBValue,
  type JS,
  JSDuckDBValueConverter,
  listValue,
  structValue,
  VARCHAR,
  version,
} from '@duckdb/node-api'
import { contributorName } from './contributor-name.ts'
import { isDuckDbError, meaningOf } from './duckdb-errors.ts'
import { BuildError, CliError, HeldError, reasonOf } from './errors.ts'
import { commandOf } from './lock-holder.ts'
import { macrosFor } from './macros.ts'
import { readStatement } from './statements.ts'

/** A value bound to a `$parameter` or stored in a variable. */
export type SqlValue = string | number | bigint | boolean | null | readonly string[] | Readonly<Record<string, string>>
export type SqlParameters = Readonly<Record<string, SqlValue>>

export interface DatabaseOptions {
  /** The database file. DuckDB locks it while it is open. */
  path: string
  /** Where DuckDB spills what exceeds the memory limit. */
  temporaryFolder: string
  memoryLimit: string | undefined
  threads?: number | undefined
  signal: AbortSignal
}

const PROGRESS_INTERVAL_MS = 200

export const DUCKDB_VERSION = version()

/** Runs named statements of `.sql` files with bound values. Aborting the signal interrupts the running statement. */
export class Database {
  readonly #connection: DuckDBConnection
  readonly #instance: DuckDBInstance
  readonly #path: string
  readonly #signal: AbortSignal
  /** Variables and views that are already set. Not setting them again saves half of the statements of a long build. */
  readonly #variables = new Map<string, SqlValue>()
  readonly #definitions = new Map<string, string>()
  readonly #macros = new Set<string>()
  #threads: 'one' | 'all' = 'all'
  #allThreads = 1n
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

  /** Opens the database. Throws `BuildError` if another process has it open, `CliError` if the path has a `?`. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const instance = await createInstance(options)
    const connection = await instance.connect()
    connection.registerScalarFunction(oneSpelling())
    const database = new Database(instance, connection, options)
    await database.script('database/settings')
    if (options.memoryLimit !== undefined)
      await database.run('database/set_memory_limit', { memory_limit: options.memoryLimit })
    return database
  }

  /** Confines SQL to the database and files below these folders, with links resolved: no network, no extensions. */
  async confine(folders: readonly string[]): Promise<void> {
    await this.run('database/set_allowed_directories', { folders })
    await this.script('database/confine')
  }

  async run(name: string, parameters: SqlParameters = {}): Promise<void> {
    await this.execute(readStatement(name), parameters)
  }

  /** Runs a named script of several statements, which cannot have parameters. */
  async script(name: string): Promise<void> {
    await this.execute(readStatement(name), {})
  }

  /** Runs SQL put together from the project's own statements and generated identifiers. */
  async execute(sql: string, parameters: SqlParameters = {}): Promise<void> {
    await this.#guard(() => this.#query(sql, parameters))
  }

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

  /** The rows of a named statement. Integers of 64 bits and more are `bigint`. */
  async rows<Row extends Record<string, JS>>(name: string, parameters: SqlParameters = {}): Promise<Row[]> {
    const query = async () => rowsOf(await this.#query(readStatement(name), parameters))
    return (await this.#guard(query)) as Row[]
  }

  /** The rows of a statement, and the types of its columns by name. */
  async typedRows<Row extends Record<string, JS>>(
    name: string,
    parameters: SqlParameters,
  ): Promise<{ types: Record<string, string>; rows: Row[] }> {
    return this.#guard(async () => {
      const result = await this.#query(readStatement(name), parameters)
      const types = result.columnTypes().map((type, position) => [result.columnName(position), type.toString()])
      return { types: Object.fromEntries(types), rows: rowsOf(result) as Row[] }
    })
  }

  /** Like `rows`, in batches, for more rows than fit in memory. Run no other statement until the last batch. */
  async *stream<Row extends Record<string, JS>>(name: string, parameters: SqlParameters = {}): AsyncIterable<Row[]> {
    const result = await this.#stream(name, parameters)
    yield* result.yieldRowObjectJs() as AsyncIterable<Row[]>
  }

  /** The 64-bit numbers that a named statement selects, each with one of 32 bits, none of them NULL, in pieces of some 2000. */
  async numbers(name: string, parameters: SqlParameters = {}): Promise<Iterable<Numbers>> {
    const result = await this.#guard(() => this.#query(readStatement(name), parameters))
    return Array.from({ length: result.chunkCount }, (_, position) => numbersOf(result.getChunk(position)))
  }

  /** The same for more numbers than fit in memory, in a fifth more time. Run no other statement until the last piece. */
  async *streamNumbers(name: string, parameters: SqlParameters = {}): AsyncIterable<Numbers> {
    const result = await this.#stream(name, parameters)
    for (
      let chunk = await result.fetchChunk();
      chunk !== null && chunk.rowCount > 0;
      chunk = await result.fetchChunk()
    ) {
      yield numbersOf(chunk)
    }
  }

  async setVariable(name: string, value: SqlValue): Promise<void> {
    if (isDeepStrictEqual(this.#variables.get(name), value)) return
    await this.execute(`SET VARIABLE ${name} = $value`, { value })
    this.#variables.set(name, value)
  }

  /** Defines views if their SQL or the `types` of their columns have changed: DuckDB rejects views over other types. */
  async define(name: string, sql: string, types: readonly (readonly string[])[]): Promise<void> {
    const definition = JSON.stringify([sql, types])
    if (this.#definitions.get(name) === definition) return
    await this.execute(sql)
    this.#definitions.set(name, definition)
  }

  /** Works with one thread from now on, or again with as many as there were when it was opened. */
  async useThreads(count: 'one' | 'all'): Promise<void> {
    if (this.#threads === count) return
    if (count === 'one') this.#allThreads = (await this.rows<{ threads: bigint }>('database/threads'))[0]?.threads ?? 1n
    await this.run('database/set_threads', { threads: count === 'one' ? 1 : this.#allThreads })
    this.#threads = count
  }

  /** Sets the time zone for times without an offset, in text or in timestamps. */
  async setTimeZone(name: string): Promise<void> {
    if (this.#definitions.get('time zone') === name) return
    await this.run('database/set_time_zone', { time_zone: name })
    this.#definitions.set('time zone', name)
  }

  /** Appends rows of text or null, in column order. Tables named `state_…` are on disk; all others are temporary. */
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

  async transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.execute('BEGIN TRANSACTION')
    try {
      const result = await work()
      await this.execute('COMMIT')
      return result
    } catch (error) {
      this.#definitions.clear()
      this.#macros.clear()
      // After a failed COMMIT, ROLLBACK also fails. Report the COMMIT's error.
      await this.#connection.run('ROLLBACK').catch(() => {})
      throw error
    }
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#interrupt)
    this.#connection.closeSync()
    this.#instance.closeSync()
  }

  async #stream(name: string, parameters: SqlParameters) {
    const sql = readStatement(name)
    return this.#guard(async () => {
      await this.#defineMacros(sql)
      return this.#connection.stream(sql, bind(parameters))
    })
  }

  /** Prepares and runs a statement. DuckDB's `run` with values takes one step more, to look for further statements. */
  async #query(sql: string, parameters: SqlParameters): Promise<DuckDBMaterializedResult> {
    await this.#defineMacros(sql)
    if (Object.keys(parameters).length === 0) return this.#connection.run(sql)
    const prepared = await this.#connection.prepare(sql)
    try {
      prepared.bind(bind(parameters))
      return await prepared.run()
    } finally {
      prepared.destroySync()
    }
  }

  /** Defines macros when they are first needed: to define all of them takes longer than most statements. */
  async #defineMacros(sql: string): Promise<void> {
    const missing = macrosFor(sql).filter(({ name }) => !this.#macros.has(name))
    if (missing.length === 0) return
    await this.#connection.run(missing.map((macro) => macro.sql).join(';\n'))
    for (const { name } of missing) this.#macros.add(name)
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

/** `contributorName` as a function of SQL: DuckDB knows NFC and simple letters alone. */
function oneSpelling(): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: 'one_spelling',
    parameterTypes: [VARCHAR],
    returnType: VARCHAR,
    mainFunction: (_, input, output) => {
      const texts = input.getColumnVector(0)
      for (let row = 0; row < input.rowCount; row += 1) {
        const text = texts.getItem(row)
        output.setItem(row, typeof text === 'string' ? contributorName(text) : null)
      }
      output.flush()
    },
  })
}

/** The rows are in memory already: DuckDB's own function would fetch them by way of another thread. */
function rowsOf(result: DuckDBMaterializedResult): Record<string, JS>[] {
  const names = result.deduplicatedColumnNames()
  const rows: Record<string, JS>[] = []
  for (let position = 0; position < result.chunkCount; position += 1) {
    const chunk = result.getChunk(position)
    const columns = chunk.convertColumns(JSDuckDBValueConverter)
    for (let line = 0; line < chunk.rowCount; line += 1) {
      const row: Record<string, JS> = {}
      for (const [column, name] of names.entries()) row[name] = columns[column]?.[line] ?? null
      rows.push(row)
    }
  }
  return rows
}

export interface Numbers {
  large: BigUint64Array
  small: Uint32Array
}

function numbersOf(chunk: DuckDBDataChunk): Numbers {
  const [large, small] = [0, 1].map((position) => chunk.getColumnVector(position) as { items?: unknown })
  if (large?.items instanceof BigUint64Array && small?.items instanceof Uint32Array) {
    return { large: large.items, small: small.items }
  }
  throw new Error('the columns of the statement are not of UBIGINT and UINTEGER')
}

/** Turns DuckDB's errors about memory and its own file into advice about settings. */
function inPlainWords(error: unknown, path: string): unknown {
  const reason = reasonOf(error)
  if (isDuckDbError(error, 'lowMemory')) return new LowMemoryError(`${meaningOf('lowMemory')} (${reason})`)
  const isDamaged = isDuckDbError(error, 'damaged') || (isDuckDbError(error, 'cut') && reason.includes(path))
  if (!isDamaged) return error
  return new BuildError(`${path} ${meaningOf('damaged')}; ${remedyFor(path)} (${reason})`)
}

/** Only the state may have the records of missing raw files, so only a person may delete it. */
export function remedyFor(path: string): string {
  const folder = dirname(path)
  return (
    `if there is ${path}.wal, move it away first: the changes of a stopped build are then read again. Otherwise restore ` +
    `${folder} from a backup, or delete it: the next build then reads all files again and knows nothing of missing ones`
  )
}

/** A statement needs more than `MEMORY_LIMIT`. */
export class LowMemoryError extends BuildError {}

/** A file that is damaged, written by another version of DuckDB, or not a database. */
export class UnreadableDatabaseError extends BuildError {}

async function createInstance(options: DatabaseOptions): Promise<DuckDBInstance> {
  return openExclusively(options.path, {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
    temp_directory: options.temporaryFolder,
    ...(options.threads !== undefined && { threads: String(options.threads) }),
  })
}

/** The size of an empty database: three headers of 4096 bytes. */
export const EMPTY_DATABASE_BYTES = 12_288

/** Opens a database for this process alone. Throws `HeldError` if another has it open, `BuildError` if it cannot be opened. */
export async function openExclusively(
  path: string,
  settings: Record<string, string> = { threads: '1', enable_external_access: 'false' },
): Promise<DuckDBInstance> {
  // DuckDB cuts the path at a question mark and may then write to another place.
  if (path.includes('?'))
    throw new CliError(`${path} has a question mark, which DuckDB does not support; choose another path`)
  try {
    return await DuckDBInstance.create(path, settings)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (isDuckDbError(error, 'held')) {
      throw new HeldError(`another ${await holderOf(message)} is running: it holds ${path}`)
    }
    if (isDuckDbError(message.replaceAll(path, ''), 'unreadable'))
      throw new UnreadableDatabaseError(`${path} ${meaningOf('unreadable')}`)
    throw new BuildError(`${path} cannot be opened: ${message}`)
  }
}

/** The command that has a lock, such as `export (process 1234)`: DuckDB names the process, and Linux its words. */
async function holderOf(message: string): Promise<string> {
  const process = /\(PID (\d+)\)/.exec(message)?.[1]
  if (process === undefined) return 'command'
  return `${(await commandOf(process)) ?? 'command'} (process ${process})`
}

function bind(parameters: SqlParameters): Record<string, DuckDBValue> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, toDuckDb(value)]))
}

function toDuckDb(value: SqlValue): DuckDBValue {
  if (value === null || typeof value !== 'object') return value
  return Array.isArray(value) ? listValue(value) : structValue(value as Record<string, string>)
}
