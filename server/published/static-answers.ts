import { cachePolicy } from './cache-policy.ts'
import type { Validators } from './conditional.ts'
import { DOCUMENT_HEADERS, isDocument, mediaType } from './media-types.ts'
import type { Representation } from './public-files.ts'

/** What is sent of a published file, in one coding, beside its bytes. */
export interface StaticAnswer extends Validators {
  size: number
  /** Of every answer but an error, a 304 too. */
  headers: Record<string, string>
  contentHeaders: Record<string, string>
}

/** The answer of a file so small that all of it is kept in memory. */
export interface SmallAnswer extends StaticAnswer {
  content: Buffer
  bytes: number
}

/** Every page of the site and nearly all that pages and programs ask for again and again; the data is larger. */
export const LARGEST_SMALL_FILE = 256 * 1024

const BYTES_OF_HEADERS = 2000

/** Documents load only files of this site. Pages say so too, except for framing, which needs a header. */
const PAGE_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; object-src 'none'"

/** `location` is the path of the file itself, where `urlPath` leads over links. */
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
      // Any page may use the data, also one that is isolated and then takes nothing that does not say this.
      'cross-origin-resource-policy': 'cross-origin',
      ...(location === undefined ? {} : { 'content-location': location }),
      ...(contentHash === undefined ? {} : { 'x-content-hash': contentHash }),
      ...(hasOther ? { vary: 'Accept-Encoding' } : {}),
    },
    contentHeaders: {
      'content-type': mediaType(path),
      ...(isDocument(path) ? { 'content-security-policy': PAGE_POLICY, ...DOCUMENT_HEADERS } : {}),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    },
  }
}

/** Reads a small file whole. Throws when it is being cut, which leaves no bytes that its tag is of. */
export async function readSmall(answer: StaticAnswer, { handle, path, size }: Representation): Promise<SmallAnswer> {
  const content = Buffer.alloc(size)
  const { bytesRead } = await handle.read(content, 0, size, 0)
  if (bytesRead !== size) throw new Error(`${path} was cut while it was read`)
  return { ...answer, content, bytes: size + BYTES_OF_HEADERS }
}
