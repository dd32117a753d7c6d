/** A store that any version has left is brought to the newest form with all that it holds. */
import { expect, test } from 'vitest'
import { apiKeys, hashKey } from '../../../server/store/keys.ts'
import { presets } from '../../../server/store/presets.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Tables } from '../../../server/store/tables.ts'
import { NOW } from '../../support/app.ts'
import { makeOldStore, NAMES, ROWS, WORKSPACE } from '../../support/old-stores.ts'
import { storeUrl, testStore } from '../../support/store.ts'

async function rowsOf({ db }: Store, table: string): Promise<unknown[]> {
  return await db
    .selectFrom(table as keyof Tables)
    .selectAll()
    .execute()
}

test('ROWS has an entry for every migration', () => {
  expect(Object.keys(ROWS)).toEqual(NAMES)
})

test.each(NAMES.map((name, index) => [name, NAMES.slice(0, index + 1)] as const))(
  'a store that ends with %s has all of its rows in the newest form, and can be used',
  async (_, names) => {
    const url = await storeUrl()
    await makeOldStore(url, names)
    const store = await testStore(url)
    for (const [table, rows] of names.flatMap((name) => Object.entries(ROWS[name] ?? {}))) {
      expect(await rowsOf(store, table), table).toEqual(rows)
    }
    expect(await apiKeys(store).findByHash(hashKey('sk-one'))).toMatchObject({ id: 'key-1', name: 'é' })
    const author = { workspace_id: WORKSPACE, creator_user_id: 'user_ada' }
    const { designated_version } = await presets(store, () => NOW).addVersion(author, 'agent', {
      config: { model: 'acme/next' },
      system_prompt: null,
    })
    expect(designated_version.version).toBe(names.includes('0002-presets') ? 3 : 1)
  },
)
