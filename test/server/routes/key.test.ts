/** What `GET /key` answers beyond the exchanges in `test/server/exchanges/key.http`. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { USAGE_FILE } from '../../../pipeline/contract/usage.ts'
import { CurrentKeyResponse } from '../../../server/schemas/key.ts'
import { hashKey } from '../../../server/store/keys.ts'
import { keySpend } from '../../../server/store/usage.ts'
import { NOW, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { buildIn, newWorkspace, writeSmallBuild } from '../../support/pipeline.ts'
import { HASH_B, usageRow } from '../../support/usage.ts'

const KEY = '/api/v1/key'

test('GET /key contains neither the key nor its hash', async () => {
  const { app, createKey } = await testApp()
  const secret = await createKey({ name: 'nightly', isManagement: true, limitUsd: '12.50' })
  const answer = await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })
  CurrentKeyResponse.parse(answer.json())
  const everything = answer.body + JSON.stringify(answer.headers)
  expect(everything).not.toContain(secret.slice(9, 30))
  expect(everything).not.toContain(hashKey(secret))
})

test('the tests run in a time zone other than UTC', () => {
  expect(NOW.getTimezoneOffset()).not.toBe(0)
})

test('AS_OF replaces the clock for the windows of GET /key, but not for the expiry of keys', async () => {
  const asOf = new Date('2024-06-05T00:00:00Z')
  const { app, store, createKey } = await testApp({ asOf })
  const [secret, expired] = [await createKey(), await createKey({ expiresAt: new Date('2025-01-01T00:00:00Z') })]
  const usage = [usageRow({ date: '2024-06-05', api_key_hash: hashKey(secret) })]
  await keySpend(store).replace([{ digest: 'a', read: () => ({ date: '2024-06-05', usage }) }])
  const ask = (key: string) => app.inject({ url: KEY, headers: { authorization: `Bearer ${key}` } })
  expect((await ask(secret)).json().data).toMatchObject({ usage_daily: 1, usage_weekly: 1, usage_monthly: 1 })
  assertEnvelope(await ask(expired), 401)
})

test('GET /key counts the raw records of a build: private, withheld, duplicate, BYOK, recent and old ones', async () => {
  const workspace = await newWorkspace()
  const { app, createKey } = await testApp({ usageFile: join(workspace.dataDir, USAGE_FILE) })
  const secret = await createKey({ limitUsd: '10', limitReset: 'monthly' })
  const of = (fields: Record<string, string>) => ({
    timestamp: '2025-02-10T08:00:00Z',
    model_permaslug: 'acme/one',
    prompt_tokens: '1',
    api_key_hash: hashKey(secret),
    ...fields,
  })
  const repeated = of({ request_id: 'r1', cost_usd: '0.5' })
  const records = [
    ...[repeated, repeated, of({ cost_usd: '1e-7', model_permaslug: 'acme/one:free' })],
    of({ timestamp: '2025-02-09T23:59:59.9999999Z', cost_usd: '2', visibility: 'private' }),
    of({ timestamp: '2025-02-01T00:00:00Z', cost_usd: '0.25', model_permaslug: 'unknown' }),
    of({ timestamp: '2021-01-01T00:00:00Z', cost_usd: '100' }),
    of({ cost_usd: '3', is_byok: 'true' }),
    of({ cost_usd: '777', api_key_hash: HASH_B }),
    of({ cost_usd: '777', prompt_tokens: '-1' }),
    of({ timestamp: '2025-02-09T00:00:00Z', cost_usd: '0' }),
  ]
  await writeSmallBuild(workspace, {
    sources: [
      {
        records,
        settings: { visibility: 'registry' },
        extraColumns: ['api_key_hash', 'cost_usd', 'is_byok'],
      },
    ],
    models: [{ model_permaslug: 'acme/one' }],
    top: { max_rejected_share: 1 },
  })
  await buildIn(workspace, '2025-02-10T09:00:00Z')
  await app.ready()
  const { data } = (await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })).json()
  expect(data).toMatchObject({
    usage: 102.7500001,
    usage_daily: 0.5000001,
    usage_weekly: 0.5000001,
    usage_monthly: 2.7500001,
    byok_usage: 3,
    byok_usage_daily: 3,
    limit_remaining: 7.2499999,
    free_model_daily_requests: { used: 1 },
  })
})
