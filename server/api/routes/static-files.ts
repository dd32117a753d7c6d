import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { releasePath } from '../../../pipeline/contract/manifest.ts'
import { ApiError } from '../../base/errors.ts'
import {
  type ByteRange,
  isForAnotherState,
  isNotModified,
  isRangeCurrent,
  parseByteRange,
} from '../../published/conditional.ts'
import type { Answer } from '../../published/dataset.ts'
import type { ErrorPages } from '../../published/error-pages.ts'
import type { fileMemory } from '../../published/file-memory.ts'
import { dropped, withdrawn } from '../../published/gone.ts'
import { prefersGzip, prefersPage } from '../../published/negotiation.ts'
import type { Found, PublicFiles, Representation } from '../../published/public-files.ts'
import {
  cachePolicy,
  DOCUMENT_POLICIES,
  describeFile,
  LARGEST_SMALL_FILE,
  readSmall,
  type SmallAnswer,
  type StaticAnswer,
} from '../../published/static-answers.ts'
import type { IsSynthetic } from '../../published/synthetic-files.ts'
import { type Head, headOf, linesOf, sendFromMemory, sendUnchanged } from '../send.ts'
import { serviceLinks } from './openapi.ts'

interface StaticFiles {
  files: PublicFiles
  memory: ReturnType<typeof fileMemory<SmallFile>>
  isSynthetic: IsSynthetic
  errorPages: ErrorPages
  prefix: string
}

/**
 * Serves `PUBLIC_DIR` at `/`: small files from memory, others as streams. Not with `@fastify/static`, which only knows
 * weak tags of size and time and opens a file again after `stat`: a switch in between would mix two releases. Returns the
 * handler, for routes that answer like a file.
 */
export function staticFiles(app: FastifyInstance, options: StaticFiles): RouteHandlerMethod {
  const { files, memory, isSynthetic, errorPages, prefix } = options

  const handler: RouteHandlerMethod = (request, reply) => {
    const [path = '/', query] = request.url.split(/\?(.*)/s, 2)
    const gzip = wishesGzip(request)
    const name = `${gzip ? 'gzip' : ''} ${path}`
    const known = memory.recall(name)
    return known === undefined
      ? sendFromDisk(request, reply, { path, query, gzip, name })
      : sendSmall(request, reply, known)
  }
  app.route({ method: ['GET', 'HEAD'], url: '/*', handler })
  return handler

  async function sendFromDisk(
    request: FastifyRequest,
    reply: FastifyReply,
    { path, query, gzip, name }: { path: string; query: string | undefined; gzip: boolean; name: string },
  ): Promise<FastifyReply> {
    const synthetic = await isSynthetic(path)
    const sight = memory.look(path)
    const found = await files.find(path)
    if (found.kind === 'nothing' || found.kind === 'withdrawn' || found.kind === 'dropped') {
      return await refuse(request, reply, { path, found })
    }
    if (found.kind === 'folder') {
      reply.header('cache-control', cachePolicy(path, { isSynthetic: synthetic }))
      return reply.redirect(`${prefix}${path}/${query === undefined ? '' : `?${query}`}`, 301)
    }
    const file = await files.open(found.path, gzip)
    if (file === undefined) return await refuse(request, reply, { path, found: { kind: 'nothing' } })
    const answer = describeFile(path, file, { location: found.location, isSynthetic: synthetic })
    if (path === '/') Object.assign(answer.headers, { link: serviceLinks(prefix) })
    if (file.size > LARGEST_SMALL_FILE) return await sendLarge(request, reply, answer, file)
    const small = withHeads(await readSmall(answer, file).finally(() => file.handle.close()))
    // Not synthetic files: once a real release replaces them, other cache headers apply.
    if (sight?.path === found.path && !synthetic) memory.keep(name, sight, small)
    sendSmall(request, reply, small)
    return reply
  }

  /** Sends the page for people. Throws the error for programs, also if there is no page. */
  async function refuse(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    { path, found }: { path: string; found: Refused },
  ): Promise<FastifyReply> {
    const error = errorOf(found)
    const page = await pageOf(found, path)
    if (page === undefined) throw error
    reply.header('vary', 'Accept')
    if (!prefersPage(headers.accept)) throw error
    // The links of the page of a withdrawn release are relative.
    if (found.kind === 'withdrawn' && !isInFolder(path, `/${releasePath(found.release)}/`)) {
      return reply.redirect(`${prefix}/${releasePath(found.release)}/`, 302)
    }
    reply.headers({ 'content-type': 'text/html; charset=utf-8', ...DOCUMENT_POLICIES })
    return reply.code(error.status).send(page)
  }

  function pageOf(found: Refused, path: string): Promise<string | undefined> {
    if (found.kind === 'dropped') return errorPages.dropped(found.file)
    return found.kind === 'withdrawn' ? errorPages.withdrawn(found.release) : errorPages.notFound(path)
  }
}

type Refused = Extract<Found, { kind: 'nothing' | 'withdrawn' | 'dropped' }>

function errorOf(found: Refused): ApiError {
  if (found.kind === 'dropped') return dropped(found.file)
  return found.kind === 'withdrawn' ? withdrawn(found.release) : new ApiError(404, 'Resource not found')
}

function isInFolder(path: string, folder: string): boolean {
  return path.startsWith(folder) && !path.slice(folder.length).includes('/')
}

/** A file in memory, with the heads of its answers. */
export interface SmallFile extends SmallAnswer {
  unchanged: Head
  whole: Head
}

function withHeads(answer: SmallAnswer): SmallFile {
  const { headers, contentHeaders } = answer
  return { ...answer, unchanged: headOf(headers), whole: headOf({ ...headers, ...contentHeaders }) }
}

function sendSmall(request: FastifyRequest, reply: FastifyReply, file: SmallFile): void {
  const part = partToSend(request, reply, file)
  if (part === 'none') {
    sendUnchanged(reply, file.unchanged)
  } else if (part === 'whole') {
    sendFromMemory(reply, 200, file.whole, answerOf(file.content))
  } else {
    const { common, own } = file.whole
    const head = { common, own: [...own, ...linesOf(contentRange(part, file))] }
    sendFromMemory(reply, 206, head, answerOf(file.content.subarray(part.start, part.end + 1)))
  }
}

function answerOf(content: Buffer): Answer {
  return { pieces: content.length === 0 ? [] : [content], bytes: content.length }
}

async function sendLarge(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StaticAnswer,
  { handle }: Representation,
): Promise<FastifyReply> {
  let part: ByteRange | 'whole' | 'none' = 'none'
  try {
    part = partToSend(request, reply, answer)
  } finally {
    // A stream closes the file itself, even if the client leaves.
    if (part === 'none' || request.method === 'HEAD') await handle.close()
  }
  reply.headers(answer.headers)
  if (part === 'none') return reply.code(304).send()
  reply.headers(answer.contentHeaders)
  if (part !== 'whole') reply.code(206).headers(contentRange(part, answer))
  const { start, end } = part === 'whole' ? { start: 0, end: answer.size - 1 } : part
  reply.header('content-length', end - start + 1)
  return reply.send(request.method === 'HEAD' ? undefined : handle.createReadStream({ start, end }))
}

function contentRange({ start, end }: ByteRange, { size }: StaticAnswer): Record<string, string> {
  return { 'content-range': `bytes ${start}-${end}/${size}` }
}

/** Ranges are always of the plain file: hardly any client can use a part of a compressed form. */
function wishesGzip({ headers }: FastifyRequest): boolean {
  return headers.range === undefined && prefersGzip(headers['accept-encoding'])
}

/** The bytes to send; none of a file that the client has. Conditions in the order of RFC 9110 § 13.2.2. */
function partToSend(request: FastifyRequest, reply: FastifyReply, answer: StaticAnswer): ByteRange | 'whole' | 'none' {
  if (isForAnotherState(request.headers, answer)) {
    throw new ApiError(412, 'The file has changed: its tag or time differ')
  }
  if (isNotModified(request.headers, answer)) return 'none'
  const range = wantedRange(request, answer)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${answer.size}`)
    throw new ApiError(416, `Range not satisfiable: the file has ${answer.size} bytes`)
  }
  return range ?? 'whole'
}

/** The requested range, only of GET and if `If-Range` matches the file. */
function wantedRange(request: FastifyRequest, answer: StaticAnswer): ByteRange | 'unsatisfiable' | undefined {
  if (request.method !== 'GET' || !isRangeCurrent(request.headers, answer)) return undefined
  return parseByteRange(request.headers.range, answer.size)
}
