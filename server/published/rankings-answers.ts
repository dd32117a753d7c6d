import { ruleInLine } from '../../pipeline/contract/disclosure.ts'
import { DATASET_PATH, LICENSE, type Manifest } from '../../pipeline/contract/manifest.ts'
import type { Window } from '../../pipeline/contract/window.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Answer, Dataset } from './dataset.ts'
import { CONTENT_TYPE_OF, type Format } from './formats.ts'
import type { Coding } from './negotiation.ts'

export interface RankingsAnswer {
  etag: string
  /** Also sent with a 304. */
  headers: Record<string, string>
  contentHeaders: Record<string, string>
  body: () => Answer
}

/** Under which rule the dates of the release were published. Releases without one do not have it. */
export const DISCLOSURE_HEADER = 'x-dataset-disclosure'

const MOST_ANSWERS = 2000

/** Caches answers for as long as their release is loaded. A cached answer shares its rows with the release. */
export function rankingsAnswers() {
  const answers = new WeakMap<Dataset, BoundedCache<RankingsAnswer>>()

  return {
    find(dataset: Dataset, window: Window, format: Format, coding: Coding): RankingsAnswer {
      const ofDataset = answers.get(dataset) ?? new BoundedCache(MOST_ANSWERS)
      answers.set(dataset, ofDataset)
      const name = `${window.start_date} ${window.end_date} ${format} ${coding}`
      return ofDataset.find(name, () => describe(dataset, window, format, coding))
    },
  }
}

function describe(dataset: Dataset, window: Window, format: Format, coding: Coding): RankingsAnswer {
  const { manifest } = dataset
  const etag = rankingsEtag(manifest, window, format, coding)
  let body: Answer | undefined
  return {
    etag,
    headers: { etag, ...answerHeaders(manifest, window) },
    contentHeaders: {
      'content-type': CONTENT_TYPE_OF[format],
      ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    },
    body: () => {
      body ??= dataset.answer(window, format, coding)
      return body
    },
  }
}

/** A strong ETag. It has the content hash because a dataset that is built from scratch may reuse a release name. */
function rankingsEtag(
  { release, content_hash }: Pick<Manifest, 'release' | 'content_hash'>,
  { start_date, end_date }: Window,
  format: Format,
  coding: Coding,
): string {
  const content = content_hash.slice('sha256:'.length).slice(0, 16)
  return `"${release}-${content}-${start_date}-${end_date}-${format}-${coding}"`
}

function answerHeaders(manifest: Manifest, window: Window): Record<string, string> {
  const headers = headersOfReleases.get(manifest) ?? releaseHeaders(manifest)
  headersOfReleases.set(manifest, headers)
  return manifest.end_date < window.end_date ? { ...headers, 'x-dataset-end-date': manifest.end_date } : headers
}

const headersOfReleases = new WeakMap<Manifest, Record<string, string>>()

function releaseHeaders(manifest: Manifest): Record<string, string> {
  const rule = ruleInLine(manifest.disclosure)
  return {
    'last-modified': new Date(manifest.as_of).toUTCString(),
    'cache-control': 'private, max-age=60',
    vary: 'Authorization, Accept, Accept-Encoding',
    link: `<${LICENSE.path}>; rel="license", <${descriptionOf(manifest)}>; rel="describedby"; type="application/json"`,
    'x-attribution': headerText(manifest.attribution),
    'x-content-hash': manifest.content_hash,
    ...(rule !== undefined && { [DISCLOSURE_HEADER]: rule }),
  }
}

function descriptionOf({ release, files }: Manifest): string {
  const hasDataPackage = files.some(({ path }) => path === 'datapackage.json')
  return `/${DATASET_PATH}/releases/${release}/${hasDataPackage ? 'datapackage.json' : 'manifest.json'}`
}

/** Percent-encodes all characters but printable ASCII. */
function headerText(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
}
