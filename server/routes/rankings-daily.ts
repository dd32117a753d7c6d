import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DATASET_PATH, LICENSE, type Manifest, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { brotliWindows } from '../brotli-windows.ts'
import { matchesEtag } from '../conditional.ts'
import type { CurrentRelease } from '../current-release.ts'
import type { Answer, Dataset } from '../dataset.ts'
import { ApiError } from '../errors.ts'
import { CONTENT_TYPE_OF, FORMS, type Form, preferredForm } from '../forms.ts'
import { type Coding, preferredCoding, prefersGzip } from '../negotiation.ts'
import type { OlderReleases } from '../older-releases.ts'
import { sendFromMemory } from '../send.ts'
import { queryParameter, type ZodTypeProvider } from '../validation.ts'
import { type AskedWindow, rememberedWindows } from '../windows.ts'

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
  const windowOf = rememberedWindows(now)
  const brotliOf = brotliWindows()

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

  /** The coding that the client likes best of those in which the answer can be had now. */
  function choose(
    dataset: Dataset,
    window: Window,
    form: Form,
    { start_date, end_date }: AskedWindow,
    acceptEncoding: string | undefined,
  ): { coding: Coding; body: () => Answer } {
    const isDefault = start_date === undefined && end_date === undefined
    if (isDefault && preferredCoding(acceptEncoding, ['br', 'gzip']) === 'br') {
      const brotli = brotliOf(dataset, window, form)
      if (brotli !== undefined) return { coding: 'br', body: () => brotli }
    }
    const coding = dataset.hasGzip && prefersGzip(acceptEncoding) ? 'gzip' : 'identity'
    return { coding, body: () => dataset.answer(window, form, coding) }
  }

  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily',
    schema: { querystring: RankingsDailyQuery },
    async handler(request, reply) {
      const window = windowOf(request.query)
      const dataset = await datasetOf(request.query.as_of)
      const { accept, 'accept-encoding': acceptEncoding, 'if-none-match': ifNoneMatch } = request.headers
      const form = request.query.format ?? preferredForm(accept)
      const { coding, body } = choose(dataset, window, form, request.query, acceptEncoding)
      const etag = rankingsEtag(dataset.manifest, window, form, coding)
      reply.header('etag', etag).headers(answerHeaders(dataset.manifest, window))
      // No If-Modified-Since: the default window moves on each day, also while the release stays the same.
      if (matchesEtag(ifNoneMatch, etag)) return reply.code(304).send()
      reply.header('content-type', CONTENT_TYPE_OF[form])
      if (coding !== 'identity') reply.header('content-encoding', coding)
      return sendFromMemory(reply, body())
    },
  })
}

/**
 * The strong tag of an answer: of all that its bytes depend on. The content hash is in it because a dataset that was
 * rebuilt from nothing may use the name of a release again.
 */
export function rankingsEtag(
  { release, content_hash }: Pick<Manifest, 'release' | 'content_hash'>,
  { start_date, end_date }: Window,
  form: Form,
  coding: Coding,
): string {
  const content = content_hash.slice('sha256:'.length).slice(0, 16)
  return `"${release}-${content}-${start_date}-${end_date}-${form}-${coding}"`
}

/** The headers that say where an answer comes from and how long it holds. */
function answerHeaders(manifest: Manifest, window: Window): Record<string, string> {
  const headers = HEADERS.get(manifest) ?? releaseHeaders(manifest)
  HEADERS.set(manifest, headers)
  return manifest.end_date < window.end_date ? { ...headers, 'x-dataset-end-date': manifest.end_date } : headers
}

/** Those that are the same for every answer from a release. */
const HEADERS = new WeakMap<Manifest, Record<string, string>>()

function releaseHeaders(manifest: Manifest): Record<string, string> {
  return {
    'last-modified': new Date(manifest.as_of).toUTCString(),
    'cache-control': 'private, max-age=60',
    vary: 'Authorization, Accept, Accept-Encoding',
    link: `<${LICENSE.path}>; rel="license", <${descriptionOf(manifest)}>; rel="describedby"; type="application/json"`,
    'x-attribution': headerText(manifest.attribution),
    'x-content-hash': manifest.content_hash,
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
