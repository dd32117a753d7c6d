import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DATASET_PATH, LICENSE, type Manifest, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { resolveWindow, type Window, WindowError } from '../../pipeline/contract/window.ts'
import { matchesEtag } from '../conditional.ts'
import type { CurrentRelease } from '../current-release.ts'
import type { Dataset } from '../dataset.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { CONTENT_TYPE_OF, FORMS, type Form, preferredForm } from '../forms.ts'
import type { OlderReleases } from '../older-releases.ts'
import { queryParameter, type ZodTypeProvider } from '../validation.ts'

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
  as_of: queryParameter(ReleaseName).meta({
    description:
      'The release to answer from, by its name in `releases/index.json`: by default the newest. The default window is the same for all.',
  }),
  format: queryParameter(z.enum(FORMS, { error: `must be one of ${FORMS.join(', ')}` })).meta({
    description: 'The form of the rows, whatever `Accept` says. Without either it is JSON.',
  }),
})

/** `GET /datasets/rankings-daily` (SPECIFICATION.md § Endpoints 5, API.md): the rows of a window, from memory. */
export function rankingsDaily(
  app: FastifyInstance,
  { releases, older, now }: { releases: CurrentRelease; older: OlderReleases; now: () => Date },
): void {
  async function datasetOf(name: ReleaseName | undefined): Promise<Dataset> {
    const current = releases.dataset()
    if (name === undefined) {
      if (current === undefined) throw new ApiError(503, 'The dataset is not available yet. Please try again later.')
      return current
    }
    const found = current?.manifest.release === name ? current : await older.find(name)
    if (found === undefined) throw new ApiError(404, 'Resource not found')
    return found
  }

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily',
    schema: { querystring: RankingsDailyQuery },
    async handler(request, reply) {
      const window = resolve(request.query, now())
      const dataset = await datasetOf(request.query.as_of)
      const form = request.query.format ?? preferredForm(request.headers.accept)
      const etag = rankingsEtag(dataset.manifest, window, form, 'identity')
      reply.headers({ etag, ...answerHeaders(dataset.manifest, window) })
      // No If-Modified-Since: the default window moves on each day, also while the release stays the same.
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      const { pieces, bytes } = dataset.answer(window, form)
      reply.headers({ 'content-type': CONTENT_TYPE_OF[form], 'content-length': bytes })
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
  form: Form,
  coding: 'identity',
): string {
  const content = content_hash.slice('sha256:'.length).slice(0, 16)
  return `"${release}-${content}-${start_date}-${end_date}-${form}-${coding}"`
}

function answerHeaders(manifest: Manifest, window: Window): Record<string, string> {
  return {
    'last-modified': new Date(manifest.as_of).toUTCString(),
    'cache-control': 'private, max-age=60',
    vary: 'Authorization, Accept, Accept-Encoding',
    link: `<${LICENSE.path}>; rel="license", <${descriptionOf(manifest)}>; rel="describedby"; type="application/json"`,
    'x-attribution': headerText(manifest.attribution),
    'x-content-hash': manifest.content_hash,
    ...(manifest.end_date < window.end_date ? { 'x-dataset-end-date': manifest.end_date } : {}),
  }
}

/** The data package of the release; its manifest where the release is older than data packages are. */
function descriptionOf({ release, files }: Manifest): string {
  const hasDataPackage = files.some(({ path }) => path === 'datapackage.json')
  return `/${DATASET_PATH}/releases/${release}/${hasDataPackage ? 'datapackage.json' : 'manifest.json'}`
}

/** A header holds ASCII alone; other characters are percent-encoded as UTF-8. */
function headerText(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
}
