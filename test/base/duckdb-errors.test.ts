/** The patterns of duckdb-errors.ts against errors that DuckDB throws. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { type DuckDbError, isDuckDbError } from '../../pipeline/base/duckdb-errors.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sqlText } from '../support/records.ts'

const CONTENT = ['badQuote', 'notGzip', 'badContent'] as const

/** The error of SQL in a new database. */
async function errorOf(sql: string, path = ':memory:', settings: Record<string, string> = {}): Promise<unknown> {
  try {
    const instance = await DuckDBInstance.create(path, { threads: '1', ...settings })
    try {
      await (await instance.connect()).run(sql)
    } finally {
      instance.closeSync()
    }
  } catch (error) {
    return error
  }
  throw new Error(`nothing is wrong with ${sql}`)
}

/** A database with a table, and what `damage` makes of its bytes. */
async function damaged(damage: (bytes: Buffer) => Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), 'a.duckdb')
  const instance = await DuckDBInstance.create(path, { threads: '1' })
  await (await instance.connect()).run('CREATE TABLE t AS FROM range(200000); CHECKPOINT')
  instance.closeSync()
  await writeFile(path, damage(await readFile(path)))
  return path
}

/** The bytes with those behind a position turned over. */
function flipped(bytes: Buffer, at: number): Buffer {
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(bytes.subarray(at, at + 8).map((byte) => ~byte)),
    bytes.subarray(at + 8),
  ])
}

async function errorOfFile(name: string, content: string | Uint8Array, sql: (path: string) => string) {
  const path = join(await temporaryFolder(), name)
  await writeFile(path, content)
  return errorOf(sql(sqlText(path)))
}

const csv = (path: string) =>
  `FROM read_csv(${path}, columns = {a: 'VARCHAR', b: 'VARCHAR'}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"')`

describe('isDuckDbError', () => {
  it('recognizes too little memory', async () => {
    const error = await errorOf('SELECT list(range) FROM range(10000000)', ':memory:', { memory_limit: '2MB' })
    expect(isDuckDbError(error, 'lowMemory')).toBe(true)
    expect(isDuckDbError(error, 'damaged', 'cut', 'unreadable', 'held', ...CONTENT)).toBe(false)
  })

  it('recognizes a database that another process holds', async () => {
    const path = join(await temporaryFolder(), 'a.duckdb')
    const instance = await DuckDBInstance.create(path)
    const script = `
      const { DuckDBInstance } = await import('@duckdb/node-api')
      await DuckDBInstance.create(${JSON.stringify(path)}).catch(({ message }) => console.log(message))`
    const said = await new Promise<string>((done) => {
      execFile(process.execPath, ['--input-type=module', '--eval', script], (_, stdout) => done(stdout))
    })
    instance.closeSync()
    expect(isDuckDbError(said, 'held')).toBe(true)
  })

  it.each<[string, DuckDbError[], (bytes: Buffer) => Uint8Array]>([
    ['something else', ['unreadable'], (bytes) => bytes.fill('no database')],
    ['the first bytes', ['unreadable', 'cut'], (bytes) => bytes.subarray(0, 2000)],
    ['another header', ['unreadable', 'damaged'], (bytes) => flipped(bytes, 100)],
    ['half of it', ['unreadable', 'cut'], (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['another block', ['unreadable', 'damaged'], (bytes) => flipped(bytes, bytes.length - 100_000)],
  ])('recognizes a database file with %s', async (_, names, damage) => {
    const error = await errorOf('SELECT sum(range) FROM t', await damaged(damage))
    for (const name of names) expect(isDuckDbError(error, name), `${error}`).toBe(true)
    expect(isDuckDbError(error, 'held', 'lowMemory', ...CONTENT)).toBe(false)
  })

  it('recognizes a damaged write-ahead log', async () => {
    const path = join(await temporaryFolder(), 'a.duckdb')
    const instance = await DuckDBInstance.create(path)
    await (await instance.connect()).run('CREATE TABLE t AS FROM range(1000)')
    const copy = `${path}.copy`
    await writeFile(copy, await readFile(path))
    await writeFile(`${copy}.wal`, flipped(await readFile(`${path}.wal`), 300))
    instance.closeSync()
    expect(isDuckDbError(await errorOf('FROM t', copy), 'unreadable')).toBe(true)
  })

  it.each<[string, DuckDbError, () => Promise<unknown>]>([
    ['a misplaced quote', 'badQuote', () => errorOfFile('a.csv', 'a,b\r\n1,2\n3,4\r\n', csv)],
    [
      'bytes behind compressed data',
      'notGzip',
      () => errorOfFile('a.csv.gz', Buffer.concat([gzipSync('a,b\n1,2\n'), Buffer.from('more')]), csv),
    ],
    [
      'no Parquet',
      'badContent',
      () => errorOfFile('a.parquet', 'PAR1 not PAR1', (path) => `FROM read_parquet(${path})`),
    ],
    ['text instead of a number', 'badContent', () => errorOf("SELECT 'x'::INTEGER")],
    ['a number that is too large', 'badContent', () => errorOf('SELECT 9223372036854775807 + 1::BIGINT')],
  ])('recognizes %s', async (_, name, fail) => {
    const error = await fail()
    expect(isDuckDbError(error, name), `${error}`).toBe(true)
    expect(isDuckDbError(error, 'held', 'lowMemory', 'damaged')).toBe(false)
  })
})
