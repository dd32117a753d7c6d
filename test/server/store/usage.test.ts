import { expect, test } from 'vitest'
import type { KeySpendDay } from '../../../pipeline/contract/usage.ts'
import type { Store } from '../../../server/store/store.ts'
import { type IncomingDay, keySpend } from '../../../server/store/usage.ts'
import { sha256 } from '../../support/pipeline.ts'
import { storeUrl, testStore } from '../../support/store.ts'
import { HASH_A, type UsageRow, usageRow } from '../../support/usage.ts'

interface CountedDay extends IncomingDay {
  reads: number
}

/** The days of `rows`, which count how often they are read. */
function incoming(...rows: UsageRow[]): CountedDay[] {
  return [...Map.groupBy(rows, ({ date }) => date)].map(([date, ofDate]) => {
    const day: KeySpendDay = { date, usage: ofDate.map(({ date: _, ...entry }) => entry) }
    const counted = {
      digest: sha256(JSON.stringify(day)),
      reads: 0,
      read: () => {
        counted.reads += 1
        return day
      },
    }
    return counted
  })
}

async function newStore(): Promise<{ store: Store; usage: ReturnType<typeof keySpend> }> {
  const store = await testStore()
  return { store, usage: keySpend(store) }
}

test('replacing usage rewrites changed days and deletes missing ones', async () => {
  const { usage } = await newStore()
  const kept = usageRow({ date: '2025-02-07' })
  await usage.replace(incoming(kept, usageRow({ date: '2025-02-08' }), usageRow({ date: '2025-02-09' })))
  const { changedDays } = await usage.replace(incoming(kept, usageRow({ date: '2025-02-09', cost_usd: '2' })))
  expect(changedDays).toBe(3)
  expect(await usage.ofKey(HASH_A)).toEqual([
    { date: '2025-02-07', is_byok: 0, cost_usd: '1' },
    { date: '2025-02-09', is_byok: 0, cost_usd: '2' },
  ])
  await usage.replace([])
  expect(await usage.ofKey(HASH_A)).toEqual([])
})

test('replacing usage neither reads nor writes unchanged days', async () => {
  const { store, usage } = await newStore()
  const old = usageRow({ date: '2025-02-08' })
  await usage.replace(incoming(old))
  const again = incoming(old)
  expect(await usage.replace(again)).toEqual({ changedDays: 0 })
  const [first, second] = incoming(old, usageRow({ date: '2025-02-09' }))
  await usage.replace([first, second].filter((day) => day !== undefined))
  expect([again[0]?.reads, first?.reads, second?.reads]).toEqual([0, 0, 1])
  expect(await store.db.selectFrom('usage_days').select('date').orderBy('date').execute()).toEqual([
    { date: '2025-02-08' },
    { date: '2025-02-09' },
  ])
})

test('a day that cannot be read, or that occurs twice, changes nothing, not even the days before it', async () => {
  const { usage } = await newStore()
  await usage.replace(incoming(usageRow()))
  const broken: IncomingDay = {
    digest: 'broken',
    read() {
      throw new Error('broken')
    },
  }
  const changed = incoming(usageRow({ cost_usd: '2' }))
  await expect(usage.replace([...changed, broken])).rejects.toThrow('broken')
  await expect(usage.replace([...changed, ...incoming(usageRow({ cost_usd: '3' }))])).rejects.toThrow()
  expect(await usage.ofKey(HASH_A)).toEqual([{ date: '2025-02-09', is_byok: 0, cost_usd: '1' }])
})

test('a day with more rows than one statement takes is stored completely', async () => {
  const { store, usage } = await newStore()
  await usage.replace(incoming(...Array.from({ length: 2500 }, (_, i) => usageRow({ api_key_hash: sha256(`${i}`) }))))
  const { rows } = await store.db
    .selectFrom('usage')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  expect(rows).toBe(2500)
})

test('connections that load the same usage at once write it once', async () => {
  const url = await storeUrl()
  const stores = await Promise.all([testStore(url), testStore(url), testStore(url), testStore(url)])
  const rows = Array.from({ length: 30 }, (_, i) => usageRow({ date: `2025-01-${String(i + 1).padStart(2, '0')}` }))
  const loads = stores.map((store) => ({ store, days: incoming(...rows) }))
  const outcomes = await Promise.all(loads.map(({ store, days }) => keySpend(store).replace(days)))
  expect(outcomes.map(({ changedDays }) => changedDays).sort((a, b) => a - b)).toEqual([0, 0, 0, 30])
  expect(loads.flatMap(({ days }) => days).reduce((sum, { reads }) => sum + reads, 0)).toBe(30)
  for (const store of stores) expect(await keySpend(store).ofKey(HASH_A)).toHaveLength(30)
})

test('connections that load different usage leave one of the two, never a mixture', async () => {
  const url = await storeUrl()
  const stores = await Promise.all([testStore(url), testStore(url)])
  const dates = Array.from({ length: 20 }, (_, i) => `2025-01-${String(i + 1).padStart(2, '0')}`)
  const file = (cost_usd: string) => incoming(...dates.map((date) => usageRow({ date, cost_usd })))
  await Promise.all(stores.map((store, index) => keySpend(store).replace(file(String(index + 1)))))
  for (const store of stores) {
    const entries = await keySpend(store).ofKey(HASH_A)
    expect(entries).toHaveLength(20)
    expect(new Set(entries.map(({ cost_usd }) => cost_usd)).size).toBe(1)
  }
})
