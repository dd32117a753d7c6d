import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { API_PAGE_PATH } from '../../../pipeline/contract/published-paths.ts'
import { CONTENT_TYPE_OF } from '../../published/formats.ts'
import { DOCUMENT_HEADERS } from '../../published/static-answers.ts'
import { madeText, sendMadeText } from '../made-text.ts'
import { DESCRIPTION_PATH, DOCS_PATH, type PathPrefix, serviceLinks } from '../service-links.ts'

/** The page needs no scripts and no other server, so allow nothing else. */
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const STYLE = new URL('../openapi/docs.css', import.meta.url)

/** `/openapi.json` and its page `/docs`, without a key. Generated on first use, because it takes about 30 ms. */
export function openApi(app: FastifyInstance, { prefix }: { prefix: PathPrefix }): void {
  const document = once(async () => (await import('../openapi/document.ts')).openApiDocument())
  const json = once(async () => madeText(JSON.stringify(await document())))
  // Equal for everyone. With the request's Host in it, a cached page could show others a forged address.
  const page = once(async () => madeText((await import('../openapi/page.ts')).docsPage(await document())))
  const style = once(async () => madeText(await readFile(STYLE, 'utf8')))
  const link = serviceLinks(prefix)

  app.route({
    method: ['GET', 'HEAD'],
    url: DESCRIPTION_PATH,
    async handler(request, reply) {
      reply.header('link', link)
      return sendMadeText(request, reply, CONTENT_TYPE_OF.json, await json())
    },
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: DOCS_PATH,
    async handler(request, reply) {
      reply.headers({ ...DOCUMENT_HEADERS, 'content-security-policy': POLICY, link })
      return sendMadeText(request, reply, 'text/html; charset=utf-8', await page())
    },
  })
  // The published page at this address is for hosts without a server.
  for (const url of [`/${API_PAGE_PATH}`, `${DOCS_PATH}/`]) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (_request, reply) => reply.redirect(`..${DOCS_PATH}`, 301),
    })
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs.css',
    handler: async (request, reply) => sendMadeText(request, reply, 'text/css; charset=utf-8', await style()),
  })
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
