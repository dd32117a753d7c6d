import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { API_PAGE_PATH } from '../../../pipeline/contract/published-paths.ts'
import { remembered } from '../../base/remembered.ts'
import type { CurrentRelease } from '../../published/current-release.ts'
import { CONTENT_TYPE_OF } from '../../published/negotiation.ts'
import type { SiteFrame } from '../../published/site-frame.ts'
import { DOCUMENT_HEADERS } from '../../published/static-answers.ts'
import { type MadeText, madeText, sendMadeText } from '../made-text.ts'
import type { OpenApiDocument } from '../openapi/document.ts'

const DESCRIPTION_PATH = '/openapi.json'
const DOCS_PATH = '/docs'
const CATALOG_PATH = '/.well-known/api-catalog'

/** Where programs and people find the description of the API: `Link` with the relations of RFC 8631 and RFC 9727. */
export function serviceLinks(prefix: string): string {
  return [
    `<${prefix}${DESCRIPTION_PATH}>; rel="service-desc"; type="application/json"`,
    `<${prefix}${DOCS_PATH}>; rel="service-doc"; type="text/html"`,
    `<${prefix}${CATALOG_PATH}>; rel="api-catalog"`,
  ].join(', ')
}

/** The catalogue of the APIs of this host, in the form of RFC 9264. Relative to the host, whose name proxies may change. */
function apiCatalog(prefix: string) {
  return {
    linkset: [
      {
        anchor: `${prefix}/api/v1`,
        'service-desc': [{ href: prefix + DESCRIPTION_PATH, type: 'application/json' }],
        'service-doc': [{ href: prefix + DOCS_PATH, type: 'text/html' }],
        status: [{ href: `${prefix}/readyz`, type: 'application/json' }],
      },
    ],
  }
}

const CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The page loads the styles and the icon of the published site, and nothing else. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface OpenApi {
  releases: Pick<CurrentRelease, 'dataset'>
  /** The frame of the published site, in which the page is shown. */
  frame: () => Promise<SiteFrame>
  prefix: string
}

/**
 * `/openapi.json`, its page `/docs`, and the catalogue that leads to both, without a key. Made on first use, because that
 * takes about 30 ms.
 */
export function openApi(app: FastifyInstance, { releases, frame, prefix }: OpenApi): void {
  const texts = remembered<MadeText>(2)
  const pages = remembered<MadeText>(1)
  const documents = remembered<OpenApiDocument>(1)
  const link = serviceLinks(prefix)

  function serve(url: string, contentType: string, text: () => Promise<MadeText>, headers = {}): void {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      async handler(request, reply) {
        reply.headers({ ...headers, link })
        return sendMadeText(request, reply, contentType, await text())
      },
    })
  }

  async function describe(): Promise<OpenApiDocument> {
    const document = (await import('../openapi/document.ts')).openApiDocument()
    return { ...document, servers: document.servers.map(({ url }) => ({ url: prefix + url })) }
  }

  const document = () => documents('', describe)
  const json = () => texts('json', async () => madeText(JSON.stringify(await document())))

  /** Equal for everyone. Relative links hold below any path. */
  async function page(): Promise<MadeText> {
    const { stamp, wrap } = await frame()
    const publisher = releases.dataset()?.manifest.publisher
    return await pages(JSON.stringify([stamp, publisher]), async () => {
      const { docsPage } = await import('../openapi/page.ts')
      return await madeText(wrap(docsPage(await document(), publisher), ''))
    })
  }

  serve(DESCRIPTION_PATH, CONTENT_TYPE_OF.json, json)
  serve(DOCS_PATH, 'text/html; charset=utf-8', page, { ...DOCUMENT_HEADERS, 'content-security-policy': POLICY })
  const catalog = `${JSON.stringify(apiCatalog(prefix), undefined, 2)}\n`
  serve(CATALOG_PATH, CATALOG_TYPE, () => texts('catalog', () => madeText(catalog)))
  // The published page at this address is for hosts without a server.
  for (const url of [`/${API_PAGE_PATH}`, `${DOCS_PATH}/`]) {
    const handler: RouteHandlerMethod = async (_request, reply) => reply.redirect(`..${DOCS_PATH}`, 301)
    app.route({ method: ['GET', 'HEAD'], url, handler })
  }
}
