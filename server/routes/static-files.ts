import type { ReadStream } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ByteRange, parseByteRange } from '../byte-range.ts'
import { cachePolicy } from '../cache-policy.ts'
import { isForAnotherState, isNotModified, isRangeCurrent } from '../conditional.ts'
import { ApiError } from '../errors.ts'
import { isDocument, mediaType } from '../media-types.ts'
import { prefersGzip } from '../negotiation.ts'
import type { PublicFiles, Representation } from '../public-files.ts'
import { withdrawn } from '../tombstone.ts'

/** What pages say of themselves too, for hosts that send no headers: they load what the site has, and nothing else. */
const PAGE_POLICY = "default-src 'self'"

/**
 * Serves `PUBLIC_DIR` at `/`.
 *
 * Not `@fastify/static`: it and the `@fastify/send` below it compare conditional and range requests with a weak tag of
 * their own making, made of size and time, which cannot be replaced by one of the bytes; and they open a file anew after
 * they measured it, so that a switch of releases in between tears the answer.
 */
export function staticFiles(app: FastifyInstance, files: PublicFiles): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    async handler(request, reply) {
      const [path = '/', query] = request.url.split(/\?(.*)/s, 2)
      const found = await files.find(path)
      if (found.kind === 'nothing') throw new ApiError(404, 'Resource not found')
      if (found.kind === 'withdrawn') throw withdrawn(found.release)
      reply.header('cache-control', cachePolicy(path))
      if (found.kind === 'folder') return reply.redirect(query === undefined ? `${path}/` : `${path}/?${query}`, 301)
      const file = await files.open(found.path, { gzip: wishesGzip(request) })
      let body: ReadStream | undefined
      try {
        body = prepareAnswer(request, reply, file, found.location)
      } finally {
        // A stream closes the file by itself, also when the client goes away.
        if (body === undefined) await file.handle.close()
      }
      return reply.send(body)
    },
  })
}

/** Of a part of a gzip hardly any client makes sense, so parts are always parts of the plain file. */
function wishesGzip({ headers }: FastifyRequest): boolean {
  return headers.range === undefined && prefersGzip(headers['accept-encoding'])
}

/**
 * Sets status and headers; returns the body, undefined where there is none to send. The conditions are judged in the
 * order of RFC 9110 § 13.2.2.
 */
function prepareAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  file: Representation,
  location: string | undefined,
): ReadStream | undefined {
  if (isForAnotherState(request.headers, file)) throw new ApiError(412, 'The file has changed: its tag or time differ')
  const isUnchanged = isNotModified(request.headers, file)
  const range = isUnchanged ? undefined : wantedRange(request, file)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`)
    throw new ApiError(416, `Range not satisfiable: the file has ${file.size} bytes`)
  }
  reply.headers({
    etag: file.etag,
    'last-modified': file.modified.toUTCString(),
    'accept-ranges': 'bytes',
    ...(location === undefined ? {} : { 'content-location': location }),
    ...(file.contentHash === undefined ? {} : { 'x-content-hash': file.contentHash }),
    ...(file.hasOther ? { vary: 'Accept-Encoding' } : {}),
  })
  if (isUnchanged) {
    reply.code(304)
    return undefined
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  reply.headers({ 'content-type': mediaType(file.path), 'content-length': end - start + 1 })
  if (isDocument(file.path)) reply.header('content-security-policy', PAGE_POLICY)
  if (file.coding !== undefined) reply.header('content-encoding', file.coding)
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${file.size}`)
  return request.method === 'HEAD' || file.size === 0 ? undefined : file.handle.createReadStream({ start, end })
}

/** The part asked for: of GET alone, and while the file is the one of which the client has the rest. */
function wantedRange(request: FastifyRequest, file: Representation): ByteRange | 'unsatisfiable' | undefined {
  if (request.method !== 'GET' || !isRangeCurrent(request.headers, file)) return undefined
  return parseByteRange(request.headers.range, file.size)
}
