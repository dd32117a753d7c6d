import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { publishedPath, releaseOfPath } from '../../pipeline/contract/published-paths.ts'

const YEAR_SECONDS = 31_536_000
const IMMUTABLE = `public, max-age=${YEAR_SECONDS}, immutable`

/** A minute: programs poll `latest.json`. Pointers may name two releases meanwhile; `Content-Location` says which. */
const REVALIDATED = 'public, max-age=60, must-revalidate'

/** The release of a URL path; undefined for its tombstone. */
export function releaseIn(urlPath: string): ReleaseName | undefined {
  return releaseOfPath(urlPath.slice(1))
}

export function isRevision(urlPath: string): boolean {
  return publishedPath(urlPath.slice(1)).cache === 'revision'
}

/** The `Cache-Control` of a published file by its URL path. `latest/x` is a pointer. */
export function cachePolicy(urlPath: string, { isSynthetic = false } = {}): string {
  const { cache } = publishedPath(urlPath.slice(1))
  const isImmutable = cache === 'hashed' || (cache !== 'pointer' && !isSynthetic)
  return isImmutable ? IMMUTABLE : REVALIDATED
}
