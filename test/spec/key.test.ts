/** SPECIFICATION.md § Endpoints 3 and § Current API key record, with what API.md § GET /key settles. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { USAGE_FILE } from '../../pipeline/contract/usage.ts'
import { hashKey } from '../../server/store/keys.ts'
import { NOW, testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { buildIn, newWorkspace, writeSmallBuild } from '../support/pipeline.ts'
import { HASH_B } from '../support/usage.ts'

const KEY = '/api/v1/key'
const WORKSPACE = '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e'
const FULL = {
  name: 'nightly',
  userId: 'user_ada',
  workspaceId: WORKSPACE,
  isManagement: true,
  isFreeTier: true,
  expiresAt: new Date('2026-01-01T00:00:00Z'),
  limitUsd: '12.50',
  limitReset: 'weekly',
  includeByokInLimit: true,
} as const

async function read(details = {}) {
  const { app, createKey } = await testApp()
  const secret = await createKey(details)
  const answer = await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })
  return { answer, secret, body: answer.json(), data: answer.json().data }
}

describe('GET /key returns information about the key that authenticates the call', () => {
  it('answers 200 with an object of one key, data', async () => {
    const { answer, body } = await read()
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(Object.keys(body)).toEqual(['data'])
  })

  it('is about the calling key, not about another of the account', async () => {
    const { app, createKey } = await testApp()
    const [plain, manager] = [await createKey({ userId: 'user_ada' }), await createKey({ ...FULL, userId: 'user_ada' })]
    for (const [secret, isManager] of [
      [plain, false],
      [manager, true],
    ] as const) {
      const { data } = (await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })).json()
      expect(data.is_management_key).toBe(isManager)
      expect(data.label).toBe(`sk-tb-v1-${secret.slice(9, 12)}...${secret.slice(-3)}`)
    }
  })

  it('takes no parameters: any are ignored', async () => {
    const { app, authorized } = await testApp()
    expect((await app.inject({ url: `${KEY}?hash=x&hash=y`, headers: authorized })).statusCode).toBe(200)
  })

  it('says nothing that opens anything: neither the key nor its hash', async () => {
    const { answer, secret } = await read(FULL)
    const everything = answer.body + JSON.stringify(answer.headers)
    expect(everything).not.toContain(secret.slice(9, 30))
    expect(everything).not.toContain(hashKey(secret))
  })
})

/** `KeyBudget` of the PyPI package openrouter 1.3.84. Every key is required. */
const KeyBudget = z.strictObject({
  budget_id: z.string().nullable(),
  guardrail_id: z.string().nullable(),
  include_byok: z.boolean(),
  limit_usd: z.number(),
  remaining_usd: z.number(),
  reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable(),
  resets_at: z.iso.datetime().nullable(),
  scope: z.enum(['workspace_default_member', 'workspace_default_key', 'member', 'api_key', 'workspace', 'key_limit']),
  spend_usd: z.number(),
})

/** The structure of the public API's answer (reference/openapi-structure.json), and what its newer clients also need. */
const PublicShape = z.strictObject({
  label: z.string(),
  creator_user_id: z.string().nullable(),
  expires_at: z.iso.datetime({ offset: true }).nullable(),
  limit: z.number().nullable(),
  limit_remaining: z.number().nullable(),
  limit_reset: z.string().nullable(),
  include_byok_in_limit: z.boolean(),
  is_free_tier: z.boolean(),
  is_management_key: z.boolean(),
  is_provisioning_key: z.boolean(),
  usage: z.number(),
  usage_daily: z.number(),
  usage_weekly: z.number(),
  usage_monthly: z.number(),
  byok_usage: z.number(),
  byok_usage_daily: z.number(),
  byok_usage_weekly: z.number(),
  byok_usage_monthly: z.number(),
  rate_limit: z.strictObject({ interval: z.string(), requests: z.int(), note: z.string() }),
  workspace_id: z.string().nullable(),
  organization_id: z.string().nullable(),
  allowed_data_regions: z.array(z.string()),
  free_model_daily_requests: z.strictObject({ limit: z.int(), remaining: z.int(), used: z.int() }),
  budgets: z.array(KeyBudget),
  effective_budget: KeyBudget.nullable(),
})

describe('the current API key record', () => {
  it('has every field and no other, of a key with everything', async () => {
    PublicShape.parse((await read(FULL)).data)
  })

  it('has every field and no other, of a key with nothing', async () => {
    PublicShape.parse((await read()).data)
  })

  it('label: `sk-tb-v1-`, the first 3 and the last 3 characters', async () => {
    expect((await read()).data.label).toMatch(/^sk-tb-v1-[0-9a-f]{3}\.\.\.[0-9a-f]{3}$/)
  })

  it.each([
    ['creator_user_id', 'user_ada', 'user_default'],
    ['expires_at', '2026-01-01T00:00:00.000Z', null],
    ['limit', 12.5, null],
    ['limit_remaining', 12.5, null],
    ['limit_reset', 'weekly', null],
    ['include_byok_in_limit', true, false],
    ['is_free_tier', true, false],
    ['is_management_key', true, false],
    ['is_provisioning_key', true, false],
    ['workspace_id', WORKSPACE, '00000000-0000-4000-8000-000000000000'],
  ])('%s: %j of a key that was made with it, %j of one that was not', async (field, withIt, without) => {
    expect((await read(FULL)).data[field]).toBe(withIt)
    expect((await read()).data[field]).toBe(without)
  })

  it.each(['daily', 'weekly', 'monthly'] as const)('limit_reset: %s', async (limitReset) => {
    expect((await read({ limitUsd: '1', limitReset })).data.limit_reset).toBe(limitReset)
  })

  it('limit: 0 is a limit, and leaves nothing', async () => {
    expect((await read({ limitUsd: '0' })).data).toMatchObject({ limit: 0, limit_remaining: 0 })
  })

  it.each(['usage', 'usage_daily', 'usage_weekly', 'usage_monthly'])(
    '%s and its BYOK twin: 0 of a new key',
    async (field) => {
      const { data } = await read()
      expect([data[field], data[`byok_${field}`]]).toEqual([0, 0])
    },
  )

  it('rate_limit: deprecated, and carries no enforceable limit', async () => {
    expect((await read()).data.rate_limit).toEqual({
      requests: -1,
      interval: '10s',
      note: 'This field is deprecated and safe to ignore.',
    })
  })

  it('organization_id null, allowed_data_regions global, free_model_daily_requests of a new account', async () => {
    expect((await read()).data).toMatchObject({
      organization_id: null,
      allowed_data_regions: ['global'],
      free_model_daily_requests: { limit: 1000, remaining: 1000, used: 0 },
    })
  })
})

describe('budgets and effective_budget, which PyPI openrouter requires since 1.3.42', () => {
  it('are empty and null for a key without a limit, with a reset too', async () => {
    for (const details of [{}, { limitReset: 'daily', includeByokInLimit: true } as const]) {
      expect((await read(details)).data).toMatchObject({ budgets: [], effective_budget: null })
    }
  })

  it('are the limit of the key, the only budget here', async () => {
    const budget = {
      scope: 'key_limit',
      budget_id: null,
      guardrail_id: null,
      limit_usd: 12.5,
      spend_usd: 0,
      remaining_usd: 12.5,
      reset_interval: 'weekly',
      resets_at: '2025-02-17T00:00:00.000Z',
      include_byok: true,
    }
    const { data } = await read(FULL)
    expect(data.budgets).toEqual([budget])
    expect(data.effective_budget).toEqual(budget)
  })

  it('a lifetime limit never resets', async () => {
    const lifetime = { reset_interval: null, resets_at: null, include_byok: false }
    expect((await read({ limitUsd: '0' })).data.effective_budget).toMatchObject({ limit_usd: 0, ...lifetime })
  })
})

describe('errors', () => {
  it('401 without the Authorization header', async () => {
    const { app } = await testApp()
    const answer = await app.inject({ url: KEY })
    expect(assertEnvelope(answer, 401).error.message).toBe('Missing Authentication header')
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it('401 for unknown, revoked and expired keys, the same answer for each', async () => {
    const { app, store, createKey } = await testApp()
    const revoked = await createKey()
    await store.db.updateTable('api_keys').set({ revoked_at: NOW.toISOString() }).execute()
    const expired = await createKey({ expiresAt: NOW })
    const bodies = []
    for (const secret of [`sk-tb-v1-${'0'.repeat(64)}`, revoked, expired, 'nonsense']) {
      const answer = await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      bodies.push(assertEnvelope(answer, 401))
    }
    expect(bodies).toEqual(Array(4).fill({ error: { code: 401, message: 'Invalid API key' } }))
  })

  it('200 until the millisecond at which the key expires', async () => {
    let now = NOW
    const { app, createKey } = await testApp({ clock: () => now })
    const headers = { authorization: `Bearer ${await createKey({ expiresAt: new Date(NOW.getTime() + 1000) })}` }
    now = new Date(NOW.getTime() + 999)
    expect((await app.inject({ url: KEY, headers })).statusCode).toBe(200)
    now = new Date(NOW.getTime() + 1000)
    assertEnvelope(await app.inject({ url: KEY, headers }), 401)
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('405 for %s', async (method) => {
    const { app, authorized } = await testApp()
    const answer = await app.inject({ method, url: KEY, headers: authorized })
    assertEnvelope(answer, 405)
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
  })

  it('never 403: any valid key may read itself', async () => {
    for (const isManagement of [true, false]) expect((await read({ isManagement })).answer.statusCode).toBe(200)
  })
})

describe('the usage numbers are those of the raw records', () => {
  it('of a build from logs: private, withheld, repeated, with BYOK, of today and long ago', async () => {
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
})
