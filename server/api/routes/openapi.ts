import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { assetTag } from '../../../pipeline/contract/asset-tag.ts'
import { API_PAGE_PATH } from '../../../pipeline/contract/published-paths.ts'
import { remembered } from '../../base/remembered.ts'
import type { CurrentRelease } from '../../published/current-release.ts'
import { CONTENT_TYPE_OF } from '../../published/formats.ts'
import type { SiteFrame } from '../../published/site-frame.ts'
import { DOCUMENT_HEADERS } from '../../published/static-answers.ts'
import { type MadeText, madeText, sendMadeText } from '../made-text.ts'
import type { OpenApiDocument } from '../openapi/document.ts'
import { DESCRIPTION_PATH, DOCS_PATH, type PathPrefix, serviceLinks } from '../service-links.ts'

/** The page loads its script, its styles and an icon from this server, and asks this server alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HTML = 'text/html; charset=utf-8'

const browserFile = (name: string) => readFile(new URL(`../openapi/browser/${name}`, import.meta.url), 'utf8')

/** Files that the page loads. Node strips the types, so nothing has to be built. */
const ASSETS = [
  { name: 'docs.css', contentType: 'text/css; charset=utf-8', read: () => browserFile('docs.css') },
  {
    name: 'docs.js',
    contentType: 'text/javascript; charset=utf-8',
    read: async () => stripTypeScriptTypes(await browserFile('docs.ts')),
  },
]

interface OpenApi {
  releases: Pick<CurrentRelease, 'dataset'>
  /** The frame of the published site, in which the page is shown. */
  frame: () => Promise<SiteFrame>
  prefix: PathPrefix
}

/** `/openapi.json` and its page `/docs`, without a key. Generated on first use, because it takes about 30 ms. */
export function openApi(app: FastifyInstance, { releases, frame, prefix }: OpenApi): void {
  const document = once(async () => (await import('../openapi/document.ts')).openApiDocument())
  const json = once(async () => madeText(JSON.stringify(below(prefix, await document()))))
  const assets = ASSETS.map(({ read, ...asset }) => ({ ...asset, text: once(read) }))
  const pages = remembered<MadeText>(1)
  const link = serviceLinks(prefix)

  /** Equal for everyone. With the request's Host in it, a cached page could show others a forged address. */
  async function page(): Promise<MadeText> {
    const { stamp, wrap } = await frame()
    const publisher = releases.dataset()?.manifest.publisher
    return await pages(JSON.stringify([stamp, publisher]), async () => {
      const { docsPage } = await import('../openapi/page/page.ts')
      const loaded = await Promise.all(
        assets.map(async ({ name, text }) => assetTag(name, hash('sha384', await text(), 'base64'))),
      )
      // Relative links hold below any path.
      return await madeText(wrap(docsPage(await document(), publisher, loaded), ''))
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
      return sendMadeText(request, reply, HTML, await page())
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
  for (const { name, contentType, text } of assets) {
    const made = once(async () => madeText(await text()))
    app.route({
      method: ['GET', 'HEAD'],
      url: `/${name}`,
      handler: async (request, reply) => sendMadeText(request, reply, contentType, await made()),
    })
  }
}

/** The page does not need it, because its links are relative. */
function below(prefix: PathPrefix, document: OpenApiDocument): OpenApiDocument {
  return { ...document, servers: document.servers.map(({ url }) => ({ url: prefix + url })) }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
