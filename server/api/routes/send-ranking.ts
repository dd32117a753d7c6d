import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../../published/conditional.ts'
import type { RankingsAnswer } from '../../published/rankings-answers.ts'
import { exposed, type Head, headOf, linesOf } from '../common-headers.ts'
import { sendFromMemory, sendUnchanged } from '../send.ts'

/** Headers of some answers. */
const EXPOSED = ['X-Dataset-Disclosure', 'X-Total-Count', 'X-Provisional-From']

/** Sends an answer of an operation on the ranking, or 304. */
export function sendRanking(request: FastifyRequest, reply: FastifyReply, answer: RankingsAnswer): void {
  const { common, own } = remembered(headsOfReleases, answer.headers, rankingHead)
  const tag = ['etag', answer.etag]
  const tagged = answer.tagIs === 'first' ? [...tag, ...own] : [...own, ...tag]
  // No If-Modified-Since: the default window moves every day, even if the release stays.
  if (matchesEtag(request.headers['if-none-match'], answer.etag)) {
    sendUnchanged(reply, { common, own: tagged })
    return
  }
  tagged.push(...remembered(contentLines, answer.contentHeaders, linesOf))
  sendFromMemory(reply, 200, { common, own: tagged }, answer.body())
}

type Headers = RankingsAnswer['headers']

const headsOfReleases = new WeakMap<Headers, Head>()
const contentLines = new WeakMap<Headers, string[]>()

function rankingHead(headers: Headers): Head {
  const expose = exposed(EXPOSED.filter((name) => name.toLowerCase() in headers))
  return headOf({ 'access-control-expose-headers': expose, ...headers })
}

function remembered<T>(known: WeakMap<Headers, T>, headers: Headers, make: (headers: Headers) => T): T {
  const value = known.get(headers) ?? make(headers)
  known.set(headers, value)
  return value
}
