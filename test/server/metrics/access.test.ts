import { describe, expect, test } from 'vitest'
import { mayScrape, type Scrape } from '../../../server/metrics/access.ts'

const TOKEN = '0123456789abcdef'
const LOCAL: Scrape = { peer: '127.0.0.1', httpVersion: '1.1', headers: { host: 'localhost:8080' } }

const withHeaders = (headers: Scrape['headers']): Scrape => ({ ...LOCAL, headers: { ...LOCAL.headers, ...headers } })

/** Those of some values that may read, without a token. */
const admitted = <T>(values: T[], scrapeOf: (value: T) => Scrape) =>
  values.filter((value) => mayScrape(scrapeOf(value), undefined))

describe('without a token', () => {
  test('peers of this machine may read', () => {
    const local = ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']
    const others = [
      '10.0.0.1',
      '::ffff:10.0.0.1',
      '::',
      '::2',
      'fe80::1',
      '128.0.0.1',
      '127.evil.example',
      '',
      undefined,
    ]
    expect(admitted([...local, ...others], (peer) => ({ ...LOCAL, peer }))).toEqual(local)
  })

  test('for a Host that is this machine', () => {
    const local = ['localhost', 'LOCALHOST:80', '127.0.0.1:9', '127.1.2.3', '[::1]', '[::1]:8080']
    const names = ['data.example.org', 'localhost.example.org', '127.0.0.1.example.org', 'evil.localhost']
    const others = [...names, '10.0.0.1', '[::2]', '::1', '', 'localhost:80:80']
    expect(admitted([...local, ...others], (host) => withHeaders({ host }))).toEqual(local)
  })

  test('not what came through a proxy, from a page or by HTTP/1.0, as some proxies send it', () => {
    const forwarded = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-anything', 'x-real-ip']
    const headers = [
      ...[...forwarded, 'forwarded', 'via', 'origin'].map((name) => ({ [name]: '127.0.0.1' })),
      ...[{ 'x-forwarded-for': '' }, { origin: 'http://localhost:8080' }, { origin: 'null' }],
    ]
    expect(admitted(headers, withHeaders)).toEqual([])
    expect(mayScrape({ ...LOCAL, httpVersion: '1.0' }, undefined)).toBe(false)
  })

  test('no token is the right one', () => {
    const sent = ['Bearer undefined', 'Bearer ', 'Bearer', '']
    expect(admitted(sent, (authorization) => ({ ...LOCAL, peer: '10.0.0.1', headers: { authorization } }))).toEqual([])
  })
})

test('with a token, who sends it may read from anywhere, who sends another may not, and this machine still may', () => {
  const right = [`Bearer ${TOKEN}`, `bearer  ${TOKEN} `]
  const parts = [`Bearer ${TOKEN}0`, `Bearer ${TOKEN.slice(1)}`, `Bearer ${TOKEN} ${TOKEN}`]
  const wrong = ['', TOKEN, 'Bearer', `Basic ${TOKEN}`, ...parts, `Bearer ${TOKEN.toUpperCase()}`]
  const headers = { host: 'data.example.org', 'x-forwarded-for': '192.0.2.1' }
  const sent = (authorization: string): Scrape => ({
    peer: '10.0.0.1',
    httpVersion: '1.1',
    headers: { ...headers, authorization },
  })
  expect([...right, ...wrong].filter((authorization) => mayScrape(sent(authorization), TOKEN))).toEqual(right)
  expect(mayScrape(LOCAL, TOKEN)).toBe(true)
})
