import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../published/conditional.ts'
import { preferredCoding } from '../published/negotiation.ts'

/** A text that the server makes itself and sends to anyone, with its compressed forms. */
export interface MadeText {
  plain: Buffer
  forms: Record<'br' | 'gzip', Buffer>
  /** Without quotes; each form has a tag of its own. */
  tag: string
}

const compressed = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The best level takes a second for the largest text, this one a tenth of it and 5 % more bytes. */
const BROTLI_LEVEL = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

export async function madeText(text: string): Promise<MadeText> {
  const plain = Buffer.from(text)
  const [br, gz] = await Promise.all([compressed.br(plain, BROTLI_LEVEL), compressed.gzip(plain)])
  return { plain, forms: { br, gzip: gz }, tag: createHash('sha256').update(plain).digest('base64url').slice(0, 22) }
}

/** Sends a text in the form that the client prefers, or 304. */
export function sendMadeText(
  request: FastifyRequest,
  reply: FastifyReply,
  contentType: string,
  { plain, forms, tag }: MadeText,
): FastifyReply {
  const { headers } = request
  const coding = preferredCoding(headers['accept-encoding'])
  const etag = coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`
  reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding' })
  if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
  if (coding !== undefined) reply.header('content-encoding', coding)
  return reply.type(contentType).send(coding === undefined ? plain : forms[coding])
}
