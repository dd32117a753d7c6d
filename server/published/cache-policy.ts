import { DATASET_PATH, type ReleaseName } from '../../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'

const YEAR_SECONDS = 31_536_000
const IMMUTABLE = `public, max-age=${YEAR_SECONDS}, immutable`

/**
 * A minute, so that many readers of a page cost one request, and a 304 after it. Not longer: `latest.json` is how
 * programs learn of a release. What is read through different pointers within that minute may be of two releases;
 * `Content-Location` says of which.
 */
const REVALIDATED = 'public, max-age=60, must-revalidate'

const RELEASE = new RegExp(`^/${DATASET_PATH}/releases/(\\d{8}T\\d{6}Z)/(?!${TOMBSTONE_FILE}$)`)

const REVISIONS = [
  new RegExp(`^/${DATASET_PATH}/daily/\\d{4}-\\d{2}-\\d{2}/r[1-9]\\d*\\.\\w+$`),
  new RegExp(`^/${DATASET_PATH}/monthly/\\d{4}-\\d{2}/r[1-9]\\d*\\.\\w+$`),
]

/** Named by a hash of what they hold: site.0f3a5c7e.css */
const HASHED = /^\/assets\/(.+\/)?[^/]+[.-][0-9a-f]{8,64}\.\w+$/

/** The release that a file belongs to, by the path in the URL; its tombstone belongs to none. */
export function releaseIn(urlPath: string): ReleaseName | undefined {
  return RELEASE.exec(urlPath)?.[1]
}

/** Whether a path in the URL is that of a revision of a day or a month. */
export function isRevision(urlPath: string): boolean {
  return REVISIONS.some((pattern) => pattern.test(urlPath))
}

/**
 * How long a published file may be kept, by its path in the URL: `latest/x` is a pointer, whatever it leads to. Synthetic
 * releases and revisions are never immutable, because the first real release takes their place.
 */
export function cachePolicy(urlPath: string, { isSynthetic = false } = {}): string {
  const isData = releaseIn(urlPath) !== undefined || isRevision(urlPath)
  return (isData && !isSynthetic) || HASHED.test(urlPath) ? IMMUTABLE : REVALIDATED
}
