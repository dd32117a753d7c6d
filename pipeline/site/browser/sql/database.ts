import { SQL_TABLES, type SqlTable } from '../../sql/columns.ts'
import type { Source } from '../explore/source.ts'
import { GoneError } from '../explore/tables.ts'
import { CELLS_FORMAT, type Cell, type Column, readCells } from './cells.ts'
import { fetchGunzipped, StatusError } from './fetched.ts'
import { errorOfQuestion, keepAnswer, quoted, splitScript, type Tokens } from './script.ts'
import { startWorker } from './worker.ts'

export interface Answer {
  columns: readonly Column[]
  /** The first `MOST_ROWS`. */
  rows: readonly Cell[][]
  count: number
}

export const MOST_ROWS = 1000

/** Files in the memory of the worker. No others can be read or written. */
const ANSWER_FILE = 'answer.csv'
const fileOf = (table: string) => `${table}.csv`

const NAMES = Object.keys(SQL_TABLES) as SqlTable[]
const GRAINS = { daily: 'day', weekly: 'week', monthly: 'month' } as const

const SETTINGS = [
  'autoinstall_known_extensions = false',
  'autoload_known_extensions = false',
  `allowed_paths = [${[ANSWER_FILE, ...NAMES.map(fileOf)].map((name) => `'${name}'`).join(', ')}]`,
  'enable_external_access = false',
  "memory_limit = '1GB'",
  'lock_configuration = true',
]

export interface SqlDatabase {
  /** Undefined if the last statement of the script has no rows. Throws with DuckDB's message. */
  ask(script: string): Promise<Answer | undefined>
  /** All rows of the last answer as CSV with a header. */
  csv(): Promise<Uint8Array<ArrayBuffer>>
  /** The rows of a query over the last answer, which is the table `answer`. */
  cells(query: string): Promise<Cell[][]>
  stop(): void
}

/** Starts DuckDB without tables: each is loaded when a script first names it. `report` says what is done. */
export function startDatabase(
  engine: { worker: string; wasm: string },
  source: Source,
  report: (what: string, share?: number) => void,
): SqlDatabase {
  const worker = startWorker(engine.worker)
  const loaded = new Map<SqlTable, Promise<void>>()
  const opening = open()
  // Whoever asks first sees the error.
  opening.catch(() => {})

  async function open(): Promise<number> {
    report('Loading DuckDB …', 0)
    const wasm = await fetchGunzipped(engine.wasm, (share) => report('Loading DuckDB …', share))
    report('Starting DuckDB …')
    // The worker may load nothing but what it is handed.
    const url = URL.createObjectURL(new Blob([wasm], { type: 'application/wasm' }))
    try {
      await worker.ask('INSTANTIATE', [url, null])
    } catch (error) {
      if (error instanceof Error) error.message += whyNotStarted(engine.worker)
      throw error
    } finally {
      URL.revokeObjectURL(url)
    }
    await worker.ask('OPEN', {})
    const connection = (await worker.ask('CONNECT', null)) as number
    const tables = NAMES.map((name) => `CREATE TABLE ${name} (${columnsOf(name, ' ')})`)
    const sql = [...SETTINGS.map((setting) => `SET ${setting}`), ...tables].join(';\n')
    await worker.ask('RUN_QUERY', [connection, sql])
    return connection
  }

  async function run(sql: string): Promise<void> {
    await worker.ask('RUN_QUERY', [await opening, sql])
  }

  async function copy(query: string, format: string): Promise<Uint8Array<ArrayBuffer>> {
    // If the file is there, DuckDB first writes another one beside it, which it may not.
    await worker.ask('DROP_FILE', ANSWER_FILE)
    await run(`COPY (${query}) TO '${ANSWER_FILE}' ${format}`)
    const bytes = (await worker.ask('COPY_FILE_TO_BUFFER', ANSWER_FILE)) as Uint8Array<ArrayBuffer>
    await worker.ask('DROP_FILE', ANSWER_FILE)
    return bytes
  }

  async function cells(query: string): Promise<Cell[][]> {
    return readCells(new TextDecoder().decode(await copy(query, CELLS_FORMAT)))
  }

  /** Loads a table once. After an error it is loaded again. */
  function load(table: SqlTable): Promise<void> {
    const known = loaded.get(table) ?? loadRows(table)
    loaded.set(table, known)
    known.catch(() => loaded.delete(table))
    return known
  }

  async function loadRows(table: SqlTable): Promise<void> {
    const path = table === 'history' ? source.history : source.files[GRAINS[table]]?.parquet
    if (path === undefined) throw new Error(`release ${source.release} has no table ${table}`)
    report(`Loading ${table} …`)
    try {
      const csv = await fetchGunzipped(path.replace(/parquet$/, 'csv.gz'))
      const file = fileOf(table)
      await worker.ask('REGISTER_FILE_BUFFER', [file, new Uint8Array(await csv.arrayBuffer())])
      const dialect = `header = true, auto_detect = false, delim = ',', quote = '"', escape = '"'`
      await run(`INSERT INTO ${table} FROM read_csv('${file}', columns = {${columnsOf(table, ': ', "'")}}, ${dialect})`)
      await worker.ask('DROP_FILE', file)
    } catch (error) {
      const isDropped = error instanceof StatusError && error.isGone && table !== 'history'
      if (!isDropped) throw error
      await loadFromHistory(table)
    }
  }

  /** The rows of a release whose data files were dropped. */
  async function loadFromHistory(table: SqlTable): Promise<void> {
    await load('history')
    const columns = SQL_TABLES[table].map(([name]) => quoted(name)).join(', ')
    const release = `valid_from <= '${source.release}' AND (valid_to IS NULL OR valid_to > '${source.release}')`
    await run(
      `INSERT INTO ${table} SELECT ${columns} FROM history WHERE "table" = '${table}' AND ${release} ORDER BY date, position`,
    )
    const [[count] = []] = await cells(`SELECT count(*) FROM ${table}`)
    if (count === '0') throw new GoneError()
  }

  return {
    cells,
    csv: () => copy('FROM answer', '(FORMAT csv, HEADER)'),
    stop: () => worker.stop(),
    async ask(script) {
      await opening
      await Promise.all(NAMES.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(script)).map(load))
      report('Working …')
      const statements = splitScript(script, (await worker.ask('TOKENIZE', script)) as Tokens)
      const last = statements.at(-1)
      for (const { sql } of last?.isCommand ? statements : statements.slice(0, -1)) await run(sql)
      if (last === undefined || last.isCommand) return undefined
      await run(keepAnswer(last.sql)).catch((error: Error) => {
        error.message = errorOfQuestion(error.message)
        throw error
      })
      const columns = await cells(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'temp' AND table_name = 'answer' ORDER BY column_index",
      )
      const [[count] = []] = await cells('SELECT count(*) FROM answer')
      return {
        columns: columns.map(([name, type]) => ({ name: name ?? '', type: type ?? '' })),
        rows: await cells(`FROM answer LIMIT ${MOST_ROWS}`),
        count: Number(count),
      }
    },
  }
}

function whyNotStarted(worker: string): string {
  return `\n\nDuckDB did not start. The browser may be too old, or the Content-Security-Policy that the host sends with\n${worker} may forbid WebAssembly or blob: addresses.`
}

function columnsOf(table: SqlTable, between: string, quote = ''): string {
  return SQL_TABLES[table].map(([name, type]) => `${quoted(name)}${between}${quote}${type}${quote}`).join(', ')
}
