import { describe, expect, test } from 'vitest'
import { type Presets, presets } from '../../../server/store/presets.ts'
import type { Store } from '../../../server/store/store.ts'
import { NOW } from '../../support/app.ts'
import { blockWriters, storeUrl, testStore } from '../../support/store.ts'

const ADA = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
const CONTENT = { config: { model: 'acme/one' }, system_prompt: null }
const AGENT = { workspace_id: ADA.workspace_id, slug: 'agent' }

async function newStore(clock = () => NOW): Promise<{ store: Store; stored: Presets }> {
  const store = await testStore()
  return { store, stored: presets(store, clock) }
}

async function withOtherWriter(retryBudgetMs: number, clock = () => NOW) {
  const url = await storeUrl()
  const store = await testStore(url, retryBudgetMs)
  return { stored: presets(store, clock), block: () => blockWriters(url) }
}

async function slugs(stored: Presets, workspaceId = ADA.workspace_id): Promise<string[]> {
  const { presets: listed } = await stored.list(workspaceId, { offset: 0, limit: 100 })
  return listed.map(({ slug }) => slug)
}

describe('a version', () => {
  test('is read back as it was given, by its number and as the designated one', async () => {
    const { stored } = await newStore()
    const content = {
      config: { model: 'acme/one', top_k: null, provider: { '': [1e300, 0.1, 'é\u0000\ud800'], b: {}, a: [] } },
      system_prompt: '\ud800 \u0000 "quoted" \\ \u2028',
    }
    const preset = await stored.addVersion(ADA, 'agent', content)
    expect(preset.designated_version).toMatchObject({ ...content, version: 1, preset_id: preset.id })
    expect(await stored.find(AGENT)).toEqual(preset)
    const version = await stored.findVersion(AGENT, 1)
    expect(version).toEqual(preset.designated_version)
    expect(JSON.stringify(version?.config)).toBe(JSON.stringify(content.config))
  })

  test('has a number that is unique in its preset', async () => {
    const { store, stored } = await newStore()
    await stored.addVersion(ADA, 'agent', CONTENT)
    const { id: _, ...row } = await store.db.selectFrom('preset_versions').selectAll().executeTakeFirstOrThrow()
    const insert = (values: typeof row) =>
      store.write((transaction) =>
        transaction
          .insertInto('preset_versions')
          .values({ ...values, id: `copy-${values.version}` })
          .execute(),
      )
    await expect(insert(row)).rejects.toThrow(/unique/i)
    await expect(insert({ ...row, version: 2 })).resolves.toBeDefined()
  })
})

describe('a write that fails', () => {
  test('midway changes nothing', async () => {
    const { store, stored } = await newStore()
    const before = await stored.addVersion(ADA, 'agent', CONTENT)
    await store.db.schema.alterTable('preset_versions').renameTo('aside').execute()
    await expect(stored.addVersion(ADA, 'agent', CONTENT)).rejects.toThrow(/preset_versions/)
    await expect(stored.addVersion(ADA, 'new', CONTENT)).rejects.toThrow(/preset_versions/)
    await store.db.schema.alterTable('aside').renameTo('preset_versions').execute()
    expect(await stored.find(AGENT)).toEqual(before)
    expect(await slugs(stored)).toEqual(['agent'])
    expect((await stored.addVersion(ADA, 'agent', CONTENT)).designated_version.version).toBe(2)
  })
})

test('concurrent writers on several connections number the versions of a preset from 1, without gaps or repeats', async () => {
  const url = await storeUrl()
  const stores = await Promise.all([1, 2, 3].map(() => testStore(url, 60_000)))
  const names = ['a', 'b', 'c', 'd']
  const writes = stores.flatMap((store) =>
    Array.from({ length: 40 }, (_, index) =>
      presets(store, () => NOW).addVersion(ADA, names[index % 4] ?? '', CONTENT),
    ),
  )
  const made = await Promise.all(writes)
  for (const slug of names) {
    const numbers = made.filter((preset) => preset.slug === slug).map((preset) => preset.designated_version.version)
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  }
})

test('a version has the time at which it was written, even if the writer had to wait', async () => {
  let now = NOW
  const { stored, block } = await withOtherWriter(10_000, () => now)
  const release = await block()
  const waiting = stored.addVersion(ADA, 'agent', CONTENT)
  now = new Date(NOW.getTime() + 60_000)
  await release()
  expect((await waiting).created_at).toBe(now.toISOString())
})

describe('the list of presets', () => {
  test('is ordered by updates, even if the clock stops or goes back', async () => {
    let now = NOW
    const { stored } = await newStore(() => now)
    for (const slug of ['c', 'a', 'b', 'd', 'a', 'c']) await stored.addVersion(ADA, slug, CONTENT)
    expect(await slugs(stored)).toEqual(['c', 'a', 'd', 'b'])
    now = new Date(0)
    await stored.addVersion(ADA, 'b', CONTENT)
    expect(await slugs(stored)).toEqual(['b', 'c', 'a', 'd'])
  })
})

describe('the list of versions', () => {
  test('blocks no writer while it is read slowly, and does not grow meanwhile', async () => {
    const { stored } = await newStore()
    for (const _ of [1, 2]) await stored.addVersion(ADA, 'agent', CONTENT)
    const list = await stored.listVersions(AGENT, { offset: 0, limit: 100 })
    const read: number[] = []
    for await (const { version } of list?.versions ?? []) {
      read.push(version)
      await stored.addVersion(ADA, 'agent', CONTENT)
    }
    expect(read).toEqual([1, 2])
    expect((await stored.find(AGENT))?.designated_version.version).toBe(4)
  })
})
