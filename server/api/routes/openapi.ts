import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../../published/conditional.ts'
import { CONTENT_TYPE_OF } from '../../published/formats.ts'
import { DOCUMENT_HEADERS } from '../../published/static-answers.ts'

/** The page needs no scripts and no other server, so allow nothing else. */
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const STYLE = new URL('../openapi/docs.css', import.meta.url)

/** `/openapi.json` and its page `/docs`, without a key. Generated on first use, because it takes about 30 ms. */
export function openApi(app: FastifyInstance): void {
  const document = once(async () => (await import('../openapi/document.ts')).openApiDocument())
  const json = once(async () => JSON.stringify(await document()))
  // Equal for everyone. With the request's Host in it, a cached page could show others a forged address.
  const page = once(async () => (await import('../openapi/page.ts')).docsPage(await document()))

  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: async (request, reply) => send(request, reply, CONTENT_TYPE_OF.json, await json()),
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs',
    async handler(request, reply) {
      reply.headers({ ...DOCUMENT_HEADERS, 'content-security-policy': POLICY })
      return send(request, reply, 'text/html; charset=utf-8', await page())
    },
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs.css',
    handler: async (request, reply) => send(request, reply, 'text/css; charset=utf-8', await readFile(STYLE, 'utf8')),
  })
}

function send(request: FastifyRequest, reply: FastifyReply, contentType: string, body: string): FastifyReply {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  reply.headers({ etag, 'cache-control': 'no-cache' })
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type(contentType).send(body)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
