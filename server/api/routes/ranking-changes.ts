import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { TABLE_OF } from '../../../pipeline/contract/tables.ts'
import { preferredFormat, prefersGzip } from '../../published/negotiation.ts'
import { changesAnswers } from '../../published/ranking-changes.ts'
import type { FindRelease } from '../../published/requested-release.ts'
import { queryParameter, requiredParameter } from '../../schemas/combinators.ts'
import { Period, ReleaseOrInstant } from '../../schemas/rankings.ts'
import { callerOf } from '../auth.ts'
import { sendRanking } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'
import { RankingsDailyQuery } from './rankings-daily.ts'

export const RankingChangesQuery = z.strictObject({
  from: requiredParameter(ReleaseOrInstant).meta({
    description: 'The release from which the changes lead: a name or an instant, as in `as_of` of the ranking.',
    examples: ['20261119T001200Z'],
  }),
  to: requiredParameter(ReleaseOrInstant).meta({
    description: 'The release to which they lead. It may be older than `from`.',
    examples: ['20261120T001200Z'],
  }),
  period: queryParameter(Period).meta({
    description:
      'Which table: that of UTC dates (the default), ISO weeks or months. 404 if a release has no such table.',
    examples: ['week'],
  }),
  format: RankingsDailyQuery.shape.format,
})

/** `GET /datasets/rankings-daily/changes`: what differs between any two releases (docs/api.md). */
export function rankingChanges(app: FastifyInstance, { findRelease }: { findRelease: FindRelease }): void {
  const answers = changesAnswers()

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily/changes',
    schema: { querystring: RankingChangesQuery },
    async handler(request, reply) {
      const { query, headers } = request
      const period = query.period ?? 'day'
      const needs = { table: TABLE_OF[period], caller: callerOf(request).id }
      const [from, to] = [await findRelease(query.from, needs), await findRelease(query.to, needs)]
      const format = query.format ?? preferredFormat(headers.accept)
      const coding = prefersGzip(headers['accept-encoding']) ? 'gzip' : 'identity'
      sendRanking(request, reply, await answers.find({ from, to, period }, format, coding))
      return reply
    },
  })
}
