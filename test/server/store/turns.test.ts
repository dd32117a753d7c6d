import { setTimeout as pass } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { StoreConflictError } from '../../../server/store/retry.ts'
import { takeTurns } from '../../../server/store/turns.ts'

test('works have their turns one after the other, in the order in which they came, whatever becomes of them', async () => {
  const inTurn = takeTurns(5000)
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await pass(1)
    seen.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
    return name
  }
  const made = await Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(work(name))))
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})

test('whoever had no turn within the budget is refused at once when it comes, and does nothing', async () => {
  const inTurn = takeTurns(100)
  const slow = inTurn(() => pass(150))
  const late = Array.from({ length: 5 }, () => vi.fn(async () => {}))
  const refused = await Promise.allSettled(late.map((work) => inTurn(work)))
  expect(refused.every((one) => one.status === 'rejected' && one.reason instanceof StoreConflictError)).toBe(true)
  for (const work of late) expect(work).not.toHaveBeenCalled()
  await slow
  const remaining = await inTurn(async (left) => left)
  expect(remaining).toBeGreaterThan(0)
  expect(remaining).toBeLessThanOrEqual(100)
})

test('without a budget the first try is made all the same', async () => {
  expect(await takeTurns(0)(async (left) => left)).toBe(0)
})
