import { cacheControl, isDocument, mediaType } from '../../pipeline/contract/published-paths.ts'
import type { Validators } from './conditional.ts'
import type { Representation } from './public-files.ts'

/** The `Cache-Control` of a published file by its URL path. `latest/x` is a pointer. */
export function cachePolicy(urlPath: string, { isSynthetic = false } = {}): string {
  return cacheControl(urlPath.slice(1), { isSynthetic })
}

export interface StaticAnswer extends Validators {
  size: number
  /** Sent with a 304 too. */
  headers: Record<string, string>
  contentHeaders: Record<string, string>
}

export interface SmallAnswer extends StaticAnswer {
  content: Buffer
  bytes: number
}

/** Bytes. Fits every page and most polled files; the data is larger. */
export const LARGEST_SMALL_FILE = 256 * 1024

const BYTES_OF_HEADERS = 2000

/** Headers of every document: hide the referrer, and isolate the page from its opener. */
export const DOCUMENT_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** Documents load only files of this site. Pages say so too, except for framing, which needs a header. */
const pagePolicy = (ancestors: string) =>
  `default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors ${ancestors}; object-src 'none'`

export const DOCUMENT_POLICIES = { 'content-security-policy': pagePolicy("'self'"), ...DOCUMENT_HEADERS }

/** Other sites may show charts in frames. Such a page has nothing that could be clicked in the name of a person. */
const EMBEDDED_POLICIES = { ...DOCUMENT_POLICIES, 'content-security-policy': pagePolicy('*') }

function policiesOf(urlPath: string, path: string): Record<string, string> {
  if (!isDocument(path)) return {}
  return urlPath === '/embed.html' ? EMBEDDED_POLICIES : DOCUMENT_POLICIES
}

/** Describes the answer for a file. `location` is the path of the file itself, if links led to it. */
export function describeFile(
  urlPath: string,
  file: Representation,
  { location, isSynthetic }: { location: string | undefined; isSynthetic: boolean },
): StaticAnswer {
  const { path, size, etag, modified, contentHash, coding, hasOther } = file
  return {
    etag,
    modified,
    size,
    headers: {
      'cache-control': cachePolicy(urlPath, { isSynthetic }),
      etag,
      'last-modified': modified.toUTCString(),
      'accept-ranges': 'bytes',
      // Isolated pages may load the data too.
      'cross-origin-resource-policy': 'cross-origin',
      ...(location === undefined ? {} : { 'content-location': location }),
      ...(contentHash === undefined ? {} : { 'x-content-hash': contentHash }),
      ...(hasOther ? { vary: 'Accept-Encoding' } : {}),
    },
    contentHeaders: {
      'content-type': mediaType(path),
      ...policiesOf(urlPath, path),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    },
  }
}

/** Reads a small file. Throws if it is shorter than its tagged size. */
export async function readSmall(answer: StaticAnswer, { handle, path, size }: Representation): Promise<SmallAnswer> {
  const content = Buffer.alloc(size)
  const { bytesRead } = await handle.read(content, 0, size, 0)
  if (bytesRead !== size) throw new Error(`${path} was cut while it was read`)
  return { ...answer, content, bytes: size + BYTES_OF_HEADERS }
}
