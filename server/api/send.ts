import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../published/conditional.ts'
import type { Answer } from '../published/dataset.ts'
import { CONTENT_TYPE_OF } from '../published/negotiation.ts'
import { type Head, headOf } from './common-headers.ts'

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
