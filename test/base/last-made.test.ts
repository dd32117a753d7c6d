import { expect, it } from 'vitest'
import { LastMade } from '../../pipeline/base/last-made.ts'

it('keeps the last values, and forgets the one that was set first', () => {
  const made = new LastMade<number>(2)
  made.set('a', 1)
  made.set('b', 2)
  made.set('a', 3)
  made.set('c', 4)
  expect(['a', 'b', 'c'].map((key) => made.get(key))).toEqual([3, undefined, 4])
})
