import type { IncomingHttpHeaders } from 'node:http'

/** What tells one state of a file from another: a strong tag of its bytes, and when it was written. */
export interface Validators {
  etag: string
  modified: Date
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** Whether an `If-None-Match` header names `etag`: a list, `*`, weak comparison (RFC 9110 § 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  return tagsOf(ifNoneMatch).some((tag) => withoutWeakness(tag) === withoutWeakness(etag))
}

/** Whether the request is for another state of the file, which is a 412 (RFC 9110 § 13.1.1, 13.1.4, 13.2.2). */
export function isForAnotherState(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined) return ifMatch.trim() !== '*' && !tagsOf(ifMatch).includes(etag)
  return wholeSeconds(modified) > parseHttpDate(headers['if-unmodified-since'])
}

/** Whether the client has the file as it is. A tag is exact, a time is not, so it counts only where there is no tag. */
export function isNotModified(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  if (headers['if-none-match'] !== undefined) return matchesEtag(headers['if-none-match'], etag)
  return wholeSeconds(modified) <= parseHttpDate(headers['if-modified-since'])
}

/** Whether a range is still one of the file of which the client has the rest (`If-Range`, RFC 9110 § 13.1.5). */
export function isRangeCurrent(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  const ifRange = headers['if-range']
  return ifRange === undefined || ifRange === etag || ifRange === modified.toUTCString()
}

function tagsOf(list: string): string[] {
  return list.match(ENTITY_TAG) ?? []
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '')
}

/** Milliseconds; NaN, which compares as false, for what is no date. The oldest of the three forms names no zone. */
function parseHttpDate(text = ''): number {
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

function wholeSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000) * 1000
}
