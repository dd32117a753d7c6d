import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { TABLE_OF } from '../../../pipeline/contract/tables.ts'
import { UtcDate } from '../../../pipeline/contract/utc-date.ts'
import type { Dataset } from '../../published/dataset.ts'
import { FORMATS, preferredFormat, prefersGzip } from '../../published/negotiation.ts'
import { rankingsAnswers } from '../../published/rankings-answers.ts'
import type { FindRelease } from '../../published/requested-release.ts'
import { needsAuthors, selectedAnswers } from '../../published/selected-answers.ts'
import { windowResolver } from '../../published/windows.ts'
import { queryParameter } from '../../schemas/combinators.ts'
import { Period, ReleaseOrInstant } from '../../schemas/rankings.ts'
import { callerOf } from '../auth.ts'
import { sendRanking } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'
import { SELECTION_PARAMETERS, selectionOf } from './selection-parameters.ts'

const PATH = '/datasets/rankings-daily'

/** Strict: ignoring a parameter such as `models=…` would change the meaning. */
export const RankingsDailyQuery = z.strictObject({
  start_date: queryParameter(UtcDate).meta({
    description:
      'The first date, inclusive: by default 30 days before `end_date`. Earlier ones than 2025-01-01 become it.',
    examples: ['2026-11-01'],
  }),
  end_date: queryParameter(UtcDate).meta({
    description:
      'The last date, inclusive: by default the most recent completed UTC day, to which later ones are clamped. Not before 2025-01-01.',
    pattern: '^(202[5-9]|20[3-9][0-9]|2[1-9][0-9]{2}|[3-9][0-9]{3})-[0-9]{2}-[0-9]{2}$',
  }),
  period: queryParameter(Period).meta({
    description:
      'What a row sums: a UTC date (the default), an ISO week (Monday to Sunday) or a month. Both ends of the window move outwards to whole periods, at most to the first and the last date of the release; `meta` has the moved dates. A row has the first date of its period, and `days`: how many published dates it sums. 404 if the release has no such table.',
  }),
  as_of: queryParameter(ReleaseOrInstant).meta({
    description:
      'The release to answer from: its name in `releases/index.json`, or an instant in UTC for the newest release at or before it that was not withdrawn. By default the newest. The default window is the same for all.',
  }),
  format: queryParameter(z.enum(FORMATS, { error: `must be one of ${FORMATS.join(', ')}` })).meta({
    description: 'The form of the rows, whatever `Accept` says. Without either it is JSON.',
  }),
  ...SELECTION_PARAMETERS,
})

/** `GET /datasets/rankings-daily` (docs/specification.md): the rows of a window, from memory. */
export function rankingsDaily(
  app: FastifyInstance,
  { findRelease, now, prefix }: { findRelease: FindRelease; now: () => Date; prefix: string },
): void {
  const windowOf = windowResolver(now)
  const windows = rankingsAnswers()
  const selections = selectedAnswers()

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: PATH,
    schema: { querystring: RankingsDailyQuery },
    handler(request, reply) {
      const { query, headers } = request
      const asked = { table: TABLE_OF[query.period ?? 'day'], window: windowOf(query) }
      const selection = selectionOf(query, prefix + app.prefix + PATH)
      const format = query.format ?? preferredFormat(headers.accept)
      const takesGzip = prefersGzip(headers['accept-encoding'])
      const answerFrom = (dataset: Dataset) => {
        if (selection !== undefined) {
          const coding = takesGzip ? 'gzip' : 'identity'
          return selections.find({ dataset, ...asked, format, coding, selection })
        }
        return windows.find(dataset, asked, format, takesGzip && dataset.hasGzip ? 'gzip' : 'identity')
      }
      const sendFrom = (dataset: Dataset) => {
        const answer = answerFrom(dataset)
        if (answer instanceof Promise) return answer.then((made) => sendRanking(request, reply, made))
        return sendRanking(request, reply, answer)
      }
      const authors = selection !== undefined && needsAuthors(selection)
      const dataset = findRelease(query.as_of, { ...asked, authors, caller: callerOf(request).id })
      const sent = dataset instanceof Promise ? dataset.then(sendFrom) : sendFrom(dataset)
      return sent instanceof Promise ? sent.then(() => reply) : sent
    },
  })
}
