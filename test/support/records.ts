/** Raw usage logs in every form that a source may have: records in, files out. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { parseTimestamp, parseTokens, type RawRecord } from './oracle.ts'

/** One record of a file: names of columns to text. An empty text is an absent value. */
export type FileRecord = Record<string, string>

export interface Encoding {
  /** Which columns the file has, in their order. */
  columns: string[]
  /** CSV: every field in quotes, not only those that need them. */
  quoteAll?: boolean | undefined
  /** CSV: what ends a line. */
  newline?: '\n' | '\r\n' | undefined
  /** NDJSON: token counts as numbers where their text is one; everything else stays a string. */
  jsonNumbers?: boolean | undefined
  /** NDJSON: every character beyond ASCII as an escape. */
  asciiOnly?: boolean | undefined
  /** Parquet: TIMESTAMPTZ and BIGINT columns where all values allow it, instead of VARCHAR alone. */
  typedColumns?: boolean | undefined
}

/** Without these no file is a log of usage: NDJSON has them as null where a record has no value. */
const REQUIRED_COLUMNS = ['timestamp', 'model_permaslug', 'prompt_tokens', 'completion_tokens']
export const COLUMNS = [...REQUIRED_COLUMNS, 'request_id', 'visibility']

/** A raw record of one million tokens at noon, unless told otherwise. */
export function rawRecord(fields: Partial<RawRecord> = {}): RawRecord {
  return {
    timestamp: '2025-03-02T12:00:00Z',
    model_permaslug: 'acme/one',
    prompt_tokens: '900000',
    completion_tokens: '100000',
    request_id: '',
    visibility: '',
    ...fields,
  }
}

/** Writes `records` in the form that the ending of `path` names, compression included. */
export async function writeRecords(path: string, records: FileRecord[], encoding: Encoding): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  if (path.endsWith('.parquet')) return writeParquet(path, records, encoding)
  await writeFile(path, compress(path, encodeText(path, records, encoding)))
}

/** Compresses text or bytes as the ending of `path` says: `.gz`, `.zst`, or not at all. */
export function compress(path: string, content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  if (path.endsWith('.gz')) return gzipSync(bytes)
  return path.endsWith('.zst') ? zstdCompressSync(bytes) : bytes
}

function encodeText(path: string, records: FileRecord[], encoding: Encoding): string {
  const format = /\.(csv|ndjson|jsonl)(\.gz|\.zst)?$/.exec(path)?.[1]
  if (format === undefined) throw new Error(`no format for the ending of ${path}`)
  return format === 'csv' ? toCsvText(records, encoding) : toNdjsonText(records, encoding)
}

export function toCsvText(records: FileRecord[], encoding: Encoding): string {
  const quote = (text: string) =>
    encoding.quoteAll || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const line = (fields: string[]) => fields.map(quote).join(',') + (encoding.newline ?? '\n')
  const lines = records.map((record) => line(encoding.columns.map((column) => record[column] ?? '')))
  return line(encoding.columns) + lines.join('')
}

export function toNdjsonText(records: FileRecord[], encoding: Encoding): string {
  const value = (column: string, text: string) => {
    if (text === '') return 'null'
    if (encoding.jsonNumbers && column.endsWith('_tokens') && /^(0|[1-9]\d*)(\.\d+)?$/.test(text)) return text
    return JSON.stringify(text)
  }
  const lines = records.map((record) => {
    const members = encoding.columns
      .filter((column) => REQUIRED_COLUMNS.includes(column) || (record[column] ?? '') !== '')
      .map((column) => `${JSON.stringify(column)}:${value(column, record[column] ?? '')}`)
    return `{${members.join(',')}}\n`
  })
  return encoding.asciiOnly ? escapeBeyondAscii(lines.join('')) : lines.join('')
}

function escapeBeyondAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const duckdb = await DuckDBInstance.create(':memory:')

/** Runs SQL on the tests' own DuckDB and gives the rows of the answer. */
export async function query(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await duckdb.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJS()
  } finally {
    connection.closeSync()
  }
}

/** A path, or any text, as a literal of SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

let parquetFiles = 0

async function writeParquet(path: string, records: FileRecord[], encoding: Encoding): Promise<void> {
  // DuckDB gets a plain name, so that the tests may use any other: it is given by the rename.
  parquetFiles += 1
  const plain = join(dirname(path), `being-written-${process.pid}-${parquetFiles}.tmp`)
  const columns = encoding.columns.map((name) => parquetColumn(name, records, encoding.typedColumns ?? false))
  const connection = await duckdb.connect()
  try {
    await connection.run(`CREATE TEMP TABLE records (${columns.map((column) => column.definition).join(', ')})`)
    const appender = await connection.createAppender('records')
    for (const record of records) {
      for (const { name, toInteger } of columns) {
        const text = record[name] ?? ''
        if (text === '') appender.appendNull()
        else if (toInteger === undefined) appender.appendVarchar(text)
        else appender.appendBigInt(toInteger(text))
      }
      appender.endRow()
    }
    appender.closeSync()
    const selected = columns.map((column) => column.expression).join(', ')
    await connection.run(`COPY (SELECT ${selected} FROM records) TO ${sqlText(plain)} (FORMAT parquet)`)
  } finally {
    connection.closeSync()
  }
  await rename(plain, path)
}

interface ParquetColumn {
  name: string
  definition: string
  expression: string
  /** How a text becomes the integer of a typed column; undefined where the column stays text. */
  toInteger: ((text: string) => bigint) | undefined
}

function parquetColumn(name: string, records: FileRecord[], typed: boolean): ParquetColumn {
  const texts = records.map((record) => record[name] ?? '')
  if (typed && name === 'timestamp' && texts.every(isInstant)) {
    const expression = `make_timestamptz("${name}") AS "${name}"`
    return { name, definition: `"${name}" BIGINT`, expression, toInteger: toMicroseconds }
  }
  if (
    typed &&
    name.endsWith('_tokens') &&
    texts.every((text) => /^\d*$/.test(text) && parseTokens(text) !== undefined)
  ) {
    return { name, definition: `"${name}" BIGINT`, expression: `"${name}"`, toInteger: BigInt }
  }
  return { name, definition: `"${name}" VARCHAR`, expression: `"${name}"`, toInteger: undefined }
}

/** Whether a text is an instant by itself, without a declared zone. */
function isInstant(text: string): boolean {
  return /(Z|[+-]\d\d:\d\d)$/.test(text) && parseTimestamp(text, 'UTC') !== undefined
}

function toMicroseconds(text: string): bigint {
  const instant = parseTimestamp(text, 'UTC')
  if (instant === undefined) throw new Error(`${text} is no instant`)
  return instant
}
