import { expect, test } from 'vitest'
import { BoundedCache } from '../../server/base/bounded-cache.ts'

const of = (bytes: number) => ({ bytes })

test('forgets the least recently used values, and no more than it must', () => {
  const cache = new BoundedCache<{ bytes: number }>(10, ({ bytes }) => bytes)
  cache.set('a', of(4))
  cache.set('b', of(3))
  cache.set('c', of(3))
  cache.get('a')
  cache.set('d', of(3))
  expect(['a', 'b', 'c', 'd'].filter((name) => cache.get(name) !== undefined)).toEqual(['a', 'c', 'd'])
})

test('counts a replaced value once', () => {
  const cache = new BoundedCache<{ bytes: number }>(10, ({ bytes }) => bytes)
  for (let i = 0; i < 5; i++) cache.set('a', of(6))
  cache.set('b', of(4))
  expect(cache.get('a')).toEqual(of(6))
  expect(cache.get('b')).toEqual(of(4))
})

test('keeps a value that is too large until the next one', () => {
  const cache = new BoundedCache<{ bytes: number }>(10, ({ bytes }) => bytes)
  cache.set('a', of(1))
  cache.set('large', of(100))
  expect([cache.get('a'), cache.get('large')]).toEqual([undefined, of(100)])
  cache.set('b', of(1))
  expect([cache.get('large'), cache.get('b')]).toEqual([undefined, of(1)])
})
