/** Reads the Parquet files of a release with the library that people use in JavaScript. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { decompress } from 'fzstd'
import { parquetReadObjects } from 'hyparquet'
import { contentHash } from '../../pipeline/base/text.ts'
import { dataFile } from '../../pipeline/contract/release-files.ts'
import type { Table } from '../../pipeline/contract/tables.ts'

/** What a reader found in a file; the same as `test/clients/readers.py` tells. */
export interface Reading {
  reader: string
  table: Table
  file: string
  types: string[]
  rows: number
  tokens: string
  content_hash: string
}

type Cell = Date | string | bigint | number

interface Columns {
  types: string[]
  rows: readonly { date: Date; model_permaslug: string; total_tokens: bigint; days?: number }[]
}

/** Reads the Parquet file of a table in a release's folder. */
export async function readWithJavaScript(folder: string, table: Table): Promise<Reading> {
  const bytes = new Uint8Array(await readFile(join(folder, dataFile(table, 'parquet'))))
  return reading('hyparquet', table, await hyparquet(bytes))
}

/** `hyparquet 1.31.5`: the version that is installed. */
export function withVersion(reader: string): string {
  const { devDependencies, dependencies } = createRequire(import.meta.url)('../../package.json')
  return `${reader} ${{ ...devDependencies, ...dependencies }[reader]}`
}

async function hyparquet(bytes: Uint8Array<ArrayBuffer>): Promise<Columns> {
  const rows = await parquetReadObjects({
    file: bytes.buffer,
    compressors: { ZSTD: (input, length) => decompress(input, new Uint8Array(length)) },
  })
  const types = Object.values(rows[0] ?? {}).map((cell: Cell) => (cell instanceof Date ? 'Date' : typeof cell))
  return { types, rows: rows as unknown as Columns['rows'] }
}

function reading(reader: string, table: Table, { types, rows }: Columns): Reading {
  const canonical = rows.map(({ date, model_permaslug, total_tokens, days }) => ({
    date: date.toISOString().slice(0, 10),
    model_permaslug,
    total_tokens: String(total_tokens),
    days,
  }))
  const tokens = rows.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
  return {
    reader,
    table,
    file: 'parquet',
    types,
    rows: rows.length,
    tokens: String(tokens),
    content_hash: contentHash(canonical, table),
  }
}
