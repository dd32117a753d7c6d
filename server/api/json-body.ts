import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalidRequest } from '../base/errors.ts'

/**
 * Makes JSON the one content type of bodies, read as it is: Fastify's own parser takes plain text too, refuses keys
 * such as `__proto__`, which are harmless in what is stored and never merged, and lets broken UTF-8 pass.
 */
export function acceptJsonAlone(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (coding !== '' && coding !== 'identity') throw new ApiError(415, 'The body must not be compressed')
    return parseJson(body)
  })
  // Read up to the limit all the same: what is too large is 413, whatever its type (API.md § Order of checks).
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
