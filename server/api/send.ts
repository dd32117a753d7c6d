import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../published/conditional.ts'
import type { Answer } from '../published/dataset.ts'
import { CONTENT_TYPE_OF } from '../published/negotiation.ts'
import type { RankingsAnswer } from '../published/rankings-answers.ts'

const EXPOSED_HEADERS =
  'Accept-Ranges, Allow, Content-Encoding, Content-Length, Content-Location, Content-Range, ETag, Last-Modified, Link, ' +
  'RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, ' +
  'X-Attribution, X-Content-Hash, X-Dataset-End-Date, X-Request-Id'

/**
 * Headers of every response, after its id and before its own. Pages of any origin may read responses: the API
 * has no cookies. Responses to a key are private to its workspace, so by default nothing is cached.
 */
const COMMON = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}

/** Headers of a response without its id, made once for many: names and values in turn, as `writeHead` takes them. */
export interface Head {
  common: readonly string[]
  own: readonly string[]
}

/** The head with these headers, in their order. They may replace common ones. */
export function headOf(headers: Readonly<Record<string, string>>): Head {
  const lines = linesOf({ ...COMMON, ...headers })
  const end = 2 * Object.keys(COMMON).length
  return { common: lines.slice(0, end), own: lines.slice(end) }
}

export function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat()
}

/** The value of `access-control-expose-headers` with which pages may read these headers, too. */
export function exposed(names: readonly string[]): string {
  return [EXPOSED_HEADERS, ...names].join(', ')
}

/** Sets the common headers of a response that Fastify sends. Its own come after them or replace them. */
export function setCommonHeaders({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader('x-request-id', id)
  for (const [name, value] of Object.entries(COMMON)) raw.setHeader(name, value)
}

const LONGEST_IN_HEAD = 100

/** Sends a prepared answer, corked into one system call; Fastify would copy or stream its pieces. */
export function sendFromMemory(reply: FastifyReply, status: number, head: Head, { pieces, bytes }: Answer): void {
  const raw = begin(reply, status, head, bytes)
  if (reply.request.method === 'HEAD' || pieces.length === 0) {
    raw.end()
    return
  }
  // End after the last write: an ended answer counts as done, and a stop would cut unsent bytes.
  const end = () => raw.end()
  const last = pieces.length - 1
  raw.cork()
  for (const [index, piece] of pieces.entries()) {
    // As text a short piece joins the head, which is text: each write costs as much as finding the answer.
    const chunk = index === 0 && piece.length <= LONGEST_IN_HEAD ? piece.toString('latin1') : piece
    raw.write(chunk, 'latin1', index === last ? end : undefined)
  }
  raw.uncork()
}

const JSON_HEAD = headOf({ 'content-type': CONTENT_TYPE_OF.json })

/** Sends JSON of the store, from memory or when it was read. Without a promise where it can: one costs as much. */
export function sendStored(reply: FastifyReply, json: Buffer | Promise<Buffer>): undefined | Promise<FastifyReply> {
  if (json instanceof Promise) return json.then((bytes) => sendJson(reply, bytes)).then(() => reply)
  sendJson(reply, json)
  return undefined
}

function sendJson(reply: FastifyReply, json: Buffer): void {
  const raw = begin(reply, 200, JSON_HEAD, json.length)
  if (reply.request.method === 'HEAD') raw.end()
  else raw.end(json)
}

/** Sends JSON for callers with a key, or 304. Caches may keep it and have to ask each time. */
export function sendTaggedJson(request: FastifyRequest, reply: FastifyReply, etag: string, json: string): FastifyReply {
  reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization' })
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.header('content-type', CONTENT_TYPE_OF.json).send(json)
}

/** Sends a 304. */
export function sendUnchanged(reply: FastifyReply, head: Head): void {
  begin(reply, 304, head).end()
}

/**
 * Takes the reply over from Fastify and writes its head: the id, common headers, those that hooks have set on the reply
 * (rate limits) and its own. Only onSend hooks are passed by, which set nothing but common headers.
 */
function begin(reply: FastifyReply, status: number, { common, own }: Head, bytes?: number): FastifyReply['raw'] {
  const { raw, request } = reply
  const lines = ['x-request-id', request.id, ...common]
  for (const [name, value] of Object.entries(reply.getHeaders())) lines.push(name, String(value))
  lines.push(...own)
  if (bytes !== undefined) lines.push('content-length', String(bytes))
  reply.hijack()
  raw.writeHead(status, lines)
  return raw
}

/** Headers of some answers. */
const EXPOSED = ['X-Dataset-Disclosure', 'X-Total-Count', 'X-Provisional-From']

/** Sends an answer of an operation on the ranking, or 304. */
export function sendRanking(request: FastifyRequest, reply: FastifyReply, answer: RankingsAnswer): void {
  const { common, own } = once(headsOfReleases, answer.headers, rankingHead)
  const tag = ['etag', answer.etag]
  const tagged = answer.tagIs === 'first' ? [...tag, ...own] : [...own, ...tag]
  // No If-Modified-Since: the default window moves every day, even if the release stays.
  if (matchesEtag(request.headers['if-none-match'], answer.etag)) {
    sendUnchanged(reply, { common, own: tagged })
    return
  }
  tagged.push(...once(contentLines, answer.contentHeaders, linesOf))
  sendFromMemory(reply, 200, { common, own: tagged }, answer.body())
}

type AnswerHeaders = RankingsAnswer['headers']

const headsOfReleases = new WeakMap<AnswerHeaders, Head>()
const contentLines = new WeakMap<AnswerHeaders, string[]>()

function rankingHead(headers: AnswerHeaders): Head {
  const expose = exposed(EXPOSED.filter((name) => name.toLowerCase() in headers))
  return headOf({ 'access-control-expose-headers': expose, ...headers })
}

function once<T>(known: WeakMap<AnswerHeaders, T>, headers: AnswerHeaders, make: (headers: AnswerHeaders) => T): T {
  const value = known.get(headers) ?? make(headers)
  known.set(headers, value)
  return value
}
