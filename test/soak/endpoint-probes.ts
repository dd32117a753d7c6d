import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { mutatedMessageRequest, nested, validMessageRequest } from '../support/message-request.ts'
import type { Dice } from './dice.ts'
import { BROKEN_BODIES, NEARLY, ODD_HEADERS, OTHER_METHODS, OTHER_TYPES } from './endpoint-values.ts'

/*
 * Requests made from the live /openapi.json: all paths, methods and parameters, with values that fit, nearly fit or
 * never would, under good and bad keys. Each says which statuses it may be answered with.
 */

/** A request as bytes, and what is known of its answer. */
export interface Probe {
  what: string
  bytes: Buffer
  isHead: boolean
  /** Whether it asks to close the connection, so that nothing behind it is answered. */
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
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: ParameterSchema }[]
  requestBody?: object
  responses: Record<string, Answer | { $ref: string }>
}

interface Answer {
  content?: Record<string, { schema?: object }>
}

interface ParameterSchema {
  format?: string
  enum?: string[]
  /** Of a list. */
  items?: ParameterSchema
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

type Header = [name: string, value: string]

/** An operation, where it is, and how it is to be asked. */
interface Plan {
  path: string
  method: string
  operation: Operation
  /** Whether parameters may have values that do not fit. */
  isWild: boolean
}

/** What is asked, and how it may be answered. */
interface Asked {
  method: string
  target: string
  headers?: Header[]
  body?: ProbeBody | undefined
  operation?: Operation | undefined
  statuses: number[]
}

const API = '/api/v1'
const KEY_KINDS = ['management', 'management', 'management', 'management', 'plain', 'elsewhere', 'bad', 'bad'] as const
type KeyKind = (typeof KEY_KINDS)[number]
/** What belongs to no known parameter. */
const ODD_QUERIES = ['x=1', '=', '&&', 'toString=1', '__proto__[limit]=1', `x=${'y'.repeat(6000)}`]
/** From some bytes below the limit on, because what is sent beside the headers counts too. */
const NEARLY_TOO_LONG_A_HEAD = 15_000
/** Follows each probe, and is answered only where the probe was read to its end. */
const FOLLOWER = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'

/** Makes probes: an endless supply. */
export function* probes(document: OpenApi, known: Known, dice: Dice): Generator<Probe> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  for (;;) {
    const plan = { ...dice.pick(operations), isWild: dice.chance(0.6) }
    const key = dice.pick(KEY_KINDS)
    const headers: Header[] = [['host', 'localhost'], ...credentials(dice, key, known.keys), ...oddHeaders(dice)]
    const asked = dice.chance(0.1) ? besideIt(dice, plan, known) : toIt(dice, plan, known, key, headers)
    yield finish(dice, key, { ...asked, headers: [...headers, ...(asked.body?.headers ?? [])] })
  }
}

/** A request to the operation of the plan. */
function toIt(dice: Dice, plan: Plan, known: Known, key: KeyKind, headers: readonly Header[]): Asked {
  const { method, operation, isWild } = plan
  const body = operation.requestBody === undefined ? undefined : bodyFrom(dice)
  const statuses = expected(plan, key, body)
  const has = (wanted: string) => headers.some(([name]) => name === wanted)
  // The session is validated; all other odd headers change only the form of the answer.
  if (method === 'POST' && has('x-session-id')) statuses.push(400)
  if (statuses.includes(200) && has('if-none-match')) statuses.push(304)
  const target = targetOf(dice, plan, known)
  const sent = method === 'GET' && dice.chance(0.1) ? 'HEAD' : method
  // With a wild value in it a path may be another one, or none.
  if (isWild) return { method: sent, target, body, statuses: [...statuses, 404, 405, 204] }
  return { method: sent, target, body, operation, statuses }
}

/** The statuses by which the operation may answer, in the order in which a request is judged. */
function expected({ path, method, operation, isWild }: Plan, key: KeyKind, body: ProbeBody | undefined): number[] {
  if (key === 'bad') return [401]
  if (method === 'POST' && key !== 'management') return [403]
  // No documented status above 499 is one that a client can bring about.
  const documented = Object.keys(operation.responses).map(Number)
  // Most slugs name a preset that is there, and no model of the catalogue.
  const isOpen = path.startsWith('/datasets') || path.startsWith('/models/')
  if (isWild || isOpen) return documented.filter((status) => status < 500)
  if (path.includes('{slug}') && key === 'elsewhere') return [404]
  const { statuses } = body ?? { statuses: [200] }
  // Bodies are made for the message-style request. Requests of other shapes may be valid or not.
  const isOfOtherShape = method === 'POST' && !path.endsWith('/messages')
  return isOfOtherShape && statuses.some((status) => status === 200 || status === 400) ? [200, 400] : [...statuses]
}

/** Another method of the path, or a path next to it. */
function besideIt(dice: Dice, plan: Plan, known: Known): Asked {
  if (dice.chance(0.6)) {
    const method = dice.pick([...OTHER_METHODS, plan.method === 'GET' ? 'POST' : 'GET', 'OPTIONS'])
    const target = targetOf(dice, { ...plan, isWild: false }, known)
    return { method, target, statuses: [method === 'OPTIONS' ? 204 : 405] }
  }
  const below = ['/x', '/Key', '/presets/a/b/c/d', '/key/x', ''].map((path) => API + path)
  return { method: plan.method, target: dice.pick([...below, '/api/v2/key', `/api${plan.path}`]), statuses: [404] }
}

function targetOf(dice: Dice, { path, operation, isWild }: Plan, known: Known): string {
  let target = API + path
  const query: string[] = []
  for (const { name, in: place, required, schema } of operation.parameters ?? []) {
    const value = isWild && dice.chance(0.5) ? dice.pick(NEARLY) : fitting(dice, name, schema, known)
    if (place === 'path') target = target.replace(`{${name}}`, () => inUrl(dice, value))
    else if (place === 'query' && (required || dice.chance(0.5))) query.push(`${name}=${inUrl(dice, value)}`)
  }
  const [first] = query
  if (isWild && first !== undefined && dice.chance(0.1)) query.push(first)
  if (dice.chance(0.1)) query.push(dice.pick(ODD_QUERIES))
  return query.length === 0 ? target : `${target}?${query.join('&')}`
}

/** A value that the parameter takes; for a name, one of something that is there. */
function fitting(dice: Dice, name: string, schema: ParameterSchema, known: Known): string {
  const { enum: values = schema.items?.enum, format, minimum = 0, maximum = 1000 } = schema
  const { slugs, releases } = known
  const named: Record<string, string[]> = {
    ...{ slug: slugs, version: ['1'], as_of: releases, from: releases, to: releases },
    ...{ model: ['other', 'author/model'], author: ['Acme'] },
  }
  const choices = named[name] ?? values ?? (format === 'date' ? known.dates : undefined)
  return choices === undefined ? String(minimum + dice.below(maximum - minimum)) : dice.pick(choices)
}

/** Text as a client may put it in a URL: encoded, or not where the request line remains readable. */
function inUrl(dice: Dice, value: string): string {
  return dice.chance(0.3) && /^[\x21-\x7e]*$/.test(value) ? value : encodeURIComponent(value.toWellFormed())
}

function credentials(dice: Dice, kind: KeyKind, keys: Known['keys']): Header[] {
  if (kind !== 'bad') return [['authorization', `${dice.pick(['Bearer', 'bearer', 'BEARER '])} ${keys[kind]}`]]
  const unknown = [`Bearer sk-tb-v1-${'0'.repeat(64)}`, `Bearer ${'x'.repeat(4000)}`, `Bearer ${keys.revoked}`]
  const value = dice.pick([undefined, '', 'Bearer', 'Bearer x y', `Basic ${keys.plain}`, ...unknown])
  return value === undefined ? [] : [['authorization', value]]
}

function oddHeaders(dice: Dice): Header[] {
  const odd = dice.chance(0.3) ? Array.from({ length: 1 + dice.below(3) }, () => dice.pick(ODD_HEADERS)) : []
  return dice.chance(0.02) ? [...odd, ['x-huge', 'x'.repeat(17_000)]] : odd
}

function finish(dice: Dice, key: KeyKind, asked: Asked): Probe {
  const { method, target, headers = [], body, operation, statuses } = asked
  const bytesOfHead = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, target.length + 40)
  const isTooLong = headers.some(([name]) => name === 'x-huge')
  return {
    what: `${method} ${target.slice(0, 200)} as ${key} with ${body?.what ?? 'no body'}`,
    bytes: serialize(method, target, headers, body?.bytes ?? Buffer.alloc(0), dice.chance(0.2)),
    isHead: method === 'HEAD',
    isLast: headers.some(([name]) => name === 'upgrade'),
    operation,
    statuses: isTooLong ? [431] : bytesOfHead > NEARLY_TOO_LONG_A_HEAD ? [...statuses, 431] : statuses,
  }
}

function serialize(method: string, target: string, headers: Header[], body: Buffer, isChunked: boolean): Buffer {
  const framing: Header = isChunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]
  const fields = body.length === 0 ? headers : [...headers, framing]
  const head = `${method} ${target} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  const chunks = [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n']
  const parts = [head, ...(isChunked && body.length > 0 ? chunks : [body]), FOLLOWER]
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
}

/* Bodies, good and bad. */

/** A body with the headers that describe it, and how it may be answered where all else is right. */
interface ProbeBody {
  what: string
  headers: [string, string][]
  bytes: Buffer
  statuses: number[]
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'Application/JSON']
const MOST_BYTES = 4 * 2 ** 20

/** Kinds of bodies, each with its share in percent. */
const KINDS: [share: number, make: (dice: Dice) => ProbeBody][] = [
  [35, (dice) => json(dice, 'a good body', valid(dice), [200])],
  [35, (dice) => json(dice, 'a partly wrong body', sample(dice, mutatedMessageRequest), [200, 400])],
  [10, (dice) => json(dice, 'a broken body', dice.pick(BROKEN_BODIES), [400])],
  [3, (dice) => json(dice, 'random bytes', randomBytes(dice), [400])],
  [3, (dice) => json(dice, 'a deep body', deepBody(dice), [200, 400])],
  [1, (dice) => json(dice, 'too large a body', Buffer.alloc(MOST_BYTES + 1 + dice.below(MOST_BYTES), ' '), [413])],
  [6, (dice) => unsupported(valid(dice), [['content-type', dice.pick(OTHER_TYPES)]])],
  [3, (dice) => unsupported(valid(dice), [])],
  [
    4,
    (dice) =>
      unsupported(gzipSync(valid(dice)), [
        ['content-type', dice.pick(JSON_TYPES)],
        ['content-encoding', dice.pick(['gzip', 'br', 'GZIP'])],
      ]),
  ],
]
const KIND_OF_POINT = KINDS.flatMap(([share, make]) => Array(share).fill(make) as (typeof make)[])

function bodyFrom(dice: Dice): ProbeBody {
  return dice.pick(KIND_OF_POINT)(dice)
}

function json(dice: Dice, what: string, bytes: Buffer, statuses: number[]): ProbeBody {
  return { what, headers: [['content-type', dice.pick(JSON_TYPES)]], bytes, statuses }
}

function unsupported(bytes: Buffer, headers: ProbeBody['headers']): ProbeBody {
  return { what: `a body with ${JSON.stringify(headers)}`, headers, bytes, statuses: [415] }
}

function valid(dice: Dice): Buffer {
  return sample(dice, validMessageRequest)
}

function sample(dice: Dice, arbitrary: fc.Arbitrary<object>): Buffer {
  return Buffer.from(JSON.stringify(fc.sample(arbitrary, { numRuns: 1, seed: dice.below(2 ** 31) })[0]))
}

function randomBytes(dice: Dice): Buffer {
  return Buffer.from(Array.from({ length: dice.below(200) }, () => dice.below(256)))
}

function deepBody(dice: Dice): Buffer {
  return Buffer.from(JSON.stringify({ model: 'm', messages: [], provider: { x: nested(200 + dice.below(1500)) } }))
}
