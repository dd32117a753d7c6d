import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { cacheControl, publishedPath, releaseOfPath } from '../../pipeline/contract/published-paths.ts'

/** The release of a URL path; undefined for its tombstone. */
export function releaseIn(urlPath: string): ReleaseName | undefined {
  return releaseOfPath(urlPath.slice(1))
}

export function isRevision(urlPath: string): boolean {
  return publishedPath(urlPath.slice(1)).cache === 'revision'
}

/** The `Cache-Control` of a published file by its URL path. `latest/x` is a pointer. */
export function cachePolicy(urlPath: string, { isSynthetic = false } = {}): string {
  return cacheControl(urlPath.slice(1), { isSynthetic })
}
