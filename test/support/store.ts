import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { isPostgresUrl, openStore, type Store } from '../../server/store/store.ts'
import { temporaryFolder } from './folder.ts'

/** Where tests keep their stores when it is said; everywhere else they are files, or in memory. */
const { TEST_DATABASE_URL: DATABASE_URL } = process.env

/** Whether the stores of tests lie in PostgreSQL. */
const isOnPostgres = DATABASE_URL !== undefined

/** Where a store of this test alone may be made: a file, or a schema of its own in the database of tests. */
export async function storeUrl(): Promise<string> {
  if (DATABASE_URL === undefined) return `sqlite:${join(await temporaryFolder(), 'store.sqlite')}`
  return await schemaUrl(DATABASE_URL)
}

/** A schema of its own for a store in the database at `databaseUrl`. */
export async function schemaUrl(databaseUrl: string): Promise<string> {
  const schema = `store_${randomUUID().replaceAll('-', '')}`
  await withClient(databaseUrl, (client) => client.query(`CREATE SCHEMA ${schema}`))
  const separator = databaseUrl.includes('?') ? '&' : '?'
  return `${databaseUrl}${separator}max=5&options=${encodeURIComponent(`-c search_path=${schema}`)}`
}

/** Opens a store until the end of the test: that at `url`, or else a new one. */
export async function testStore(url?: string, retryBudgetMs?: number): Promise<Store> {
  const options = retryBudgetMs === undefined ? {} : { retryBudgetMs }
  const store = await openStore(url ?? (isOnPostgres ? await storeUrl() : 'sqlite::memory:'), options)
  onTestFinished(() => store.close())
  return store
}

/** Makes the SQLite store at `path` that version 0.16 left. */
export async function makeStoreOf016(path: string): Promise<void> {
  const database = new DatabaseSync(path)
  database.exec(await readFile(join(import.meta.dirname, '../fixtures/store-0.16.sql'), 'utf8'))
  database.close()
}

/** Is the other writer that keeps all writers of the store at `url` waiting, until it is told to let go. */
export async function blockWriters(url: string): Promise<() => Promise<void>> {
  if (isPostgresUrl(url)) {
    const { WRITE_LOCK } = await import('../../server/store/postgres.ts')
    const client = await connect(url)
    onTestFinished(() => client.end())
    await client.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`)
    return async () => {
      await client.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`)
    }
  }
  const database = new DatabaseSync(url.replace(/^sqlite:/, ''))
  onTestFinished(() => database.close())
  database.exec('BEGIN IMMEDIATE')
  return async () => database.exec('COMMIT')
}

/** Asks the database at `url` something on a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function connect(url: string): Promise<Client> {
  // Loaded where it is used, which most tests do not.
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}
