import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../../published/conditional.ts'
import { CONTENT_TYPE_OF } from '../../published/forms.ts'
import { DOCUMENT_HEADERS } from '../../published/media-types.ts'

/** Plain files and no scripts: the page works without a network beyond this server, and nothing can be put into it. */
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const STYLE = new URL('../openapi/docs.css', import.meta.url)

/**
 * `/openapi.json`, and `/docs` that shows it to people. Neither needs a key. Loaded and made when first asked for: that
 * takes some 30 ms, which no start should wait for.
 */
export function openApi(app: FastifyInstance): void {
  const document = once(async () => (await import('../openapi/document.ts')).openApiDocument())
  const json = once(async () => JSON.stringify(await document()))
  // The same for everyone: a page that repeated the Host of a request would show others, out of a cache, commands with
  // whatever somebody sent as that.
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
