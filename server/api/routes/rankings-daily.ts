import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ReleaseName } from '../../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../../pipeline/contract/utc-date.ts'
import { ApiError } from '../../base/errors.ts'
import { matchesEtag } from '../../published/conditional.ts'
import type { CurrentRelease } from '../../published/current-release.ts'
import type { Dataset } from '../../published/dataset.ts'
import { FORMATS, preferredFormat } from '../../published/formats.ts'
import { prefersGzip } from '../../published/negotiation.ts'
import type { OlderReleases } from '../../published/older-releases.ts'
import { DISCLOSURE_HEADER, type RankingsAnswer, rankingsAnswers } from '../../published/rankings-answers.ts'
import { sendFromMemory } from '../../published/send.ts'
import { rememberedWindows } from '../../published/windows.ts'
import { queryParameter } from '../../schemas/combinators.ts'
import { exposeToo } from '../cors.ts'
import type { ZodTypeProvider } from '../validation.ts'

/** Strict: ignoring a parameter such as `period=week` would change the meaning (API.md § Order of checks). */
export const RankingsDailyQuery = z.strictObject({
  start_date: queryParameter(UtcDate).meta({
    description:
      'The first date, inclusive: by default 30 days before `end_date`. Earlier ones than 2025-01-01 become it.',
    examples: ['2026-11-01'],
  }),
  end_date: queryParameter(UtcDate).meta({
    description:
      'The last date, inclusive: by default the most recent completed UTC day, to which later ones are clamped. Not before 2025-01-01.',
  }),
  as_of: queryParameter(ReleaseName).meta({
    description:
      'The release to answer from, by its name in `releases/index.json`: by default the newest. The default window is the same for all.',
  }),
  format: queryParameter(z.enum(FORMATS, { error: `must be one of ${FORMATS.join(', ')}` })).meta({
    description: 'The form of the rows, whatever `Accept` says. Without either it is JSON.',
  }),
})

/** `GET /datasets/rankings-daily` (SPECIFICATION.md § Endpoints 5, API.md): the rows of a window, from memory. */
export function rankingsDaily(
  app: FastifyInstance,
  { releases, older, now }: { releases: CurrentRelease; older: OlderReleases; now: () => Date },
): void {
  const windowOf = rememberedWindows(now)
  const answers = rankingsAnswers()

  async function olderDataset(name: ReleaseName): Promise<Dataset> {
    const found = await older.find(name)
    if (found === undefined) throw new ApiError(404, 'Resource not found')
    return found
  }

  function datasetOf(name: ReleaseName | undefined): Dataset | Promise<Dataset> {
    const current = releases.dataset()
    if (name !== undefined) return current?.manifest.release === name ? current : olderDataset(name)
    if (current === undefined) throw new ApiError(503, 'The dataset is not available yet. Please try again later.')
    return current
  }

  function send(request: FastifyRequest, reply: FastifyReply, { etag, headers, contentHeaders, body }: RankingsAnswer) {
    reply.headers(headers)
    if (DISCLOSURE_HEADER in headers) exposeToo(reply, 'X-Dataset-Disclosure')
    // No If-Modified-Since: the default window moves every day, even if the release stays.
    if (matchesEtag(request.headers['if-none-match'], etag)) reply.code(304).send()
    else sendFromMemory(reply.headers(contentHeaders), body())
  }

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily',
    schema: { querystring: RankingsDailyQuery },
    handler(request, reply) {
      const { query, headers } = request
      const window = windowOf(query)
      const format = query.format ?? preferredFormat(headers.accept)
      const takesGzip = prefersGzip(headers['accept-encoding'])
      const sendFrom = (dataset: Dataset) => {
        const coding = takesGzip && dataset.hasGzip ? 'gzip' : 'identity'
        send(request, reply, answers.find(dataset, window, format, coding))
      }
      const dataset = datasetOf(query.as_of)
      return dataset instanceof Promise ? dataset.then(sendFrom).then(() => reply) : sendFrom(dataset)
    },
  })
}
