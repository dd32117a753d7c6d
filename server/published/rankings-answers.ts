import { ruleInLine } from '../../pipeline/contract/disclosure.ts'
import { type ContentHash, DATASET_PATH, LICENSE, type Manifest } from '../../pipeline/contract/manifest.ts'
import { firstProvisional, type Table, tableFacts } from '../../pipeline/contract/tables.ts'
import { type Window, wholePeriods } from '../../pipeline/contract/window.ts'
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

/** From which date on rows of the table are provisional in the release. */
export const PROVISIONAL_HEADER = 'x-provisional-from'

/** A window of a table. */
export interface TableWindow {
  table: Table
  /** As it was resolved. The answer moves it outwards to whole periods. */
  window: Window
}

const MOST_ANSWERS = 2000

/** Caches answers for as long as their release is loaded. A cached answer shares its rows with the release. */
export function rankingsAnswers() {
  const answers = new WeakMap<Dataset, BoundedCache<RankingsAnswer>>()

  return {
    find(dataset: Dataset, asked: TableWindow, format: Format, coding: Coding): RankingsAnswer {
      const ofDataset = answers.get(dataset) ?? new BoundedCache(MOST_ANSWERS)
      answers.set(dataset, ofDataset)
      const { table, window } = asked
      const name = `${table} ${window.start_date} ${window.end_date} ${format} ${coding}`
      return ofDataset.find(name, () => describe(dataset, asked, format, coding))
    },
  }
}

function describe(dataset: Dataset, asked: TableWindow, format: Format, coding: Coding): RankingsAnswer {
  const { manifest } = dataset
  const { table } = asked
  const window = wholePeriods(table, asked.window, manifest)
  const etag = `"${rankingsTag(manifest, { table, window })}-${format}-${coding}"`
  let body: Answer | undefined
  return {
    etag,
    headers: { etag, ...rankingsHeaders(manifest, { table, window }) },
    contentHeaders: contentHeaders(format, coding),
    body: () => {
      body ??= dataset.answer(table, window, format, coding)
      return body
    },
  }
}

export function contentHeaders(format: Format, coding: Coding): Record<string, string> {
  return {
    'content-type': CONTENT_TYPE_OF[format],
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
  }
}

/**
 * What a strong ETag says of the rows of a table. It has the content hash because a dataset that is built from scratch
 * may reuse a release name.
 */
export function rankingsTag(manifest: Manifest, { table, window }: TableWindow): string {
  const content = contentHashOf(manifest, table).slice('sha256:'.length).slice(0, 16)
  const release = table === 'daily' ? manifest.release : `${manifest.release}-${table}`
  return `${release}-${content}-${window.start_date}-${window.end_date}`
}

/** The headers of every answer, 304 too, but for its tag. The window is that of the answer. */
export function rankingsHeaders(manifest: Manifest, { table, window }: TableWindow): Record<string, string> {
  const known = headersOfReleases.get(manifest) ?? new Map<Table, Record<string, string>>()
  headersOfReleases.set(manifest, known)
  const headers = known.get(table) ?? releaseHeaders(manifest, table)
  known.set(table, headers)
  return manifest.end_date < window.end_date ? { ...headers, 'x-dataset-end-date': manifest.end_date } : headers
}

const headersOfReleases = new WeakMap<Manifest, Map<Table, Record<string, string>>>()

function releaseHeaders(manifest: Manifest, table: Table): Record<string, string> {
  const rule = ruleInLine(manifest.disclosure)
  return {
    'last-modified': new Date(manifest.as_of).toUTCString(),
    'cache-control': 'private, max-age=60',
    vary: 'Authorization, Accept, Accept-Encoding',
    link: `<${LICENSE.path}>; rel="license", <${descriptionOf(manifest)}>; rel="describedby"; type="application/json"`,
    'x-attribution': headerText(manifest.attribution),
    'x-content-hash': contentHashOf(manifest, table),
    [PROVISIONAL_HEADER]: firstProvisional(table, manifest),
    ...(rule !== undefined && { [DISCLOSURE_HEADER]: rule }),
  }
}

export function contentHashOf(manifest: Manifest, table: Table): ContentHash {
  const hash = tableFacts(manifest, table)?.content_hash
  if (hash === undefined) throw new Error(`${manifest.release} has no ${table} table`)
  return hash
}

function descriptionOf({ release, files }: Manifest): string {
  const hasDataPackage = files.some(({ path }) => path === 'datapackage.json')
  return `/${DATASET_PATH}/releases/${release}/${hasDataPackage ? 'datapackage.json' : 'manifest.json'}`
}

/** Percent-encodes all characters but printable ASCII. */
function headerText(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
}
