import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalidRequest } from '../base/errors.ts'

/**
 * Accepts only JSON bodies. Fastify's own parser also accepts plain text and broken UTF-8, and rejects keys such as
 * `__proto__`, which are harmless here because stored values are never merged.
 */
export function acceptJsonAlone(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (coding !== '' && coding !== 'identity') throw new ApiError(415, 'The body must not be compressed')
    return parseJson(body)
  })
  // Still read up to the limit: a body that is too large is 413, whatever its type (API.md § Order of checks).
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => {
    throw new ApiError(415, 'The content type must be application/json')
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8'
    throw invalidRequest([{ path: '', message: `the body must be JSON: ${reason}` }])
  }
}
