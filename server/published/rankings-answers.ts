import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ruleInLine } from '../../pipeline/contract/disclosure.ts'
import { type ContentHash, DATASET_PATH, LICENSE, type Manifest } from '../../pipeline/contract/manifest.ts'
import { firstProvisional, type Table, tableFacts } from '../../pipeline/contract/tables.ts'
import { type Window, wholePeriods } from '../../pipeline/contract/window.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { sharing } from '../base/remembered.ts'
import type { Answer, Dataset } from './dataset.ts'
import { CONTENT_TYPE_OF, type Coding, type Format } from './negotiation.ts'

export interface RankingsAnswer {
  etag: string
  /** Also sent with a 304, and shared by the answers of a release, which differ in their tags. */
  headers: Readonly<Record<string, string>>
  /** Where the tag is among them. */
  tagIs: 'first' | 'last'
  contentHeaders: Readonly<Record<string, string>>
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
    headers: rankingsHeaders(manifest, { table, window }),
    tagIs: 'first',
    contentHeaders: contentHeaders(format, coding, windowName({ table, window })),
    body: () => {
      body ??= dataset.answer(table, window, format, coding)
      return body
    },
  }
}

/** The headers of a body. What is not JSON is a file, which browsers save under this name, without an ending. */
export function contentHeaders(format: Format, coding: Coding, fileName: string): Readonly<Record<string, string>> {
  if (format === 'json') return JSON_HEADERS[coding]
  return {
    ...ofCoding({ 'content-type': CONTENT_TYPE_OF[format] })[coding],
    'content-disposition': `attachment; filename="${fileName}.${format}"`,
  }
}

function ofCoding(identity: Record<string, string>): Record<Coding, Readonly<Record<string, string>>> {
  return { identity, gzip: { ...identity, 'content-encoding': 'gzip' } }
}

/** One object for all answers, whose lines are made once. */
const JSON_HEADERS = ofCoding({ 'content-type': CONTENT_TYPE_OF.json })

/** The name of a file with the rows of a window, without an ending. */
export function windowName({ table, window: { start_date, end_date } }: TableWindow): string {
  return `rankings-${table}_${start_date}_${end_date}`
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

/** The headers of every answer, 304 too, but for its tag: one object per table. The window is that of the answer. */
export function rankingsHeaders(manifest: Manifest, { table, window }: TableWindow): Readonly<Record<string, string>> {
  const known = headersOfReleases.get(manifest) ?? new Map<Table, TableHeaders>()
  headersOfReleases.set(manifest, known)
  const headers = known.get(table) ?? tableHeaders(manifest, table)
  known.set(table, headers)
  return manifest.end_date < window.end_date ? headers.beyond : headers.within
}

/** Of windows that end with the release or before, and of those that end later. */
interface TableHeaders {
  within: Readonly<Record<string, string>>
  beyond: Readonly<Record<string, string>>
}

const headersOfReleases = new WeakMap<Manifest, Map<Table, TableHeaders>>()

function tableHeaders(manifest: Manifest, table: Table): TableHeaders {
  const within = releaseHeaders(manifest, table)
  return { within, beyond: { ...within, 'x-dataset-end-date': manifest.end_date } }
}

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

const MOST_BYTES = 32 * 2 ** 20
/** What a cached answer takes besides its body. */
const BYTES_OF_HEADERS = 1000
const gzipOffLoop = promisify(gzip)

/** Keeps computed answers as long as they fit. Equal requests share one computation. A kept answer comes without a promise. */
export function computedAnswers(mostBytes = MOST_BYTES) {
  const kept = new BoundedCache<RankingsAnswer>(mostBytes, ({ body }) => body().bytes + BYTES_OF_HEADERS)
  const underWay = sharing<RankingsAnswer>()

  return {
    /** The tag names exactly the bytes of the answer. */
    find(etag: string, compute: () => Promise<RankingsAnswer>): RankingsAnswer | Promise<RankingsAnswer> {
      const make = async () => {
        const answer = await compute()
        kept.set(etag, answer)
        return answer
      }
      return kept.get(etag) ?? underWay(etag, make)
    },
  }
}

/** A body as it is sent. Compressed off the event loop. */
export async function encoded(plain: Buffer, coding: Coding): Promise<Answer> {
  const body = coding === 'gzip' ? await gzipOffLoop(plain) : plain
  return { pieces: body.length === 0 ? [] : [body], bytes: body.length }
}

/** Runs one piece of work at a time: making a large answer takes several times its size in memory. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
