import { describe, expect, test } from 'vitest'
import { mayScrape, type Scrape } from '../../../server/metrics/access.ts'

const TOKEN = '0123456789abcdef'
const LOCAL: Scrape = { peer: '127.0.0.1', httpVersion: '1.1', headers: { host: 'localhost:8080' } }

const withHeaders = (headers: Scrape['headers']): Scrape => ({ ...LOCAL, headers: { ...LOCAL.headers, ...headers } })

describe('without a token', () => {
  test.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('the peer %s may read', (peer) => {
    expect(mayScrape({ ...LOCAL, peer }, undefined)).toBe(true)
  })

  test.each(['10.0.0.1', '::ffff:10.0.0.1', '::', '::2', 'fe80::1', '128.0.0.1', '127.evil.example', '', undefined])(
    'the peer %s may not',
    (peer) => {
      expect(mayScrape({ ...LOCAL, peer }, undefined)).toBe(false)
    },
  )

  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1:9', '127.1.2.3', '[::1]', '[::1]:8080'])(
    'the Host %s is this machine',
    (host) => {
      expect(mayScrape(withHeaders({ host }), undefined)).toBe(true)
    },
  )

  test.each([
    'data.example.org',
    'localhost.example.org',
    '127.0.0.1.example.org',
    'evil.localhost',
    '10.0.0.1',
    '[::2]',
    '::1',
    '',
    'localhost:80:80',
  ])('the Host %j is not', (host) => {
    expect(mayScrape(withHeaders({ host }), undefined)).toBe(false)
  })

  test.each([
    { forwarded: 'for=127.0.0.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-for': '' },
    { 'x-forwarded-proto': 'http' },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-anything': '1' },
    { 'x-real-ip': '127.0.0.1' },
    { via: '1.1 localhost' },
    { origin: 'http://localhost:8080' },
    { origin: 'null' },
  ])('what came through a proxy or from a page may not read: %j', (headers) => {
    expect(mayScrape(withHeaders(headers), undefined)).toBe(false)
  })

  test('no token is the right one', () => {
    const remote: Scrape = { ...LOCAL, peer: '10.0.0.1' }
    for (const authorization of ['Bearer undefined', 'Bearer ', 'Bearer', '']) {
      expect(mayScrape({ ...remote, headers: { authorization } }, undefined)).toBe(false)
    }
  })

  test('HTTP/1.0, as some proxies send it, may not read', () => {
    expect(mayScrape({ ...LOCAL, httpVersion: '1.0' }, undefined)).toBe(false)
  })
})

describe('with a token', () => {
  const sent = (authorization: string): Scrape => ({
    peer: '10.0.0.1',
    httpVersion: '1.1',
    headers: { host: 'data.example.org', 'x-forwarded-for': '192.0.2.1', authorization },
  })

  test.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN} `])('who sends it may read from anywhere: %s', (authorization) => {
    expect(mayScrape(sent(authorization), TOKEN)).toBe(true)
  })

  test.each([
    '',
    TOKEN,
    'Bearer',
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN}0`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
  ])('who sends another may not: %s', (authorization) => {
    expect(mayScrape(sent(authorization), TOKEN)).toBe(false)
  })

  test('this machine still may without it', () => {
    expect(mayScrape(LOCAL, TOKEN)).toBe(true)
  })
})
