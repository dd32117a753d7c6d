import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { apiKeys } from '../../../server/store/keys.ts'
import { openStore } from '../../../server/store/store.ts'
import { NOW, temporaryFolder } from '../../support/app.ts'
import { storeUrl, testStore } from '../../support/store.ts'

test('a key is 256 random bits in hex, labeled with its first and last three characters', async () => {
  const keys = apiKeys(await testStore())
  const [first, second] = [await keys.create({}, NOW), await keys.create({}, NOW)]
  expect(first.secret).toMatch(/^sk-tb-v1-[0-9a-f]{64}$/)
  expect(first.secret).not.toBe(second.secret)
  const random = first.secret.slice('sk-tb-v1-'.length)
  expect(first.key.label).toBe(`sk-tb-v1-${random.slice(0, 3)}...${random.slice(61)}`)
  expect(first.key.hash).toBe(createHash('sha256').update(first.secret).digest('hex'))
})

test('createFirst makes one key when several connections ask at once', async () => {
  const url = await storeUrl()
  const stores = [await testStore(url), await testStore(url)]
  const created = await Promise.all(stores.map((store) => apiKeys(store).createFirst({ isManagement: true }, NOW)))
  expect(created.filter((key) => key !== undefined)).toHaveLength(1)
})

test('createFirst makes no key when the store has had one, even a revoked one', async () => {
  const store = await testStore()
  await apiKeys(store).create({}, NOW)
  await store.db.updateTable('api_keys').set({ revoked_at: NOW.toISOString() }).execute()
  expect(await apiKeys(store).createFirst({}, NOW)).toBeUndefined()
})

test('the files of the store do not contain the secret', async () => {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const store = await openStore(`sqlite:${path}`)
  const { secret, key } = await apiKeys(store).create({}, NOW)
  const random = secret.slice('sk-tb-v1-'.length)
  const bytes = Buffer.concat([await readFile(path), await readFile(`${path}-wal`)])
  expect(bytes.includes(key.hash)).toBe(true)
  expect(bytes.includes(random)).toBe(false)
  expect(bytes.includes(Buffer.from(random, 'hex'))).toBe(false)
  await store.close()
  expect((await readFile(path)).includes(random)).toBe(false)
})
