import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalidRequest } from '../base/errors.ts'

/** 300,000 keys, or two million lists, would block the server for a second: they fit into a body, but not into a request. */
export const MOST_KEYS = 20_000
export const MOST_CONTAINERS = 100_000

/**
 * Accepts only JSON bodies. Fastify's own parser also accepts plain text and broken UTF-8, and rejects keys such as
 * `__proto__`, which are harmless here because stored values are never merged.
 */
export function acceptJsonAlone(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (coding !== '' && coding !== 'identity') throw new ApiError(415, 'The body must not be compressed')
    requireCheap(body)
    return parseJson(body)
  })
  // Still read up to the limit: a body that is too large is 413, whatever its type.
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

/** Throws a 400 if the body is large in a way that blocks the server, before anything is parsed. */
function requireCheap(bytes: Buffer): void {
  if (bytes.length <= MOST_KEYS) return
  const { keys, containers } = measure(bytes)
  const faults = [
    ...(keys > MOST_KEYS ? [`must have at most ${MOST_KEYS} keys, at all depths together`] : []),
    ...(containers > MOST_CONTAINERS
      ? [`must have at most ${MOST_CONTAINERS} lists and objects, at all depths together`]
      : []),
  ]
  if (faults.length > 0) throw invalidRequest(faults.map((fault) => ({ path: '', message: `the body ${fault}` })))
}

const [QUOTE, BACKSLASH, COLON] = Buffer.from('"\\:')
const [BRACKET, BRACE] = Buffer.from('[{')

/** The keys of JSON text, repeated ones included, and its lists and objects. Each key has a colon outside of strings. */
function measure(bytes: Buffer): { keys: number; containers: number } {
  let keys = 0
  let containers = 0
  let isInString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (isInString && byte === BACKSLASH) index++
    else if (byte === QUOTE) isInString = !isInString
    else if (isInString) continue
    else if (byte === COLON) keys++
    else if (byte === BRACKET || byte === BRACE) containers++
  }
  return { keys, containers }
}
