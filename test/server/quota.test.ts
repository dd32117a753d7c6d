import { expect, test } from 'vitest'
import { Quota } from '../../server/base/quota.ts'

const START = Date.parse('2025-02-10T09:30:00Z')

test('allows so many uses of a name in a window that begins with the first use', () => {
  const quota = new Quota(2, 60)
  expect(quota.state('a', START)).toEqual({ limit: 2, remaining: 2, resetSeconds: 60 })
  expect(quota.use('a', START)).toEqual({ limit: 2, remaining: 1, resetSeconds: 60 })
  expect(quota.use('a', START + 1000)).toEqual({ limit: 2, remaining: 0, resetSeconds: 59 })
  expect(quota.state('a', START + 59_999)).toEqual({ limit: 2, remaining: 0, resetSeconds: 1 })
  expect(quota.state('a', START + 60_000)).toEqual({ limit: 2, remaining: 2, resetSeconds: 60 })
})

test('forgets only the name counted longest ago beyond its capacity', () => {
  const quota = new Quota(1, 60, 3)
  for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) quota.use(name, START + index)
  const remaining = ['a', 'b', 'c', 'd'].map((name) => quota.state(name, START + 4).remaining)
  expect(remaining).toEqual([1, 0, 0, 0])
})

test('removes ended windows before open ones', () => {
  const quota = new Quota(1, 60, 3)
  for (const name of ['a', 'b']) quota.use(name, START)
  quota.use('c', START + 30_000)
  for (const name of ['d', 'e']) quota.use(name, START + 60_000)
  expect(['c', 'd', 'e'].map((name) => quota.state(name, START + 60_000).remaining)).toEqual([0, 0, 0])
})

test('forgets names of ended windows, even without a capacity', () => {
  const quota = new Quota(1, 60)
  for (let i = 0; i < 1000; i++) quota.use(`key ${i}`, START + i)
  quota.use('next', START + 120_000)
  expect(quota.size).toBe(1)
})
