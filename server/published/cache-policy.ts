import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { publishedPath, releaseOfPath } from '../../pipeline/contract/published-paths.ts'

const YEAR_SECONDS = 31_536_000
const IMMUTABLE = `public, max-age=${YEAR_SECONDS}, immutable`

/**
 * A minute, so that many readers of a page cost one request, and a 304 after it. Not longer: `latest.json` is how
 * programs learn of a release. What is read through different pointers within that minute may be of two releases;
 * `Content-Location` says of which.
 */
const REVALIDATED = 'public, max-age=60, must-revalidate'

/** The release that a file belongs to, by the path in the URL; its tombstone belongs to none. */
export function releaseIn(urlPath: string): ReleaseName | undefined {
  return releaseOfPath(urlPath.slice(1))
}

/** Whether a path in the URL is that of a revision of a day or a month. */
export function isRevision(urlPath: string): boolean {
  return publishedPath(urlPath.slice(1)).cache === 'revision'
}

/** How long a published file may be cached, by its path in the URL: `latest/x` is a pointer, whatever it leads to. */
export function cachePolicy(urlPath: string, { isSynthetic = false } = {}): string {
  const { cache } = publishedPath(urlPath.slice(1))
  const isImmutable = cache === 'hashed' || (cache !== 'pointer' && !isSynthetic)
  return isImmutable ? IMMUTABLE : REVALIDATED
}
