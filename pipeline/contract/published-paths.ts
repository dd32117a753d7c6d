/**
 * Every path below `PUBLIC_DIR`, in one table for the programs that write, verify, copy and serve it. A publisher may add
 * files of their own at the top and below `assets/`.
 */
import { Html } from './html.ts'
import { DATASET_PATH, type ReleaseName } from './manifest.ts'
import { TOMBSTONE_FILE } from './tombstone.ts'

/** Below the folder of the dataset. */
export const INDEX_FILE = 'releases/index.json'
export const COVERAGE_FILE = 'coverage.json'
export const RESTATEMENTS_FILE = 'restatements.json'
/** Every event of the dataset: releases, withdrawals, keys. */
const EVENTS_FILE = 'chain.json'
/** The DOIs of deposited releases. Published if there are any. */
export const DOIS_FILE = 'dois.json'
/** What all releases say that were not withdrawn, in one table. */
export const HISTORY_FILES = { parquet: 'history.parquet', csv: 'history.csv.gz' } as const

export const INDEX_PATH = `${DATASET_PATH}/${INDEX_FILE}`
export const COVERAGE_PATH = `${DATASET_PATH}/${COVERAGE_FILE}`
export const EVENTS_PATH = `${DATASET_PATH}/${EVENTS_FILE}`
export const RESTATEMENTS_PATH = `${DATASET_PATH}/${RESTATEMENTS_FILE}`
export const DOIS_PATH = `${DATASET_PATH}/${DOIS_FILE}`
export const HISTORY_PATHS = {
  parquet: `${DATASET_PATH}/${HISTORY_FILES.parquet}`,
  csv: `${DATASET_PATH}/${HISTORY_FILES.csv}`,
} as const
export const CROISSANT_PATH = `${DATASET_PATH}/croissant.json`
/** The page that lists what is in the folder of the dataset. */
export const LISTING_PATH = `${DATASET_PATH}/index.html`
/** The page about the API. A server answers this address itself. */
export const API_PAGE_PATH = 'docs/index.html'
/** The page for people who ask for something that is not there. Many static hosts send it without being told. */
export const NOT_FOUND_PATH = '404.html'
/** Where the server puts links to pages with similar addresses. */
export const NEAREST_MARK = new Html('<!-- nearest -->')
/** The one link, to the folder of the current release. A copy may hold that folder's files instead. */
export const LATEST_PATH = `${DATASET_PATH}/latest`
export const POINTER_PATH = `${DATASET_PATH}/latest.json`
export const CATALOG_FILE = 'catalog.json'

/** What a signing key adds: the list of every file, what is said of it, and the signatures of both. */
export const SIGNED_LIST = 'SHA256SUMS'
export const SIGNED_SITE = 'site.json'
export const SIGNATURE_ENDING = '.sig'
/** The keys that may sign, for `ssh-keygen -Y verify`. */
export const ALLOWED_SIGNERS = 'allowed_signers'
/** The files that the list cannot have. */
export const SIGNATURE_FILES = [
  SIGNED_LIST,
  `${SIGNED_LIST}${SIGNATURE_ENDING}`,
  SIGNED_SITE,
  `${SIGNED_SITE}${SIGNATURE_ENDING}`,
] as const

/** Whether a file is one that the signed list cannot have. */
export function isSignatureFile(path: string): boolean {
  return SIGNATURE_FILES.some((each) => each === path)
}

export const FEED_FILES = { atom: 'feed.atom', json: 'feed.json' } as const

/** The operations of the API that need no store, by the paths of their responses. */
export const API_FILES = {
  rankings_daily: 'api/v1/datasets/rankings-daily.json',
  embeddings_models: 'api/v1/embeddings/models.json',
} as const

/** Metadata beside the releases: a copy on any host has the same bytes. */
export const METADATA_FILES = ['LICENSE', 'CITATION.cff', 'citation.bib', 'dcat.jsonld', CROISSANT_PATH] as const

/** The formats of a day and of a month: the API answers days, and tables of them are by month. */
export const PERIOD_FORMATS = { daily: ['json'], monthly: ['csv', 'parquet'] } as const
export const PERIOD_FOLDERS = [`${DATASET_PATH}/daily`, `${DATASET_PATH}/monthly`] as const

/** Folders that only have pages generated from releases. Of authors and of years of the changelog none is made any more. */
export const PAGE_FOLDERS = ['models', 'more-models', 'authors', 'leaderboards', 'coverage', 'changelog'] as const

/** The steps of a switch to another release, in order: targets come before what points to them. */
export const STEPS = [
  'release',
  'tombstones',
  'periods',
  'restatements',
  'coverage',
  'history',
  'index',
  'site',
  'latest',
  'pointer',
  'catalog',
  'feeds',
  'signatures',
] as const
export type Step = (typeof STEPS)[number]

/**
 * How long a file may be cached. Files of releases and revisions never change, but for synthetic ones, which the first
 * real release replaces. The names of hashed files change with their content. Everything else points to those.
 */
type CacheClass = 'release' | 'revision' | 'hashed' | 'pointer'

interface PublishedPath {
  step: Step
  cache: CacheClass
  /** Pages are for people: hosts may change them, and another version renders them otherwise. */
  readers: 'programs' | 'people'
}

const RELEASE = new RegExp(`^${DATASET_PATH}/releases/(\\d{8}T\\d{6}Z)/(?!${TOMBSTONE_FILE}$)`)

/** The first match decides. */
const TABLE: readonly [RegExp, Step, CacheClass, PublishedPath['readers']][] = [
  // When a release is withdrawn, another page takes the place of its own, once nothing points to it any more.
  [under('releases/\\d{8}T\\d{6}Z/index\\.html$'), 'catalog', 'pointer', 'programs'],
  [RELEASE, 'release', 'release', 'programs'],
  [exactly(INDEX_PATH, EVENTS_PATH), 'index', 'pointer', 'programs'],
  [under(`releases/\\d{8}T\\d{6}Z/${TOMBSTONE_FILE}$`), 'tombstones', 'pointer', 'programs'],
  [under('releases/'), 'release', 'pointer', 'programs'],
  [under('daily/\\d{4}-\\d{2}-\\d{2}/r[1-9]\\d*\\.\\w+$'), 'periods', 'revision', 'programs'],
  [under('monthly/\\d{4}-\\d{2}/r[1-9]\\d*\\.\\w+$'), 'periods', 'revision', 'programs'],
  [under('(daily|monthly)(/|$)'), 'periods', 'pointer', 'programs'],
  [exactly(RESTATEMENTS_PATH), 'restatements', 'pointer', 'programs'],
  [exactly(COVERAGE_PATH), 'coverage', 'pointer', 'programs'],
  [exactly(...Object.values(HISTORY_PATHS)), 'history', 'pointer', 'programs'],
  [under('latest(/|$)'), 'latest', 'pointer', 'programs'],
  [exactly(POINTER_PATH), 'pointer', 'pointer', 'programs'],
  [exactly(CATALOG_FILE), 'catalog', 'pointer', 'programs'],
  [exactly(...Object.values(FEED_FILES)), 'feeds', 'pointer', 'programs'],
  [exactly(...SIGNATURE_FILES, ALLOWED_SIGNERS), 'signatures', 'pointer', 'programs'],
  [exactly(...Object.values(API_FILES), ...METADATA_FILES, DOIS_PATH), 'site', 'pointer', 'programs'],
  [exactly(LISTING_PATH), 'site', 'pointer', 'people'],
  // Files, not folders.
  [/^datasets\/.*[^/]$/, 'site', 'pointer', 'programs'],
  // Such as assets/explore-0f3a5c7e9b1d2468.js.
  [/^assets\/(.+\/)?[^/]+[.-][0-9a-f]{8,64}\.\w+$/, 'site', 'hashed', 'people'],
  [/^/, 'site', 'pointer', 'people'],
]

function under(pattern: string): RegExp {
  return new RegExp(`^${DATASET_PATH}/${pattern}`)
}

function exactly(...paths: string[]): RegExp {
  return new RegExp(`^(${paths.map((path) => path.replaceAll('.', '\\.')).join('|')})$`)
}

/** Compressed forms are what is compressed. */
const CODED = /(?<=\.(html|css|js|svg|json))\.gz$/

/** The path of the text that a path may be a compressed form of; itself if it is none. */
export function withoutCoding(path: string): string {
  return path.replace(CODED, '')
}

/** What a path below `PUBLIC_DIR` is. */
export function publishedPath(path: string): PublishedPath {
  const text = withoutCoding(path)
  const [, step = 'site', cache = 'pointer', readers = 'people'] = TABLE.find(([pattern]) => pattern.test(text)) ?? []
  return { step, cache, readers }
}

const YEAR_SECONDS = 31_536_000
const IMMUTABLE = `public, max-age=${YEAR_SECONDS}, immutable`

/** A minute: programs poll `latest.json`. Pointers may name two releases meanwhile; `Content-Location` says which. */
const REVALIDATED = 'public, max-age=60, must-revalidate'

/** The `Cache-Control` of a published path. Files of the synthetic sample are replaced by those of the first real release. */
export function cacheControl(path: string, { isSynthetic = false } = {}): string {
  const { cache } = publishedPath(path)
  const isImmutable = cache === 'hashed' || (cache !== 'pointer' && !isSynthetic)
  return isImmutable ? IMMUTABLE : REVALIDATED
}

/**
 * Whether a copy has a file that does not follow from the releases. Pages may come from another version, open pages still
 * load older assets, and publishers add files such as `robots.txt`. Other unlisted files do not belong there.
 */
export function isCopiedUnlisted(path: string): boolean {
  return publishedPath(path).readers === 'people'
}

/** The release that a file belongs to. A tombstone belongs to none. */
export function releaseOfPath(path: string): ReleaseName | undefined {
  return RELEASE.exec(path)?.[1]
}

const MEDIA_TYPES: Record<string, string> = {
  '.atom': 'application/atom+xml; charset=utf-8',
  '.bib': 'application/x-bibtex; charset=utf-8',
  '.cff': 'application/yaml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  // A compressed file is a download of its own, not another coding of the file without the ending.
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/x-ndjson',
  '.jsonld': 'application/ld+json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ndjson': 'application/x-ndjson',
  '.parquet': 'application/vnd.apache.parquet',
  '.png': 'image/png',
  '.sig': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
  '.zst': 'application/zstd',
  // LICENSE, SHA256SUMS, allowed_signers
  '': 'text/plain; charset=utf-8',
}

/** The media type of a published file, by the ending of its name, but for a feed. */
export function mediaType(path: string): string {
  if (nameOf(path) === FEED_FILES.json) return 'application/feed+json; charset=utf-8'
  return MEDIA_TYPES[endingOf(path)] ?? 'application/octet-stream'
}

/** Whether a browser opens a published file as a document, so that a content security policy has to bind it. */
export function isDocument(path: string): boolean {
  return ['.atom', '.html', '.svg', '.xml'].includes(endingOf(path))
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function endingOf(path: string): string {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot).toLowerCase() : ''
}
