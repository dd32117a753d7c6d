import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { TABLE_OF } from '../../../pipeline/contract/tables.ts'
import { changesAnswers } from '../../published/changes-answers.ts'
import { matchesEtag } from '../../published/conditional.ts'
import { preferredFormat } from '../../published/formats.ts'
import { prefersGzip } from '../../published/negotiation.ts'
import type { FindRelease } from '../../published/requested-release.ts'
import { sendFromMemory } from '../../published/send.ts'
import { requiredParameter } from '../../schemas/combinators.ts'
import { ReleaseOrInstant } from '../../schemas/rankings.ts'
import { exposeToo } from '../cors.ts'
import type { ZodTypeProvider } from '../validation.ts'
import { RankingsDailyQuery } from './rankings-daily.ts'

/** Headers of some answers. */
const EXPOSED = ['X-Dataset-Disclosure', 'X-Provisional-From']

export const RankingChangesQuery = z.strictObject({
  from: requiredParameter(ReleaseOrInstant).meta({
    description: 'The release from which the changes lead: a name or an instant, as in `as_of` of the ranking.',
    examples: ['20261119T001200Z'],
  }),
  to: requiredParameter(ReleaseOrInstant).meta({
    description: 'The release to which they lead. It may be older than `from`.',
    examples: ['20261120T001200Z'],
  }),
  period: RankingsDailyQuery.shape.period,
  format: RankingsDailyQuery.shape.format,
})

/** `GET /datasets/rankings-daily/changes`: what differs between any two releases (docs/api.md). */
export function rankingChanges(app: FastifyInstance, { findRelease }: { findRelease: FindRelease }): void {
  const answerTo = changesAnswers()

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily/changes',
    schema: { querystring: RankingChangesQuery },
    async handler(request, reply) {
      const { query, headers } = request
      const period = query.period ?? 'day'
      const needs = { table: TABLE_OF[period] }
      const [from, to] = [await findRelease(query.from, needs), await findRelease(query.to, needs)]
      const format = query.format ?? preferredFormat(headers.accept)
      const coding = prefersGzip(headers['accept-encoding']) ? 'gzip' : 'identity'
      const answer = answerTo({ from, to, period }, format, coding)
      exposeToo(
        reply,
        EXPOSED.filter((name) => name.toLowerCase() in answer.headers),
      )
      reply.headers(answer.headers)
      if (matchesEtag(headers['if-none-match'], answer.etag)) return reply.code(304).send()
      sendFromMemory(reply.headers(answer.contentHeaders), await answer.body())
      return reply
    },
  })
}
