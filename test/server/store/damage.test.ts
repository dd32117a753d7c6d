/** A disk that is full, a file that is damaged or held by another program: a clear refusal, and nothing is made worse. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { apiKeys } from '../../../server/store/keys.ts'
import { presets } from '../../../server/store/presets.ts'
import { StoreConflictError } from '../../../server/store/retry.ts'
import { openStore, type Store, StoreError } from '../../../server/store/store.ts'
import { NOW, temporaryFolder, testApp } from '../../support/app.ts'
import { PRESETS } from '../../support/presets.ts'
import { testStore } from '../../support/store.ts'

const ADA = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
const PAGE_BYTES = 4096

async function storePath(): Promise<string> {
  return join(await temporaryFolder(), 'store.sqlite')
}

/** A closed store of many pages: keys, presets and versions larger than a page. */
async function filledFile(): Promise<string> {
  const path = await storePath()
  const store = await openStore(`sqlite:${path}`)
  for (let number = 0; number < 40; number++) await apiKeys(store).create({ name: `key ${number}` }, NOW)
  for (let number = 0; number < 40; number++) {
    const config = { model: `acme/${number}`, pad: 'x'.repeat(number * 300) }
    await presets(store, () => NOW).addVersion(ADA, `preset-${number % 5}`, { config, system_prompt: null })
  }
  await store.close()
  return path
}

/** How many pages the file of a store may have: as on a disk that is full at this size. */
async function limitPages({ db }: Store, pages: number): Promise<void> {
  await sql.raw(`PRAGMA max_page_count = ${pages}`).execute(db)
}

test('a write to a full disk is a 503 that changes nothing, and succeeds once there is room', async () => {
  const store = await testStore(`sqlite:${await storePath()}`)
  const { app, createKey, log } = await testApp({ store })
  const headers = { authorization: `Bearer ${await createKey({ isManagement: true })}` }
  const url = `${PRESETS}/agent`
  const write = async (payload: object) => {
    const answer = await app.inject({ method: 'POST', url: `${url}/messages`, headers, payload })
    return { status: answer.statusCode, body: answer.json(), retryAfter: answer.headers['retry-after'] }
  }
  const large = { model: 'acme/large', messages: [], provider: { pad: 'x'.repeat(100_000) } }
  expect((await write({ model: 'acme/one', messages: [] })).status).toBe(200)
  await limitPages(store, 1)
  for (let attempt = 0; attempt < 3; attempt++) {
    const { status, body, retryAfter } = await write(large)
    expect([status, retryAfter]).toEqual([503, '5'])
    expect(body).toMatchObject({ error: { code: 503, message: expect.stringMatching(/not available/) } })
  }
  expect(log.text()).toContain('database or disk is full')
  const read = await app.inject({ url: `${url}/versions`, headers })
  expect([read.statusCode, read.json().total_count]).toEqual([200, 1])
  await limitPages(store, 1_000_000)
  expect((await write(large)).body.data.designated_version.version).toBe(2)
})

test('an overwritten page is found when the store is opened, and the file stays unchanged', async () => {
  const path = await filledFile()
  const whole = await readFile(path)
  const pages = whole.length / PAGE_BYTES
  expect(pages).toBeGreaterThan(50)
  // The first ones hold the schema and the roots of all tables.
  for (let page = 0; page < pages; page += page < 15 ? 1 : 10) {
    const damaged = Buffer.from(whole)
    damaged.fill(0xa5, page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
    await writeFile(path, damaged)
    await expect(openStore(`sqlite:${path}`), `page ${page}`).rejects.toThrow(StoreError)
    expect(await readFile(path), `page ${page}`).toEqual(damaged)
  }
  await writeFile(path, whole)
  expect(await apiKeys(await testStore(`sqlite:${path}`)).list()).toHaveLength(40)
})

test('a store file that was cut anywhere is refused and stays unchanged', async () => {
  const path = await filledFile()
  const whole = await readFile(path)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: whole.length - 1 }), async (bytes) => {
      const cut = whole.subarray(0, bytes)
      await writeFile(path, cut)
      await expect(openStore(`sqlite:${path}`)).rejects.toThrow(/cannot be opened: /)
      expect(await readFile(path)).toEqual(cut)
    }),
    { numRuns: 40, seed: 9 },
  )
})

test('a damaged store is refused with advice to restore a backup', async () => {
  const path = await filledFile()
  const whole = await readFile(path)
  const database = new DatabaseSync(path)
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'preset_versions'").get() ?? {}
  database.close()
  whole.fill(0, (Number(rootpage) - 1) * PAGE_BYTES + 8, Number(rootpage) * PAGE_BYTES)
  await writeFile(path, whole)
  await expect(openStore(`sqlite:${path}`)).rejects.toThrow(
    new RegExp(`^the store ${path} cannot be opened: it is damaged; restore a backup \\(`),
  )
})

test('a store that another program locks is refused, and opens once the lock is released', async () => {
  const path = await filledFile()
  const other = new DatabaseSync(path)
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  await expect(openStore(`sqlite:${path}`, { retryBudgetMs: 50 })).rejects.toThrow(StoreConflictError)
  other.close()
  expect(await apiKeys(await testStore(`sqlite:${path}`)).list()).toHaveLength(40)
})
