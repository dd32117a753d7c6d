import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashKey } from '../../server/store/keys.ts'
import { temporaryFolder, testApp } from '../support/app.ts'
import { PRESETS } from '../support/presets.ts'
import { tries } from '../support/property.ts'
import { testStore } from '../support/store.ts'
import { usageRow, usageText, writeUsageFile } from '../support/usage.ts'

/** Somebody with keys in a workspace, and all that an answer to anybody else must not hold. */
interface Tenant {
  manager: string
  reader: string
  mark: string
  marks: Set<string>
}

const TENANTS = [
  { name: 'ada', workspaceId: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', limitUsd: '7171.25', costUsd: '4242.125' },
  { name: 'bob', workspaceId: '9b1c4f6a-2d3e-4b5c-8f7a-1e2d3c4b5a69', limitUsd: '8383.75', costUsd: '1919.375' },
]
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** What a tenant may do. The slugs are the same for all: the workspace alone tells their presets apart. */
const STEP = fc.record({
  tenant: fc.constantFrom(0, 1),
  operation: fc.constantFrom('create', 'create', 'refused', 'list', 'read', 'versions', 'version', 'foreign', 'key'),
  isManager: fc.boolean(),
  slug: fc.constantFrom('a', 'b', 'a.b'),
  number: fc.integer({ min: 1, max: 4 }),
})
type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never

/** An app with a usage file in which every key of every tenant has an amount. */
async function sharedApp() {
  const store = await testStore()
  const usageFile = join(await temporaryFolder(), 'usage.ndjson')
  const setup = await testApp({ store, usageFile })
  const tenants = await Promise.all(
    TENANTS.map(async ({ name, workspaceId, limitUsd, costUsd }): Promise<Tenant> => {
      const details = { userId: `user_${name}`, workspaceId, limitUsd }
      const manager = await setup.createKey({ ...details, isManagement: true })
      const reader = await setup.createKey(details)
      const mark = `mark-of-${name}`
      return { manager, reader, mark, marks: new Set([mark, details.userId, workspaceId, limitUsd, costUsd]) }
    }),
  )
  for (const { id, hash, label, creator_user_id } of await store.db.selectFrom('api_keys').selectAll().execute()) {
    for (const mark of [id, hash, label]) tenants.find(({ marks }) => marks.has(creator_user_id))?.marks.add(mark)
  }
  const rows = tenants.flatMap(({ manager, reader }, index) =>
    [manager, reader].map((key) => usageRow({ api_key_hash: hashKey(key), cost_usd: `${TENANTS[index]?.costUsd}` })),
  )
  await writeUsageFile(usageFile, usageText(rows))
  await setup.app.ready()
  return { app: setup.app, tenants }
}

function requestOf({ operation, isManager, slug, number }: Step, own: Tenant, other: Tenant) {
  const headers = { authorization: `Bearer ${isManager ? own.manager : own.reader}` }
  const get = (url: string) => ({ url, headers })
  const post = (body: object) => ({
    method: 'POST' as const,
    url: `${PRESETS}/${slug}/messages`,
    headers,
    payload: { model: own.mark, messages: [], system: own.mark, ...body },
  })
  const foreignIds = [...other.marks].filter((mark) => mark.match(UUID))
  switch (operation) {
    case 'create':
      return post({})
    case 'refused':
      return post({ temperature: own.mark })
    case 'list':
      return get(`${PRESETS}?offset=${number - 1}&workspace_id=${slug}`)
    case 'read':
      return get(`${PRESETS}/${slug}`)
    case 'versions':
      return get(`${PRESETS}/${slug}/versions?offset=${number - 1}`)
    case 'version':
      return get(`${PRESETS}/${slug}/versions/${number}`)
    case 'foreign':
      return get(`${PRESETS}/${foreignIds.at(-number)}/versions/${number}?workspace_id=${foreignIds[0]}`)
    case 'key':
      return get('/api/v1/key')
  }
}

test('no answer to a key of one workspace contains anything of another', async () => {
  const { options } = tries({ seed: 9 })
  const steps = fc.array(STEP, { minLength: 40, maxLength: 80 })
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const { app, tenants } = await sharedApp()
      for (const step of taken) {
        const [own, other] = step.tenant === 0 ? tenants : tenants.toReversed()
        if (own === undefined || other === undefined) throw new Error('there are two tenants')
        const { statusCode, headers, body } = await app.inject(requestOf(step, own, other))
        const text = JSON.stringify(headers) + body
        expect([...other.marks].filter((mark) => text.includes(mark))).toEqual([])
        for (const [id] of body.matchAll(UUID)) own.marks.add(id)
        statuses.add(statusCode)
      }
    }),
    { ...options, numRuns: 12 },
  )
  expect([...statuses].toSorted()).toEqual([200, 400, 403, 404])
})

test('the answers to a key contain its own usage and limit', async () => {
  const { app, tenants } = await sharedApp()
  for (const { manager, marks } of tenants) {
    const { body } = await app.inject({ url: '/api/v1/key', headers: { authorization: `Bearer ${manager}` } })
    expect([...marks].filter((mark) => body.includes(mark)).length).toBeGreaterThanOrEqual(5)
  }
})
