import type { IncomingHttpHeaders } from 'node:http'

/** Identifies one state of a file: a strong tag of its bytes, and when it was written. */
export interface Validators {
  etag: string
  modified: Date
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** Whether `If-None-Match`, a list of tags or `*`, matches `etag`. The comparison is weak (RFC 9110 § 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  return tagsOf(ifNoneMatch).some((tag) => withoutWeakness(tag) === withoutWeakness(etag))
}

/** Whether the request is for another state of the file. The answer is then 412 (RFC 9110 § 13.1.1, 13.1.4, 13.2.2). */
export function isForAnotherState(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined) return ifMatch.trim() !== '*' && !tagsOf(ifMatch).includes(etag)
  return wholeSeconds(modified) > parseHttpDate(headers['if-unmodified-since'])
}

/** Whether the client already has this state of the file. The time is less exact, so it counts only without a tag. */
export function isNotModified(headers: IncomingHttpHeaders, { etag, modified }: Validators): boolean {
  if (headers['if-none-match'] !== undefined) return matchesEtag(headers['if-none-match'], etag)
  return wholeSeconds(modified) <= parseHttpDate(headers['if-modified-since'])
}

/** Whether the file is still the one that the client has a part of (`If-Range`, RFC 9110 § 13.1.5). */
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

/**
 * Milliseconds since 1970, or NaN if the text is not a date: every comparison with NaN is false. One of the three forms
 * of an HTTP date names no time zone: it is GMT.
 */
function parseHttpDate(text = ''): number {
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

function wholeSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000) * 1000
}

export interface ByteRange {
  start: number
  end: number
}

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i

/** Reads a `Range` header (RFC 9110 § 14.2). `undefined` means the whole file: no, broken or several ranges. */
export function parseByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return undefined
  if (Number(first) >= size) return 'unsatisfiable'
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
