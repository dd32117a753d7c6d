import type { FastifyReply, FastifyRequest } from 'fastify'

const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Allow',
  'Content-Encoding',
  'Content-Length',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Link',
  'RateLimit-Limit',
  'RateLimit-Policy',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Attribution',
  'X-Content-Hash',
  'X-Dataset-End-Date',
  'X-Request-Id',
].join(', ')

/**
 * Headers of every response, after its id and before its own. Pages of any origin may read responses: the API
 * has no cookies. Responses to a key are private to its workspace, so by default nothing is cached.
 */
const COMMON = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}

/** Headers of a response without its id, made once for many: names and values in turn, as `writeHead` takes them. */
export interface Head {
  common: readonly string[]
  own: readonly string[]
}

/** The head with these headers, in their order. They may replace common ones. */
export function headOf(headers: Readonly<Record<string, string>>): Head {
  const lines = linesOf({ ...COMMON, ...headers })
  const end = 2 * Object.keys(COMMON).length
  return { common: lines.slice(0, end), own: lines.slice(end) }
}

export function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat()
}

/** The value of `access-control-expose-headers` with which pages may read these headers, too. */
export function exposed(names: readonly string[]): string {
  return [EXPOSED_HEADERS, ...names].join(', ')
}

/** Sets the common headers of a response that Fastify sends. Its own come after them or replace them. */
export function setCommonHeaders({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader('x-request-id', id)
  for (const [name, value] of Object.entries(COMMON)) raw.setHeader(name, value)
}
