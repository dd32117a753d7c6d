/** `tokenboard key list|revoke|rotate`; `create` is in key.test.ts. */
import { describe, expect, test, vi } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { key } from '../../../pipeline/commands/key.ts'
import { apiKeys, type CreatedKey, hashKey, type NewKey } from '../../../server/store/keys.ts'
import { openStore } from '../../../server/store/store.ts'
import { NOW, testApp } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { storeUrl } from '../../support/store.ts'

/** A store in a file with some keys, and `tokenboard key …` on it. */
async function storeWith(...details: NewKey[]) {
  const url = await storeUrl()
  vi.stubEnv('DATABASE_URL', url)
  const store = await openStore(url)
  const keys = apiKeys(store)
  const created: CreatedKey[] = []
  for (const one of details) created.push(await keys.create(one, new Date(NOW.getTime() + created.length)))
  const find = async (secret: string) => await keys.findByHash(hashKey(secret))
  return { url, store, created, find, labelOf: (index: number) => created[index]?.key.label ?? '' }
}

const run = async (...words: string[]) => (await runCommand(key, words)).stdout

describe('key list', () => {
  const FULL = { name: 'nightly', userId: 'user_ada', isManagement: true, limitUsd: '5', limitReset: 'daily' } as const

  test('shows all keys with their attributes in columns, revoked ones included', async () => {
    const { created } = await storeWith({ ...FULL, includeByokInLimit: true, isFreeTier: true }, {})
    await run('revoke', created[1]?.key.id ?? '')
    const lines = (await run('list')).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^label +id +name +user +workspace +flags +limit +created +expires +revoked$/)
    for (const word of ['nightly', 'user_ada', 'management,free-tier', '5 daily +byok', created[0]?.key.id ?? '']) {
      expect(lines[1]).toContain(word)
    }
    expect(lines[1]).toMatch(/ {2}-$/)
    expect(lines[2]).toMatch(/ \d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
  })

  test('prints a JSON array with --json, and never a secret or its hash', async () => {
    const { created } = await storeWith(FULL, {})
    const json = await run('list', '--json')
    const { id, label } = created[0]?.key ?? {}
    expect(JSON.parse(json)).toMatchObject([
      { id, label, is_management: true, is_free_tier: false, limit_usd: '5' },
      { id: created[1]?.key.id },
    ])
    for (const { secret } of created) {
      for (const printed of [json, await run('list')]) {
        expect(printed).not.toContain(hashKey(secret))
        expect(printed).not.toContain(secret.slice('sk-tb-v1-'.length).slice(3, -3))
      }
    }
    await storeWith()
    expect(JSON.parse(await run('list', '--json'))).toEqual([])
  })

  test('escapes control characters in names', async () => {
    await storeWith({ name: 'a\u001b[31m\nb' })
    expect(await run('list')).toContain('a\\u{1b}[31m\\nb')
  })
})

describe('key revoke', () => {
  test.each(['label', 'id'] as const)(
    'revokes the key with this %s and no other, at once in a running server',
    async (by) => {
      const { url, created, find } = await storeWith({}, {})
      const [{ key: revoked, secret } = expect.unreachable(), other] = created
      const { app } = await testApp({ store: await openStore(url) })
      const ask = () => app.inject({ url: '/api/v1/key', headers: { authorization: `Bearer ${secret}` } })
      expect((await ask()).statusCode).toBe(200)
      expect(await run('revoke', revoked[by])).toBe(`revoked ${revoked.label} (${revoked.id})\n`)
      expect((await ask()).statusCode).toBe(401)
      const before = await find(secret)
      expect(before?.revoked_at).not.toBeNull()
      expect((await find(other?.secret ?? ''))?.revoked_at).toBeNull()
      // Once more succeeds and keeps the instant.
      const printed = JSON.parse(await run('revoke', revoked[by], '--json'))
      expect(printed).toMatchObject({ id: revoked.id, revoked_at: before?.revoked_at })
      expect(printed).not.toHaveProperty('hash')
    },
  )

  test('refuses a label of two keys with their ids, and revokes neither', async () => {
    const { store, created, find, labelOf } = await storeWith({ name: 'one' }, { name: 'two', userId: 'user_bob' })
    await store.db
      .updateTable('api_keys')
      .set({ label: labelOf(0) })
      .execute()
    const revoking = run('revoke', labelOf(0))
    await expect(revoking).rejects.toThrow(CliError)
    for (const text of [created[0]?.key.id, created[1]?.key.id, '"one" of user_default', '"two" of user_bob']) {
      await expect(revoking).rejects.toThrow(text)
    }
    for (const { secret } of created) expect((await find(secret))?.revoked_at).toBeNull()
    await run('revoke', created[0]?.key.id ?? '')
    expect((await find(created[0]?.secret ?? ''))?.revoked_at).not.toBeNull()
  })

  test('refuses what no key is called, and the whole key, which would stay in the history of the shell', async () => {
    const { created } = await storeWith({ name: 'user_default' })
    for (const name of ['sk-tb-v1-000...000', '', '%', 'user_default', created[0]?.secret ?? '']) {
      await expect(run('revoke', name), name).rejects.toThrow(CliError)
    }
  })
})

describe('key rotate', () => {
  const FULL = {
    name: 'nightly',
    userId: 'user_ada',
    workspaceId: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e',
    isManagement: true,
    isFreeTier: true,
    expiresAt: new Date('2999-01-01T00:00:00Z'),
    limitUsd: '12.50',
    limitReset: 'weekly',
    includeByokInLimit: true,
  } as const

  test('prints only a new key with the attributes of the old one, and revokes that', async () => {
    const { created, find, labelOf } = await storeWith(FULL)
    const stdout = await run('rotate', labelOf(0))
    expect(stdout).toMatch(/^sk-tb-v1-[0-9a-f]{64}\n$/)
    const old = await find(created[0]?.secret ?? '')
    const { id, hash, label, created_at, ...attributes } = (await find(stdout.trim())) ?? expect.fail('no new key')
    expect(old?.revoked_at).toBe(created_at)
    expect(old).toMatchObject({ ...attributes, revoked_at: created_at })
    expect([id, hash, label]).not.toContain(old?.id)
    expect(hash).toBe(hashKey(stdout.trim()))
    expect(attributes).toMatchObject({ name: 'nightly', limit_usd: '12.50', revoked_at: null })
  })

  test('prints one object with --json, with the key and without its hash', async () => {
    const { labelOf } = await storeWith({})
    const printed = JSON.parse(await run('rotate', labelOf(0), '--json'))
    expect(printed).toMatchObject({ key: expect.stringMatching(/^sk-tb-v1-/), is_management: false, revoked_at: null })
    expect(printed).not.toHaveProperty('hash')
  })

  test.each([
    ['revoked', {}],
    ['expired', { expiresAt: new Date('2025-03-01T00:00:00Z') }],
  ])('fails for a key that is %s, and makes none', async (state, details) => {
    const { store, created } = await storeWith(details)
    const { id } = created[0]?.key ?? { id: '' }
    if (state === 'revoked') await run('revoke', id)
    await expect(run('rotate', id)).rejects.toThrow('revoked or expired')
    expect(await apiKeys(store).list()).toHaveLength(1)
  })

  test('makes one new key when two connections rotate at the same time', async () => {
    const { url, store, created } = await storeWith({})
    const { id } = created[0]?.key ?? { id: '' }
    const stores = await Promise.all([openStore(url), openStore(url)])
    const rotated = await Promise.all(stores.map((other) => apiKeys(other).rotate(id, NOW)))
    expect(rotated.filter((one) => one !== undefined)).toHaveLength(1)
    expect(await apiKeys(store).list()).toHaveLength(2)
    for (const other of stores) await other.close()
  })
})
