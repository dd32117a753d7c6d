import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../../published/conditional.ts'
import type { RankingsAnswer } from '../../published/rankings-answers.ts'
import { sendFromMemory } from '../../published/send.ts'
import { exposeToo } from '../cors.ts'

/** Headers of some answers. */
const EXPOSED = ['X-Dataset-Disclosure', 'X-Total-Count', 'X-Provisional-From']

/** Sends an answer of an operation on the ranking, or 304. */
export function sendRanking(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, headers, contentHeaders, body }: RankingsAnswer,
): void {
  exposeToo(
    reply,
    EXPOSED.filter((name) => name.toLowerCase() in headers),
  )
  reply.headers(headers)
  // No If-Modified-Since: the default window moves every day, even if the release stays.
  if (matchesEtag(request.headers['if-none-match'], etag)) reply.code(304).send()
  else sendFromMemory(reply.headers(contentHeaders), body())
}
