import type { FastifyInstance } from 'fastify'
import { API_PAGE_PATH } from '../../../pipeline/contract/published-paths.ts'
import { remembered } from '../../base/remembered.ts'
import type { CurrentRelease } from '../../published/current-release.ts'
import { CONTENT_TYPE_OF } from '../../published/negotiation.ts'
import type { SiteFrame } from '../../published/site-frame.ts'
import { DOCUMENT_HEADERS } from '../../published/static-answers.ts'
import { type MadeText, madeText, sendMadeText } from '../made-text.ts'
import { DESCRIPTION_PATH, DOCS_PATH, type PathPrefix, serviceLinks } from '../service-links.ts'

/** The page loads the styles and the icon of the published site, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface OpenApi {
  releases: Pick<CurrentRelease, 'dataset'>
  /** The frame of the published site, in which the page is shown. */
  frame: () => Promise<SiteFrame>
  prefix: PathPrefix
}

/** `/openapi.json` and its page `/docs`, without a key. Generated on first use, because it takes about 30 ms. */
export function openApi(app: FastifyInstance, { releases, frame, prefix }: OpenApi): void {
  const made = remembered<MadeText>(2)
  const document = async () => (await import('../openapi/document.ts')).openApiDocument()
  const link = serviceLinks(prefix)

  async function json(): Promise<MadeText> {
    return await made('json', async () => {
      const described = await document()
      const servers = described.servers.map(({ url }) => ({ url: prefix + url }))
      return await madeText(JSON.stringify({ ...described, servers }))
    })
  }

  /** Equal for everyone. Relative links hold below any path. */
  async function page(): Promise<MadeText> {
    const { stamp, wrap } = await frame()
    const publisher = releases.dataset()?.manifest.publisher
    return await made(JSON.stringify([stamp, publisher]), async () => {
      const { docsPage } = await import('../openapi/page.ts')
      return await madeText(wrap(docsPage(await document(), publisher), ''))
    })
  }

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
}
