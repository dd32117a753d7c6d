import type { ReadStream } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DATASET_PATH } from '../../pipeline/contract/manifest.ts'
import { type ByteRange, parseByteRange } from '../byte-range.ts'
import { matchesEtag } from '../conditional.ts'
import { ApiError } from '../errors.ts'
import { mediaType } from '../media-types.ts'
import type { OpenFile, PublicFiles } from '../public-files.ts'

const OF_A_RELEASE = new RegExp(`^/${DATASET_PATH}/releases/\\d{8}T\\d{6}Z/`)

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
      if (found.kind === 'folder') return reply.redirect(query === undefined ? `${path}/` : `${path}/?${query}`, 301)
      const file = await files.open(found.path)
      let body: ReadStream | undefined
      try {
        body = prepareAnswer(request, reply, file)
      } finally {
        // A stream closes the file by itself, also when the client goes away.
        if (body === undefined) await file.handle.close()
      }
      return reply.send(body)
    },
  })
}

/** Sets status and headers; returns the body, undefined where there is none to send. */
function prepareAnswer(request: FastifyRequest, reply: FastifyReply, file: OpenFile): ReadStream | undefined {
  reply.headers({
    etag: file.etag,
    'last-modified': file.modified.toUTCString(),
    'cache-control': cachePolicy(request.url),
    'accept-ranges': 'bytes',
  })
  if (isNotModified(request, file)) {
    reply.code(304)
    return undefined
  }
  const range = wantedRange(request, file)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`)
    throw new ApiError(416, `Range not satisfiable: the file has ${file.size} bytes`)
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  reply.headers({ 'content-type': mediaType(file.path), 'content-length': end - start + 1 })
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${file.size}`)
  return request.method === 'HEAD' || file.size === 0 ? undefined : file.handle.createReadStream({ start, end })
}

/** Releases never change; everything else may with the next one. The path decides, as `latest` leads to a release. */
function cachePolicy(url: string): string {
  return OF_A_RELEASE.test(url) ? 'public, max-age=31536000, immutable' : 'public, max-age=60, must-revalidate'
}

/** `If-None-Match` alone counts where it is given: a tag is exact, a time is not (RFC 9110 § 13.2.2). */
function isNotModified({ headers }: FastifyRequest, file: OpenFile): boolean {
  if (headers['if-none-match'] !== undefined) return matchesEtag(headers['if-none-match'], file.etag)
  return Date.parse(headers['if-modified-since'] ?? '') >= wholeSeconds(file.modified)
}

/** The part asked for, unless the file is no longer the one of which the client has the rest (`If-Range`). */
function wantedRange(request: FastifyRequest, file: OpenFile): ByteRange | 'unsatisfiable' | undefined {
  const ifRange = request.headers['if-range']
  const isCurrent = ifRange === undefined || ifRange === file.etag || ifRange === file.modified.toUTCString()
  return request.method === 'GET' && isCurrent ? parseByteRange(request.headers.range, file.size) : undefined
}

function wholeSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000) * 1000
}
