import type { Dice } from './dice.ts'
import { bodyFrom, type ProbeBody } from './endpoint-bodies.ts'
import { NEARLY, ODD_HEADERS, OTHER_METHODS } from './endpoint-values.ts'

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

type Header = [name: string, value: string]

/** An operation, where it is, and how it is to be asked. */
interface Plan {
  path: string
  method: string
  operation: Operation
  /** Whether parameters may have values that do not fit. */
  isWild: boolean
}

const API = '/api/v1'
const KEY_KINDS = ['management', 'management', 'management', 'management', 'plain', 'elsewhere', 'bad', 'bad'] as const
type KeyKind = (typeof KEY_KINDS)[number]
/** What belongs to no parameter that is known. */
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
    const aside = dice.chance(0.1) ? besideIt(dice, plan, known) : undefined
    yield aside === undefined ? toIt(dice, plan, known, key, headers) : finish(dice, { ...aside, key, headers })
  }
}

/** A request to the operation of the plan. */
function toIt(dice: Dice, plan: Plan, known: Known, key: KeyKind, headers: Header[]): Probe {
  const { method, operation, isWild } = plan
  const body = operation.requestBody === undefined ? undefined : bodyFrom(dice)
  const certain = expected(plan, key, body)
  // What is said of the session is judged; all other odd headers change nothing but the form of the answer.
  if (method === 'POST' && headers.some(([name]) => name === 'x-session-id')) certain.push(400)
  if (certain.includes(200) && headers.some(([name]) => name === 'if-none-match')) certain.push(304)
  return finish(dice, {
    method: method === 'GET' && dice.chance(0.1) ? 'HEAD' : method,
    target: targetOf(dice, plan, known),
    key,
    headers: [...headers, ...(body?.headers ?? [])],
    body,
    operation: isWild ? undefined : operation,
    // With a wild value in it a path may be another one, or none.
    statuses: isWild ? [...certain, 404, 405, 204] : certain,
  })
}

/** The statuses by which the operation may answer, in the order in which a request is judged. */
function expected({ path, method, operation, isWild }: Plan, key: KeyKind, body: ProbeBody | undefined): number[] {
  if (key === 'bad') return [401]
  if (method === 'POST' && key !== 'management') return [403]
  if (isWild || operation.operationId === 'getRankingsDaily') return documented(operation)
  if (path.includes('{slug}') && key === 'elsewhere') return [404]
  return [...(body?.statuses ?? [200])]
}

/** No status of the document above 499 is one that a client can bring about. */
function documented({ responses }: Operation): number[] {
  return Object.keys(responses)
    .map(Number)
    .filter((status) => status < 500)
}

/** Another method of the path, or a path next to it. */
function besideIt(dice: Dice, plan: Plan, known: Known) {
  if (dice.chance(0.6)) {
    const method = dice.pick([...OTHER_METHODS, plan.method === 'GET' ? 'POST' : 'GET', 'OPTIONS'])
    const certain = method === 'OPTIONS' ? 204 : 405
    return { method, target: targetOf(dice, { ...plan, isWild: false }, known), statuses: [certain] }
  }
  const next = [
    `${API}/x`,
    `${API}/Key`,
    `${API}/presets/a/b/c/d`,
    `${API}/key/x`,
    '/api/v2/key',
    `/api${plan.path}`,
    API,
  ]
  return { method: plan.method, target: dice.pick(next), statuses: [404] }
}

function targetOf(dice: Dice, { path, operation, isWild }: Plan, known: Known): string {
  let target = API + path
  const query: string[] = []
  for (const { name, in: place, schema } of operation.parameters ?? []) {
    const value = isWild && dice.chance(0.5) ? dice.pick(NEARLY) : fitting(dice, name, schema, known)
    if (place === 'path') target = target.replace(`{${name}}`, () => inUrl(dice, value))
    else if (place === 'query' && dice.chance(0.5)) query.push(`${name}=${inUrl(dice, value)}`)
  }
  const [first] = query
  if (isWild && first !== undefined && dice.chance(0.1)) query.push(first)
  if (dice.chance(0.1)) query.push(dice.pick(ODD_QUERIES))
  return query.length === 0 ? target : `${target}?${query.join('&')}`
}

/** A value that the parameter takes; for a name, of something that is there. */
function fitting(dice: Dice, name: string, schema: ParameterSchema, known: Known): string {
  const { enum: values, format, minimum = 0, maximum = 1000 } = schema
  if (name === 'slug') return dice.pick(known.slugs)
  if (name === 'version') return '1'
  if (name === 'as_of') return dice.pick(known.releases)
  if (values !== undefined) return dice.pick(values)
  if (format === 'date') return dice.pick(known.dates)
  return String(minimum + dice.below(maximum - minimum))
}

/** Text as a client may put it in a URL: encoded, or not where that leaves a request line that can be read. */
function inUrl(dice: Dice, value: string): string {
  return dice.chance(0.3) && /^[\x21-\x7e]*$/.test(value) ? value : encodeURIComponent(value.toWellFormed())
}

function credentials(dice: Dice, kind: KeyKind, keys: Known['keys']): Header[] {
  if (kind !== 'bad') return [['authorization', `${dice.pick(['Bearer', 'bearer', 'BEARER '])} ${keys[kind]}`]]
  const unknown = [`Bearer sk-tb-v1-${'0'.repeat(64)}`, `Bearer ${'x'.repeat(4000)}`, `Bearer ${keys.revoked}`]
  const values = [undefined, '', 'Bearer', 'Bearer x y', `Basic ${keys.plain}`, ...unknown]
  const value = dice.pick(values)
  return value === undefined ? [] : [['authorization', value]]
}

function oddHeaders(dice: Dice): Header[] {
  const odd = dice.chance(0.3) ? Array.from({ length: 1 + dice.below(3) }, () => dice.pick(ODD_HEADERS)) : []
  return dice.chance(0.02) ? [...odd, ['x-huge', 'x'.repeat(17_000)]] : odd
}

interface Unfinished {
  method: string
  target: string
  key: KeyKind
  headers: Header[]
  body?: ProbeBody | undefined
  operation?: Operation | undefined
  statuses: number[]
}

function finish(dice: Dice, { method, target, key, headers, body, operation, statuses }: Unfinished): Probe {
  const bytesOfHead = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, target.length + 40)
  const isTooLong = headers.some(([name]) => name === 'x-huge')
  return {
    what: `${method} ${target.slice(0, 200)} as ${key} with ${body?.what ?? 'no body'}`,
    bytes: serialise(method, target, headers, body?.bytes ?? Buffer.alloc(0), dice.chance(0.2)),
    isHead: method === 'HEAD',
    isLast: headers.some(([name]) => name === 'upgrade'),
    operation,
    statuses: isTooLong ? [431] : bytesOfHead > NEARLY_TOO_LONG_A_HEAD ? [...statuses, 431] : statuses,
  }
}

function serialise(method: string, target: string, headers: Header[], body: Buffer, isChunked: boolean): Buffer {
  const framing: Header[] =
    body.length === 0 ? [] : isChunked ? [['transfer-encoding', 'chunked']] : [['content-length', String(body.length)]]
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const payload = isChunked && body.length > 0 ? [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'] : [body]
  const parts = [`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, ...payload, FOLLOWER]
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
}
