import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { apiKeys, hashKey } from '../../../server/store/keys.ts'
import { presets } from '../../../server/store/presets.ts'
import { StoreConflictError } from '../../../server/store/retry.ts'
import { NewerStoreError, openStore, StoreError } from '../../../server/store/store.ts'
import { NOW, temporaryFolder } from '../../support/app.ts'
import { makeStoreOf016 } from '../../support/store.ts'

// Budgets are used up where a test says so, and not because the machine is busy.
let now = 0
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => {
  vi.restoreAllMocks()
})

async function storePath(): Promise<string> {
  return join(await temporaryFolder(), 'data', 'store.sqlite')
}

async function open(path: string, retryBudgetMs?: number) {
  const store = await openStore(`sqlite:${path}`, retryBudgetMs === undefined ? {} : { retryBudgetMs })
  onTestFinished(() => store.close())
  return store
}

/** Another process's connection, as far as SQLite can tell. */
function otherConnection(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  return database
}

/** How often a store was refused the lock of a write from now on. */
function countRefusals(): () => number {
  const run = vi.spyOn(StatementSync.prototype, 'run')
  const isBegin = (statement: unknown) => (statement as StatementSync).sourceSQL === 'BEGIN IMMEDIATE'
  return () => run.mock.results.filter(({ type }, at) => type === 'throw' && isBegin(run.mock.contexts[at])).length
}

const TABLES_OF_016 = [
  ...['api_keys', 'presets', 'preset_versions', 'embeddings_models'],
  ...['embeddings_catalogue', 'usage_days', 'usage', 'kysely_migration'],
]

describe('opening', () => {
  test('makes files that only their owner may read, with WAL, full synchronization and foreign keys', async () => {
    const path = await storePath()
    const store = await open(path)
    await apiKeys(store).create({}, NOW)
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect((await stat(file)).mode & 0o777).toBe(0o600)
    const values = []
    for (const name of ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout']) {
      const { rows } = await sql.raw<Record<string, unknown>>(`PRAGMA ${name}`).execute(store.db)
      values.push(Object.values(rows[0] ?? {})[0])
    }
    expect(values).toEqual(['wal', 2, 1, 0])
  })

  test('succeeds on several connections at once', async () => {
    const path = await storePath()
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(path)))
    for (const store of stores) await apiKeys(store).create({}, NOW)
    expect(await stores[0]?.db.selectFrom('store_form').selectAll().execute()).toEqual([{ form: 1 }])
    expect(await stores[0]?.db.selectFrom('api_keys').selectAll().execute()).toHaveLength(5)
  })

  test('reads a store of 0.16 as it is, and goes on with it', async () => {
    const path = await storePath()
    await mkdir(dirname(path))
    await makeStoreOf016(path)
    const rowsOf = (database: DatabaseSync) =>
      TABLES_OF_016.map((name) => database.prepare(`SELECT * FROM ${name}`).all())
    const before = rowsOf(otherConnection(path))
    const store = await open(path)
    expect(rowsOf(otherConnection(path))).toEqual(before)
    expect(before.every((rows) => rows.length > 0)).toBe(true)
    expect(await apiKeys(store).findByHash(hashKey('sk-one'))).toMatchObject({
      id: 'key-1',
      name: 'é',
      revoked_at: null,
    })
    const author = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
    const kept = await presets(store, () => NOW).find({ workspace_id: author.workspace_id, slug: 'agent' })
    expect(kept?.designated_version).toMatchObject({
      version: 2,
      config: { model: 'acme/2' },
      system_prompt: '\ud800\u0000',
    })
    const content = { config: { model: 'acme/next' }, system_prompt: null }
    const { designated_version } = await presets(store, () => NOW).addVersion(author, 'agent', content)
    expect(designated_version.version).toBe(3)
  })

  test('waits for a short lock without blocking the event loop', async () => {
    const path = await storePath()
    await mkdir(dirname(path))
    const other = otherConnection(path)
    other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
    const refusals = countRefusals()
    const opening = open(path)
    await expect.poll(refusals).toBeGreaterThan(2)
    other.exec('COMMIT')
    await expect(opening).resolves.toBeDefined()
  })

  test('refuses a store of a newer version, and leaves it unchanged', async () => {
    const path = await storePath()
    const store = await openStore(`sqlite:${path}`)
    await store.db.updateTable('store_form').set({ form: 2 }).execute()
    await store.close()
    const before = await readFile(path)
    const opening = openStore(`sqlite:${path}`)
    await expect(opening).rejects.toThrow(NewerStoreError)
    await expect(opening).rejects.toThrow(/newer version of tokenboard \(form 2, known is 1\); update/)
    expect(await readFile(path)).toEqual(before)
  })

  test('names a file that is no store, and one whose folder cannot be created', async () => {
    const path = await storePath()
    await mkdir(dirname(path))
    await writeFile(path, 'This is not a database, but it is long enough to be taken for one.'.repeat(50))
    const opening = openStore(`sqlite:${path}`)
    await expect(opening).rejects.toThrow(StoreError)
    await expect(opening).rejects.toThrow(`the store ${path} cannot be opened: file is not a database`)
    await expect(openStore(`sqlite:${path}/store.sqlite`)).rejects.toThrow(/store.sqlite cannot be opened: /)
  })
})

describe('writing', () => {
  test('fails with a conflict when another writer keeps the lock, while readers continue', async () => {
    const path = await storePath()
    const store = await open(path, 300)
    const keys = apiKeys(store)
    const { key } = await keys.create({}, NOW)
    const other = otherConnection(path)
    other.exec('BEGIN IMMEDIATE')
    const refusals = countRefusals()
    const writing = keys.create({ name: 'late' }, NOW).catch((error: unknown) => error)
    for (let reads = 0; reads < 5; reads++) {
      await expect.poll(refusals).toBeGreaterThan(reads)
      expect(await keys.findByHash(key.hash)).toEqual(key)
    }
    now += 300
    expect(await writing).toBeInstanceOf(StoreConflictError)
    other.exec('ROLLBACK')
    await expect(keys.create({ name: 'next' }, NOW)).resolves.toBeDefined()
    const names = await store.db.selectFrom('api_keys').select('name').execute()
    expect(names.map(({ name }) => name)).toEqual([null, 'next'])
  })

  test('does not begin before it has the lock', async () => {
    const path = await storePath()
    const store = await open(path)
    const other = otherConnection(path)
    other.exec('BEGIN IMMEDIATE')
    const refusals = countRefusals()
    let begun = 0
    const writing = store.write(async (transaction) => {
      begun++
      await transaction.selectFrom('api_keys').selectAll().execute()
      await transaction.updateTable('api_keys').set({ name: 'x' }).execute()
    })
    await expect.poll(refusals).toBeGreaterThan(2)
    expect(begun).toBe(0)
    other.exec('COMMIT')
    await writing
    expect(begun).toBe(1)
  })

  test('reports the cause of an error that is not a lock, also when SQLite itself rolled back, and does not retry it', async () => {
    const store = await open(await storePath(), 60_000)
    await apiKeys(store).create({}, NOW)
    let tries = 0
    for (const conflict of ['ROLLBACK', 'ABORT']) {
      const failing = store.write((transaction) => {
        tries++
        return sql.raw(`INSERT OR ${conflict} INTO api_keys SELECT * FROM api_keys`).execute(transaction)
      })
      await expect(failing).rejects.toThrow(/UNIQUE/)
    }
    expect(tries).toBe(2)
    await expect(apiKeys(store).create({}, NOW)).resolves.toBeDefined()
  })
})

test('ping fails when the store is closed', async () => {
  const store = await openStore('sqlite::memory:')
  await expect(store.ping()).resolves.toBeUndefined()
  await store.close()
  await expect(store.ping()).rejects.toThrow()
})
