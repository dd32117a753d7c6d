import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DATASET_PATH, LICENSE, type Manifest } from '../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { resolveWindow, type Window, WindowError } from '../../pipeline/contract/window.ts'
import { matchesEtag } from '../conditional.ts'
import type { CurrentRelease } from '../current-release.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { queryParameter, type ZodTypeProvider } from '../validation.ts'

const SECONDS_UNTIL_RETRY = 5

export const RankingsDailyQuery = z.object({
  start_date: queryParameter(UtcDate).meta({
    description:
      'The first date, inclusive: by default 30 days before `end_date`. Earlier ones than 2025-01-01 become it.',
    examples: ['2026-11-01'],
  }),
  end_date: queryParameter(UtcDate).meta({
    description:
      'The last date, inclusive: by default the most recent completed UTC day, to which later ones are clamped. Not before 2025-01-01.',
  }),
})

/** `GET /datasets/rankings-daily` (SPECIFICATION.md § Endpoints 5, API.md): the rows of a window, from memory. */
export function rankingsDaily(
  app: FastifyInstance,
  { releases, now }: { releases: CurrentRelease; now: () => Date },
): void {
  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily',
    schema: { querystring: RankingsDailyQuery },
    async handler(request, reply) {
      const window = resolve(request.query, now())
      const dataset = releases.dataset()
      if (dataset === undefined) {
        reply.header('retry-after', SECONDS_UNTIL_RETRY)
        throw new ApiError(503, 'The dataset is not available yet. Please try again later.')
      }
      const etag = rankingsEtag(dataset.manifest, window, 'json', 'identity')
      reply.headers({ etag, ...answerHeaders(dataset.manifest, window) })
      // No If-Modified-Since: the default window moves on each day, also while the release stays the same.
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      const { pieces, bytes } = dataset.answer(window)
      reply.headers({ 'content-type': 'application/json; charset=utf-8', 'content-length': bytes })
      return reply.send(Readable.from(pieces, { objectMode: false }))
    },
  })
}

function resolve(query: z.infer<typeof RankingsDailyQuery>, now: Date): Window {
  try {
    return resolveWindow(query, now)
  } catch (error) {
    if (error instanceof WindowError) throw invalidRequest([{ path: error.parameter, message: error.message }])
    throw error
  }
}

/**
 * The strong tag of an answer: of all that its bytes depend on. The content hash is in it because a dataset that was
 * rebuilt from nothing may use the name of a release again.
 */
export function rankingsEtag(
  { release, content_hash }: Pick<Manifest, 'release' | 'content_hash'>,
  { start_date, end_date }: Window,
  form: 'json',
  coding: 'identity',
): string {
  const content = content_hash.slice('sha256:'.length).slice(0, 16)
  return `"${release}-${content}-${start_date}-${end_date}-${form}-${coding}"`
}

function answerHeaders(manifest: Manifest, window: Window): Record<string, string> {
  const manifestPath = `/${DATASET_PATH}/releases/${manifest.release}/manifest.json`
  return {
    'last-modified': new Date(manifest.as_of).toUTCString(),
    'cache-control': 'private, max-age=60',
    vary: 'Authorization, Accept, Accept-Encoding',
    link: `<${LICENSE.path}>; rel="license", <${manifestPath}>; rel="describedby"; type="application/json"`,
    'x-attribution': headerText(manifest.attribution),
    ...(manifest.end_date < window.end_date ? { 'x-dataset-end-date': manifest.end_date } : {}),
  }
}

/** A header holds ASCII alone; other characters are percent-encoded as UTF-8. */
function headerText(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
}
