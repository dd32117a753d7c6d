import { describe, expect, test } from 'vitest'
import { decodableUrl, KnownMethods } from '../../server/methods.ts'

describe('the methods of a path', () => {
  const known = new KnownMethods()
  known.add({ url: '/api/v1/key', method: ['GET', 'HEAD'] })
  known.add({ url: '/api/v1/presets/:slug/messages', method: 'POST' })

  test.each(['/api/v1/key', '/api/v1/%6Bey'])('%s has them', (path) => expect(known.of(path)).toEqual(['GET', 'HEAD']))

  test.each(['/api/v1/presets/a.b/messages', '/api/v1/presets//messages', '/api/v1/presets/../messages'])(
    '%s has those of its pattern',
    (path) => expect(known.of(path)).toEqual(['POST']),
  )

  test.each([
    '/api/v1/x/../key',
    '/api/v1/./key',
    '/api/v1/x/%2e%2e/key',
    '/api/v1/keys',
    '/api/v1/presets/a/b/messages',
  ])('%s, taken as it was sent, is unknown', (path) => expect(known.of(path)).toEqual([]))
})

describe('a URL that can be decoded', () => {
  test.each(['/a%20b?x=%zz', '/', '/%C3%A9'])('%s stays as it is', (url) => expect(decodableUrl(url)).toBe(url))

  test.each([
    ['/%zz', '/%25zz'],
    ['/a%c3?x=%20?y', '/a%25c3?x=%20?y'],
  ])('%s becomes %s', (url, decodable) => expect(decodableUrl(url)).toBe(decodable))
})
