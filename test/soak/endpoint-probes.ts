import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Random } from '../../pipeline/sample/random.ts'
import { mutatedMessageRequest, nested, validMessageRequest } from '../support/message-request.ts'

/*
 * Requests made from the live /openapi.json: all paths, methods and parameters, with values that fit, that nearly fit and
 * that nobody would send, under good and bad keys. Each says which statuses it may be answered with.
 */

/** A request as bytes, and what is known of its answer. */
export interface Probe {
  what: string
  bytes: Buffer
  isHead: boolean
  /** Whether it asks to close the connection, so that nothing behind it has an answer. */
  isLast: boolean
  /** The operation whose answers it may get; undefined where the request belongs to none. */
  operation: Operation | undefined
  statuses: readonly number[]
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; responses: Record<string, Answer> }
}

export interface Operation {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema: ParameterSchema }[]
  requestBody?: object
  responses: Record<string, Answer | { $ref: string }>
}

interface Answer {
  content?: Record<string, { schema?: object }>
}

interface ParameterSchema {
  type?: string
  format?: string
  enum?: string[]
  minimum?: number
  maximum?: number
}

/** What is there on the server. */
export interface Known {
  keys: { management: string; plain: string; revoked: string; elsewhere: string }
  slugs: string[]
  releases: string[]
  dates: string[]
}

const API = '/api/v1'
const OTHER_METHODS = ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'LINK']
const NEARLY = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e2',
    '0x1',
    '1_000',
    '٣',
    '2147483648',
    '9007199254740993',
    '9'.repeat(400),
  ],
  ...[
    '0000-01-01',
    '2025-02-30',
    '2025-2-3',
    '9999-12-31',
    '+2025-01-01',
    '2025-01-01T00:00:00Z',
    '２０２５-01-01',
    'NaN',
  ],
  ...[
    '20250101T000000Z',
    'JSON',
    'json ',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '%',
    '%zz',
    '%c3%28',
    '%00',
    '%2e%2e',
    '%2F',
  ],
  ...[
    "' OR 1=1 --",
    '"; DROP TABLE presets',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'a'.repeat(128),
    'a'.repeat(129),
  ],
  ...[
    'é',
    '😀',
    '\ud800',
    '\u0000',
    '\r\nx-injected: 1',
    '{slug}',
    'versions',
    'messages',
    '.',
    '..',
    '~',
    'a'.repeat(9000),
  ],
]
const ODD_HEADERS: [string, string][] = [
  ...['*/*', '', ',,,;', 'text/csv;q=2', `${'a/b,'.repeat(800)}`, 'application/json;q=0', 'text/csv'].map(
    named('accept'),
  ),
  ...['gzip;q=0, *', 'br', 'identity;q=0', 'zstd, gzip', `${'x,'.repeat(2000)}`].map(named('accept-encoding')),
  ...['bytes=0-', 'bytes=-0', 'bytes=9-1', 'bytes=99999999999999999999-', 'lines=1', 'bytes=0-1,3-4'].map(
    named('range'),
  ),
  ...['*', '"x"', 'W/"', '"'.repeat(3000), `${'"a",'.repeat(1000)}`].map(named('if-none-match')),
  ...['*', '"x"'].map(named('if-match')),
  ...['yesterday', 'Thu, 01 Jan 1970 00:00:00 GMT', '-1', '9'.repeat(100)].map(named('if-modified-since')),
  ...['https://example.org', 'null'].map(named('origin')),
  ...['127.0.0.1', 'x'.repeat(1000), '::ffff:1.2.3.4, 1'].map(named('x-forwarded-for')),
  ...['x'.repeat(257), '\u00e9', ''].map(named('x-session-id')),
  // With `close`, because Node drops what stands behind such a request in one packet.
  ['upgrade', 'h2c\r\nconnection: upgrade, close'],
  ['expect', '100-continue'],
  ['te', 'trailers'],
  ['x-http-method-override', 'DELETE'],
  ['cookie', 'a=b'.repeat(500)],
]
const BROKEN_BODIES = [
  ...[
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '1',
    'NaN',
    "{'a':1}",
    '\ufeff{}',
    '{}{}',
    '{"model":"a"',
    '{"model":"a","messages":[],}',
  ],
  ...[
    '{"model":1e999,"messages":[]}',
    '{"model":"a","model":2,"messages":[]}',
    '{"__proto__":{"model":"a","messages":[]}}',
  ],
].map((text) => Buffer.from(text))
const OTHER_TYPES = [
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '///',
    '',
  ],
  ...['application/json5', 'text/json', 'application/*', 'x'.repeat(2000), 'application/json, text/plain'],
]

function named(name: string): (value: string) => [string, string] {
  return (value) => [name, value]
}

/** Makes probes from `random`: an endless supply. */
export function* probes(document: OpenApi, known: Known, random: Random): Generator<Probe> {
  const below = (limit: number) => Math.floor(random() * limit)
  const chance = (share: number) => random() < share
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

  /** A value that the parameter takes; for a name, of something that is there. */
  function fitting(name: string, { enum: values, format, minimum = 0, maximum = 1000 }: ParameterSchema): string {
    if (name === 'slug') return pick(known.slugs)
    if (name === 'version') return '1'
    if (name === 'as_of') return pick(known.releases)
    if (values !== undefined) return pick(values)
    if (format === 'date') return pick(known.dates)
    if (name === 'x-session-id') return 'session'
    return String(minimum + below(maximum - minimum))
  }

  /** Text as a client may put it in a URL: encoded, or not where that leaves a request line that can be read. */
  function inUrl(value: string): string {
    return chance(0.3) && /^[\x21-\x7e]*$/.test(value) ? value : encodeURIComponent(value.toWellFormed())
  }

  function keyOf(): { kind: keyof typeof statusOfKey; authorization: string[] } {
    const kind = pick([
      'management',
      'management',
      'management',
      'management',
      'plain',
      'elsewhere',
      'bad',
      'bad',
    ] as const)
    if (kind === 'bad') {
      const bad = [
        [],
        [''],
        ['Bearer'],
        [`Bearer ${known.keys.revoked}`],
        [`Basic ${known.keys.plain}`],
        ['Bearer x y'],
      ]
      return {
        kind,
        authorization: pick([...bad, [`Bearer ${'x'.repeat(4000)}`], [`Bearer sk-tb-v1-${'0'.repeat(64)}`]]),
      }
    }
    const scheme = pick(['Bearer', 'bearer', 'BEARER '])
    return { kind, authorization: [`${scheme} ${known.keys[kind]}`] }
  }
  const statusOfKey = { management: undefined, plain: 403, elsewhere: undefined, bad: 401 }

  function bodyOf(): { what: string; type: string | undefined; body: Buffer; statuses: number[]; coding?: string } {
    const json = (value: unknown) => Buffer.from(JSON.stringify(value))
    const sample = (arbitrary: fc.Arbitrary<object>) =>
      json(fc.sample(arbitrary, { numRuns: 1, seed: below(2 ** 31) })[0])
    const type = pick(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
    const kind = random()
    if (kind < 0.35) return { what: 'a good body', type, body: sample(validMessageRequest), statuses: [200] }
    if (kind < 0.7) return { what: 'a spoilt body', type, body: sample(mutatedMessageRequest), statuses: [200, 400] }
    if (kind < 0.8) return { what: 'a broken body', type, body: pick(BROKEN_BODIES), statuses: [400] }
    if (kind < 0.83) {
      const bytes = Buffer.from(Array.from({ length: below(200) }, () => below(256)))
      return { what: 'random bytes', type, body: bytes, statuses: [400] }
    }
    if (kind < 0.86) {
      const deep = JSON.stringify(nested(200 + below(1500))).replace(/^/, '{"model":"m","messages":[],"provider":{"x":')
      return { what: 'a deep body', type, body: Buffer.from(`${deep}}}`), statuses: [200, 400] }
    }
    if (kind < 0.87) {
      const body = Buffer.alloc(4 * 2 ** 20 + 1 + below(2 ** 20), ' ')
      return { what: 'too large a body', type: pick([type, 'text/plain']), body, statuses: [413] }
    }
    const good = sample(validMessageRequest)
    if (kind < 0.93)
      return { what: 'a good body of another type', type: pick(OTHER_TYPES), body: good, statuses: [415] }
    if (kind < 0.96) return { what: 'a good body of no type', type: undefined, body: good, statuses: [415] }
    return {
      what: 'a compressed body',
      type,
      body: gzipSync(good),
      statuses: [415],
      coding: pick(['gzip', 'br', 'GZIP']),
    }
  }

  function documented({ responses }: Operation): number[] {
    return Object.keys(responses)
      .map(Number)
      .filter((status) => status < 500)
  }

  function probe(): Probe {
    const { path, method: ownMethod, operation } = pick(operations)
    const headers: [string, string][] = [['host', 'localhost']]
    const key = keyOf()
    for (const value of key.authorization) headers.push(['authorization', value])
    let statuses: number[] | undefined
    let method = ownMethod === 'GET' && chance(0.1) ? 'HEAD' : ownMethod

    // Parameters: all of them fit, or one or more may not.
    const isWild = chance(0.6)
    const value = (name: string, schema: ParameterSchema) =>
      isWild && chance(0.5) ? pick(NEARLY) : fitting(name, schema)
    let target = API + path
    const query: string[] = []
    for (const { name, in: place, schema } of operation.parameters ?? []) {
      if (place === 'path') target = target.replace(`{${name}}`, () => inUrl(value(name, schema)))
      else if (place === 'header') chance(0.2) && headers.push([name, fitting(name, schema)])
      else if (chance(0.5)) query.push(`${name}=${inUrl(value(name, schema))}`)
    }
    if (isWild && chance(0.1) && query[0] !== undefined) query.push(query[0])
    if (chance(0.1)) query.push(pick(['x=1', '=', '&&', 'toString=1', '__proto__[limit]=1', `x=${'y'.repeat(6000)}`]))
    if (query.length > 0) target += `?${query.join('&')}`

    // The method and the path itself.
    const turn = random()
    let isKnown = true
    if (turn < 0.06) {
      method = pick([...OTHER_METHODS, ownMethod === 'GET' ? 'POST' : 'GET', 'OPTIONS'])
      statuses = isWild ? undefined : [method === 'OPTIONS' ? 204 : 405]
      isKnown = false
    } else if (turn < 0.1) {
      target = pick([
        `${API}/${pick(['x', 'Key', 'keys', 'presets/a/b/c/d', 'key/x'])}`,
        '/api/v2/key',
        `/api${path}`,
        '/api/v1',
      ])
      statuses = [404]
      isKnown = false
    }

    let body: Buffer = Buffer.alloc(0)
    let what = `${method} ${target.slice(0, 200)} as ${key.kind}`
    if (isKnown && operation.requestBody !== undefined) {
      const made = bodyOf()
      body = made.body
      what += ` with ${made.what}`
      if (made.type !== undefined) headers.push(['content-type', made.type])
      if (made.coding !== undefined) headers.push(['content-encoding', made.coding])
      if (!isWild) statuses = made.statuses
      if (statusOfKey[key.kind] === 403) statuses = [403]
    }
    if (isKnown && !isWild && operation.operationId !== 'getRankingsDaily') statuses ??= [200]
    if (isKnown && key.kind === 'elsewhere' && !isWild && path.includes('{slug}') && ownMethod === 'GET')
      statuses = [404]
    if (isKnown && key.kind === 'elsewhere' && ownMethod === 'POST') statuses = [403]
    if (isKnown && key.kind === 'bad') statuses = [401]
    const certain = statuses ?? documented(operation)
    // A path with a wild value may be another path, or none.
    const allowed = isWild ? [...certain, 404, 405, 204] : [...certain]

    const extra = chance(0.3) ? Array.from({ length: 1 + below(3) }, () => pick(ODD_HEADERS)) : []
    // What is said of a body, or of none, decides; the rest changes nothing but the form of the answer.
    if (extra.some(([name]) => name === 'x-session-id') && ownMethod === 'POST') allowed.push(400)
    if (extra.some(([name]) => name === 'if-none-match') && allowed.includes(200)) allowed.push(304)
    headers.push(...extra)
    const isHuge = chance(0.02)
    if (isHuge) headers.push(['x-huge', 'x'.repeat(17_000)])
    const length = headers.reduce((sum, [name, text]) => sum + name.length + text.length + 4, target.length + 40)
    if (length > 15_000) allowed.push(431)
    return {
      what,
      bytes: serialise(method, target, headers, body, chance(0.2)),
      isHead: method === 'HEAD',
      isLast: extra.some(([name]) => name === 'upgrade'),
      operation: isKnown && !isWild ? operation : undefined,
      statuses: isHuge ? [431] : allowed,
    }
  }

  for (;;) yield probe()
}

/** Followed by a request to close the connection behind, which is answered only where the first one was read to its end. */
function serialise(
  method: string,
  target: string,
  headers: [string, string][],
  body: Buffer,
  isChunked: boolean,
): Buffer {
  const framing: [string, string][] =
    body.length === 0 ? [] : isChunked ? [['transfer-encoding', 'chunked']] : [['content-length', String(body.length)]]
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const payload = isChunked && body.length > 0 ? [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'] : [body]
  const parts = [`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, ...payload, FOLLOWER]
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
}

export const FOLLOWER = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
