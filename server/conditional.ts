const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** Whether an `If-None-Match` header names `etag`: a list, `*`, weak comparison (RFC 9110 § 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(ENTITY_TAG) ?? []
  return tags.some((tag) => withoutWeakness(tag) === withoutWeakness(etag))
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '')
}
