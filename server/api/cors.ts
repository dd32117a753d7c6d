import type { FastifyReply, FastifyRequest } from 'fastify'

/** For preflights without headers. `*` would not include Authorization. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Range',
  'X-Session-Id',
].join(', ')

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

const PREFLIGHT_SECONDS = 86_400

/** Responds to a preflight, which needs no key. */
export function allowPreflight(request: FastifyRequest, reply: FastifyReply, methods: string[]): void {
  reply.headers({
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': requestedHeaders(request) ?? ALLOWED_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
    vary: 'Access-Control-Request-Headers',
  })
}

/** Allows any headers, since SDKs send their own. Without cookies, a page can do no more than a program. */
function requestedHeaders({ headers }: FastifyRequest): string | undefined {
  const names = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim())
  const sound = names.filter((name) => HEADER_NAME.test(name))
  return sound.length === 0 ? undefined : sound.join(', ')
}
