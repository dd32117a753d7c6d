import { describe, expect, test } from 'vitest'
import { CurrentKeyResponse } from '../../../server/schemas/key.ts'
import { hashKey, type NewKey } from '../../../server/store/keys.ts'
import { keySpend } from '../../../server/store/usage.ts'
import { NOW, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { sha256 } from '../../support/pipeline.ts'
import { type UsageRow, usageRow } from '../../support/usage.ts'

const KEY = '/api/v1/key'
const UNTOUCHED = { usage: 0, usage_daily: 0, usage_weekly: 0, usage_monthly: 0 }

type Charge = Partial<UsageRow>

/** What `GET /key` answers at `now` to a key that was used so. */
async function answerTo({ charges = [], key = {}, now = NOW }: { charges?: Charge[]; key?: NewKey; now?: Date }) {
  const { app, store, createKey } = await testApp({ clock: () => now })
  const secret = await createKey(key)
  const rows = charges.map((charge) => usageRow({ api_key_hash: hashKey(secret), ...charge }))
  await keySpend(store).replace(
    [...Map.groupBy(rows, ({ date }) => date)].map(([date, usage]) => {
      return { digest: sha256(JSON.stringify(usage)), read: () => ({ date, usage }) }
    }),
  )
  const answer = await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })
  expect(answer.statusCode).toBe(200)
  return { answer, data: CurrentKeyResponse.parse(answer.json()).data }
}

describe('windows are UTC, whatever zone the machine is in', () => {
  test('the machine of these tests is in another zone', () => {
    expect(NOW.getTimezoneOffset()).not.toBe(0)
  })

  /** A dollar on each of these dates; which windows hold how many of them at an instant. */
  const sums = async (now: string, ...dates: string[]) => {
    const { data } = await answerTo({ charges: dates.map((date) => ({ date })), now: new Date(now) })
    return [data.usage_daily, data.usage_weekly, data.usage_monthly, data.usage]
  }

  test.each([
    ['2025-02-10T00:00:00.000Z', '2025-02-10', 'the first millisecond'],
    ['2025-02-10T23:59:59.999Z', '2025-02-10', 'the last millisecond'],
  ])('a day at %s is %s: %s', async (now, today) => {
    expect((await sums(now, today))[0]).toBe(1)
    expect((await sums(now, '2025-02-09', '2025-02-11'))[0]).toBe(0)
  })

  test.each([
    ['2025-02-10T00:00:00Z', 'Monday'],
    ['2025-02-12T12:00:00Z', 'Wednesday'],
    ['2025-02-16T23:59:59Z', 'Sunday'],
  ])('a week at %s, a %s, goes from Monday to Sunday', async (now) => {
    expect((await sums(now, '2025-02-10', '2025-02-16'))[1]).toBe(2)
    expect((await sums(now, '2025-02-09', '2025-02-17'))[1]).toBe(0)
  })

  test.each([
    ['2024-12-30T00:00:00Z', ['2024-12-30', '2024-12-31', '2025-01-01', '2025-01-05']],
    ['2025-01-05T23:59:59Z', ['2024-12-30', '2024-12-31', '2025-01-01', '2025-01-05']],
    ['2024-03-01T00:00:00Z', ['2024-02-26', '2024-02-29', '2024-03-01', '2024-03-03']],
  ])('a week at %s goes on across months and years', async (now, dates) => {
    expect((await sums(now, ...dates))[1]).toBe(4)
  })

  test.each([
    ['2025-02-01T00:00:00Z', ['2025-02-01', '2025-02-28'], ['2025-01-31', '2025-03-01', '2024-02-10']],
    ['2024-02-29T23:59:59Z', ['2024-02-01', '2024-02-29'], ['2024-01-31', '2024-03-01', '2025-02-01']],
    ['2024-12-31T23:59:59Z', ['2024-12-01', '2024-12-31'], ['2024-11-30', '2025-01-01', '2023-12-31']],
    ['2025-01-01T00:00:00Z', ['2025-01-01', '2025-01-31'], ['2024-12-31', '2025-02-01', '2024-01-15']],
  ])('a month at %s is the calendar month of its year', async (now, inside, outside) => {
    expect((await sums(now, ...inside))[2]).toBe(inside.length)
    expect((await sums(now, ...outside))[2]).toBe(0)
  })

  test('lifetime is everything, also what lies before the dataset or in the future', async () => {
    expect(await sums('2025-02-10T09:30:00Z', '2019-01-01', '2031-01-01')).toEqual([0, 0, 0, 2])
  })

  test('they move on with the clock, without another build', async () => {
    let now = new Date('2025-02-28T23:59:59.999Z')
    const { app, store, createKey } = await testApp({ clock: () => now })
    const secret = await createKey()
    const usage = [usageRow({ date: '2025-02-28', api_key_hash: hashKey(secret) })]
    await keySpend(store).replace([{ digest: 'a', read: () => ({ date: '2025-02-28', usage }) }])
    const ask = async () => (await app.inject({ url: KEY, headers: { authorization: `Bearer ${secret}` } })).json().data
    expect(await ask()).toMatchObject({ usage: 1, usage_daily: 1, usage_weekly: 1, usage_monthly: 1 })
    now = new Date('2025-03-01T00:00:00Z')
    expect(await ask()).toMatchObject({ usage: 1, usage_daily: 0, usage_weekly: 1, usage_monthly: 0 })
    now = new Date('2025-03-03T00:00:00Z')
    expect(await ask()).toMatchObject({ usage: 1, usage_daily: 0, usage_weekly: 0, usage_monthly: 0 })
  })

  test('AS_OF stands for the clock, as in all windows of the server, but not for the expiry of keys', async () => {
    const asOf = new Date('2024-06-05T00:00:00Z')
    const { app, store, createKey } = await testApp({ asOf })
    const [secret, expired] = [await createKey(), await createKey({ expiresAt: new Date('2025-01-01T00:00:00Z') })]
    const usage = [usageRow({ date: '2024-06-05', api_key_hash: hashKey(secret) })]
    await keySpend(store).replace([{ digest: 'a', read: () => ({ date: '2024-06-05', usage }) }])
    const ask = (key: string) => app.inject({ url: KEY, headers: { authorization: `Bearer ${key}` } })
    expect((await ask(secret)).json().data).toMatchObject({ usage_daily: 1, usage_weekly: 1, usage_monthly: 1 })
    assertEnvelope(await ask(expired), 401)
  })
})

describe('money', () => {
  test('is added exactly, and printed with the digits it has', async () => {
    const charges = [0, 1, 2].map((i) => ({ date: `2025-02-0${i + 1}`, cost_usd: '0.1' }))
    const { answer } = await answerTo({ charges, key: { limitUsd: '1' } })
    expect(answer.body).toContain('"usage":0.3,')
    expect(answer.body).toContain('"limit_remaining":0.7,')
  })

  test.each([
    ['0.000000001', '1e-9'],
    ['1234.56', '1234.56'],
    ['900719.925474099', '900719.925474099'],
    ['0', '0'],
  ])('of %s USD is the JSON number %s', async (cost_usd, printed) => {
    const { answer } = await answerTo({ charges: [{ cost_usd }] })
    expect(answer.body).toContain(`"usage":${printed},`)
  })

  test('with BYOK and without are apart', async () => {
    const { data } = await answerTo({
      charges: [
        { date: '2025-02-10', cost_usd: '1' },
        { date: '2025-02-10', cost_usd: '2', is_byok: true },
        { date: '2025-02-03', cost_usd: '4', is_byok: true },
        { date: '2024-02-03', cost_usd: '8', is_byok: true },
      ],
    })
    expect(data).toMatchObject({ usage: 1, usage_daily: 1, usage_weekly: 1, usage_monthly: 1 })
    expect(data).toMatchObject({ byok_usage: 14, byok_usage_daily: 2, byok_usage_weekly: 2, byok_usage_monthly: 6 })
  })

  test('of other keys does not count, also not of the same account', async () => {
    const { data } = await answerTo({ charges: [{ api_key_hash: sha256('another key') }] })
    expect(data).toMatchObject({ ...UNTOUCHED, byok_usage: 0 })
  })
})

describe('limit_remaining', () => {
  const charges = [
    { date: '2025-02-10', cost_usd: '1' },
    { date: '2025-02-11', cost_usd: '2' },
    { date: '2025-02-01', cost_usd: '4' },
    { date: '2025-01-31', cost_usd: '8' },
    { date: '2025-02-10', cost_usd: '16', is_byok: true },
    { date: '2025-01-31', cost_usd: '32', is_byok: true },
  ]

  test.each([
    [undefined, 85],
    ['daily', 99],
    ['weekly', 97],
    ['monthly', 93],
  ] as const)(
    'is the limit less what was used in the time after which it starts anew: %s',
    async (limitReset, left) => {
      const { data } = await answerTo({ charges, key: { limitUsd: '100', limitReset } })
      expect(data).toMatchObject({ limit: 100, limit_remaining: left, limit_reset: limitReset ?? null })
    },
  )

  test.each([
    [undefined, 37],
    ['daily', 83],
    ['monthly', 77],
  ] as const)('counts BYOK in the same time where it is included: %s', async (limitReset, left) => {
    const { data } = await answerTo({ charges, key: { limitUsd: '100', limitReset, includeByokInLimit: true } })
    expect(data).toMatchObject({ limit_remaining: left, include_byok_in_limit: true })
  })

  test.each([
    ['15', 0],
    ['14.999999999', 0],
    ['15.000000001', 1e-9],
    ['0', 0],
  ])('of a limit of %s after 15 is %s, never below 0', async (limitUsd, left) => {
    expect((await answerTo({ charges, key: { limitUsd } })).data.limit_remaining).toBe(left)
  })

  test('is null without a limit, whatever was used', async () => {
    const { data } = await answerTo({ charges, key: { limitReset: 'daily', includeByokInLimit: true } })
    expect(data).toMatchObject({ limit: null, limit_remaining: null, limit_reset: 'daily' })
  })
})

describe('effective_budget', () => {
  const charges = [
    { date: '2025-02-10', cost_usd: '1' },
    { date: '2025-02-03', cost_usd: '2' },
    { date: '2025-01-31', cost_usd: '4' },
    { date: '2025-02-10', cost_usd: '8', is_byok: true },
  ]

  test.each([
    ['daily', false, 1, 9],
    ['monthly', false, 3, 7],
    [undefined, false, 7, 3],
    ['daily', true, 9, 1],
  ] as const)('has the spend of its window: %s, with BYOK %s', async (limitReset, includeByokInLimit, spend, left) => {
    const { data } = await answerTo({ charges, key: { limitUsd: '10', limitReset, includeByokInLimit } })
    expect(data.effective_budget).toMatchObject({ spend_usd: spend, remaining_usd: left })
    expect(data.budgets).toEqual([data.effective_budget])
  })

  test('says by how much the limit is exceeded, where limit_remaining is 0', async () => {
    const { data } = await answerTo({ charges, key: { limitUsd: '6.8' } })
    expect(data.limit_remaining).toBe(0)
    expect(data.effective_budget).toMatchObject({ limit_usd: 6.8, spend_usd: 7, remaining_usd: -0.2 })
  })

  test.each([
    ['daily', '2025-02-10T00:00:00Z', '2025-02-11T00:00:00.000Z'],
    ['daily', '2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z'],
    ['weekly', '2025-02-10T00:00:00Z', '2025-02-17T00:00:00.000Z'],
    ['weekly', '2025-02-16T23:59:59.999Z', '2025-02-17T00:00:00.000Z'],
    ['weekly', '2024-12-30T12:00:00Z', '2025-01-06T00:00:00.000Z'],
    ['monthly', '2025-02-01T00:00:00Z', '2025-03-01T00:00:00.000Z'],
    ['monthly', '2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z'],
  ] as const)('%s at %s resets at %s', async (limitReset, now, resetsAt) => {
    const { data } = await answerTo({ key: { limitUsd: '10', limitReset }, now: new Date(now) })
    expect(data.effective_budget).toMatchObject({ reset_interval: limitReset, resets_at: resetsAt })
  })
})

describe('free_model_daily_requests', () => {
  test('are those of the account on the current UTC day, without BYOK', async () => {
    const free = { requests: 9, free_requests: 7 }
    const { data } = await answerTo({
      charges: [
        { date: '2025-02-10', ...free },
        { date: '2025-02-10', ...free, is_byok: true },
        { date: '2025-02-09', ...free },
      ],
    })
    expect(data.free_model_daily_requests).toEqual({ limit: 1000, remaining: 993, used: 7 })
  })

  test('never leave less than 0', async () => {
    const { data } = await answerTo({ charges: [{ date: '2025-02-10', requests: 1200, free_requests: 1200 }] })
    expect(data.free_model_daily_requests).toEqual({ limit: 1000, remaining: 0, used: 1200 })
  })
})

test('HEAD has the headers of GET and no body, and nothing may be kept in caches', async () => {
  const { app, authorized } = await testApp()
  const [get, head] = await Promise.all([
    app.inject({ url: KEY, headers: authorized }),
    app.inject({ method: 'HEAD', url: KEY, headers: authorized }),
  ])
  expect(get.headers['cache-control']).toBe('no-store')
  expect(head.headers['content-length']).toBe(get.headers['content-length'])
  expect(head.headers['cache-control']).toBe('no-store')
  expect(head.body).toBe('')
})
