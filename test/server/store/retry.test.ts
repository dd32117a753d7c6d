import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StoreConflictError, takeTurns } from '../../../server/store/retry.ts'

let now = 0
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => {
  vi.restoreAllMocks()
})

test('runs work one at a time in the order it came, even if some fails', async () => {
  const inTurn = takeTurns(5000)
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await nextTurn()
    seen.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
    return name
  }
  const made = await Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(work(name))))
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})

test('refuses work without running it when its turn comes after the budget', async () => {
  const inTurn = takeTurns(100)
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = inTurn(() => {
    begun.resolve()
    return held.promise
  })
  await begun.promise
  const late = Array.from({ length: 5 }, () => vi.fn(async () => {}))
  const waiting = late.map((work) => inTurn(work))
  now += 101
  held.resolve()
  const refused = await Promise.allSettled(waiting)
  expect(refused.every((one) => one.status === 'rejected' && one.reason instanceof StoreConflictError)).toBe(true)
  for (const work of late) expect(work).not.toHaveBeenCalled()
  await slow
  expect(await inTurn(async (left) => left)).toBe(100)
})

test('runs work without a budget once', async () => {
  expect(await takeTurns(0)(async (left) => left)).toBe(0)
})
