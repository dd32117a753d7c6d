import { describe, expect, test } from 'vitest'
import { decodableUrl, KnownMethods, originForm } from '../../server/api/methods.ts'

describe('the methods of a path', () => {
  const known = new KnownMethods()
  known.add({ url: '/api/v1/key', method: ['GET', 'HEAD'] })
  known.add({ url: '/api/v1/presets/:slug/messages', method: 'POST' })

  test.each(['/api/v1/key', '/api/v1/%6Bey'])('GET and HEAD are known for %s', (path) =>
    expect(known.of(path)).toEqual(['GET', 'HEAD']),
  )

  test.each(['/api/v1/presets/a.b/messages', '/api/v1/presets//messages', '/api/v1/presets/../messages'])(
    'POST is known for %s, which fits a pattern',
    (path) => expect(known.of(path)).toEqual(['POST']),
  )

  test.each([
    '/api/v1/x/../key',
    '/api/v1/./key',
    '/api/v1/x/%2e%2e/key',
    '/api/v1/keys',
    '/api/v1/presets/a/b/messages',
  ])('nothing is known for %s', (path) => expect(known.of(path)).toEqual([]))
})

describe('the target of a request', () => {
  test.each(['/a?b=http://c', '/', '//a', '*', 'ftp://a/b'])('%s is unchanged', (target) =>
    expect(originForm(target)).toBe(target),
  )

  test.each([
    ['http://a.example/b?c', '/b?c'],
    ['HTTPS://a.example:8080//b', '//b'],
    ['http://a.example', '/'],
    ['http://a.example?b', '/?b'],
    ['http:///b', '/b'],
  ])('%s is %s', (target, path) => expect(originForm(target)).toBe(path))
})

describe('a URL that can be decoded', () => {
  test.each(['/a%20b?x=%zz', '/', '/%C3%A9'])('%s is unchanged', (url) => expect(decodableUrl(url)).toBe(url))

  test.each([
    ['/%zz', '/%25zz'],
    ['/a%c3?x=%20?y', '/a%25c3?x=%20?y'],
  ])('%s becomes %s', (url, decodable) => expect(decodableUrl(url)).toBe(decodable))
})
