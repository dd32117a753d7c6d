import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { apiKeys } from '../../../server/store/keys.ts'
import { storeMemory } from '../../../server/store/memory.ts'
import type { Store } from '../../../server/store/store.ts'
import { NOW, temporaryFolder } from '../../support/app.ts'
import { testStore } from '../../support/store.ts'

/** Two connections to one store, as two processes have them. */
async function twice() {
  const url = `sqlite:${join(await temporaryFolder(), 'store.sqlite')}`
  return { here: await testStore(url), there: await testStore(url) }
}

test('the state of a store changes with each write, and is undefined while one is running', async () => {
  const { here, there } = await twice()
  await apiKeys(here).create({}, NOW)
  let state = here.state()
  await apiKeys(there).list()
  await apiKeys(here).list()
  expect(here.state()).toBe(state)
  for (const store of [here, there]) {
    await apiKeys(store).create({}, NOW)
    expect(here.state()).not.toBe(state)
    state = here.state()
  }
  // It may still be undone.
  expect(await here.write(async () => here.state())).toBeUndefined()
  expect(here.state()).toBeDefined()
})

describe('what was read from a store', () => {
  function counted(store: Store) {
    const memory = storeMemory<string>(store, 100, (value) => (value === 'not kept' ? undefined : value.length))
    let reads = 0
    const get = async (name: string, value = 'value') =>
      await memory.get(name, async () => {
        reads++
        return value
      })
    return { get, reads: () => reads }
  }

  test('is read once, until anybody changes the store, and anew each time during a change', async () => {
    const { here, there } = await twice()
    const { get, reads } = counted(here)
    expect([await get('a'), await get('a')]).toEqual(['value', 'value'])
    expect(reads()).toBe(1)
    await apiKeys(there).create({}, NOW)
    expect(await get('a', 'new')).toBe('new')
    await apiKeys(here).create({}, NOW)
    expect(await get('a', 'newer')).toBe('newer')
    expect(reads()).toBe(3)
    await here.write(async () => {
      await get('a')
      await get('a')
    })
    expect(reads()).toBe(5)
  })

  test('is kept while there is room, and never when it has no size', async () => {
    const { here } = await twice()
    const { get, reads } = counted(here)
    for (const name of ['a', 'b', 'a']) await get(name, 'x'.repeat(60))
    expect(reads()).toBe(3)
    for (const name of ['c', 'c']) await get(name, 'not kept')
    expect(reads()).toBe(5)
  })

  test('is not kept when the store changed while it was read', async () => {
    const { here, there } = await twice()
    const memory = storeMemory<string>(here, 100, (value) => value.length)
    await memory.get('a', async () => {
      await apiKeys(there).create({}, NOW)
      // Somebody else finds the change before the reading ends.
      await memory.get('b', async () => 'b')
      return 'old'
    })
    expect(await memory.get('a', async () => 'new')).toBe('new')
  })
})

test.each(['here', 'there'] as const)('a key that is revoked %s is revoked for the very next read', async (where) => {
  const stores = await twice()
  const keys = apiKeys(stores.here)
  const { key } = await keys.create({}, NOW)
  expect((await keys.findByHash(key.hash))?.revoked_at).toBeNull()
  expect(await keys.findByHash(key.hash)).toBe(await keys.findByHash(key.hash))
  await apiKeys(stores[where]).revoke(key.id, NOW)
  expect((await keys.findByHash(key.hash))?.revoked_at).not.toBeNull()
})
