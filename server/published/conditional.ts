import type { IncomingHttpHeaders } from 'node:http'

export interface Validators {
  etag: string
  modified: Date
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** True if `If-None-Match` names `etag`: a list, `*`, weak comparison (RFC 9110 § 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  return tagsOf(ifNoneMatch).some((tag) => withoutWeakness(tag) === withoutWeakness(etag))
}

/** True if the request must fail with 412 (RFC 9110 § 13.1.1, 13.1.4, 13.2.2). */
export function isForAnotherState(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined) return ifMatch.trim() !== '*' && !tagsOf(ifMatch).includes(etag)
  return wholeSeconds(modified) > parseHttpDate(headers['if-unmodified-since'])
}

/** True for a 304. A time is less exact than a tag, so it counts only without a tag (RFC 9110 § 13.2.2). */
export function isNotModified(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  if (headers['if-none-match'] !== undefined) return matchesEtag(headers['if-none-match'], etag)
  return wholeSeconds(modified) <= parseHttpDate(headers['if-modified-since'])
}

/** True if the range belongs to the current file (`If-Range`, RFC 9110 § 13.1.5). */
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

/** Milliseconds; NaN, which compares as false, for an invalid date. The asctime form has no zone. */
function parseHttpDate(text = ''): number {
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

function wholeSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000) * 1000
}
