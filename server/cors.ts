import type { FastifyReply } from 'fastify'

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

const PREFLIGHT_SECONDS = 86_400

/** Lets pages of any origin read the answer (API.md § Limits, keys, access). Cookies are never used. */
export function allowAnyOrigin(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS })
}

/** What a browser asks for before a request with an Authorization header: no key is needed to ask. */
export function allowPreflight(reply: FastifyReply, methods: string[]): void {
  reply.headers({
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
  })
}
