import type { FastifyInstance } from 'fastify'
import { madeText, sendMadeText } from '../made-text.ts'
import { apiCatalog, CATALOG_PATH, type PathPrefix, serviceLinks } from '../service-links.ts'

const CONTENT_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** `/.well-known/api-catalog` (RFC 9727), without a key: leads programs that know the host alone to the API. */
export function apiCatalogRoute(app: FastifyInstance, { prefix }: { prefix: PathPrefix }): void {
  const text = madeText(`${JSON.stringify(apiCatalog(prefix), undefined, 2)}\n`)
  app.route({
    method: ['GET', 'HEAD'],
    url: CATALOG_PATH,
    async handler(request, reply) {
      reply.header('link', serviceLinks(prefix))
      return sendMadeText(request, reply, CONTENT_TYPE, await text)
    },
  })
}
