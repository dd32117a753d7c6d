import { DATASET_PATH } from '../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../pipeline/contract/tombstone.ts'

const YEAR_SECONDS = 31_536_000
const IMMUTABLE = `public, max-age=${YEAR_SECONDS}, immutable`

/**
 * A minute, so that many readers of a page cost one request, and a 304 after it. Not longer: `latest.json` is how
 * programs learn of a release. What is read through different pointers within that minute may be of two releases;
 * `Content-Location` says of which.
 */
const REVALIDATED = 'public, max-age=60, must-revalidate'

const IMMUTABLE_PATHS = [
  new RegExp(`^/${DATASET_PATH}/releases/\\d{8}T\\d{6}Z/(?!${TOMBSTONE_FILE}$)`),
  new RegExp(`^/${DATASET_PATH}/daily/\\d{4}-\\d{2}-\\d{2}/r[1-9]\\d*\\.\\w+$`),
  new RegExp(`^/${DATASET_PATH}/monthly/\\d{4}-\\d{2}/r[1-9]\\d*\\.\\w+$`),
  // Named by a hash of what they hold: site.0f3a5c7e.css
  /^\/assets\/(.+\/)?[^/]+[.-][0-9a-f]{8,64}\.\w+$/,
]

/** How long a published file may be kept, by its path in the URL: `latest/x` is a pointer, whatever it leads to. */
export function cachePolicy(urlPath: string): string {
  return IMMUTABLE_PATHS.some((pattern) => pattern.test(urlPath)) ? IMMUTABLE : REVALIDATED
}
