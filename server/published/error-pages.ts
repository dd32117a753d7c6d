import { join } from 'node:path'
import { type Html, html } from '../../pipeline/contract/html.ts'
import { type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { NEAREST_MARK, NOT_FOUND_PATH } from '../../pipeline/contract/published-paths.ts'
import { fingerprint } from '../base/followed-file.ts'
import { readIfAny } from '../base/json-file.ts'
import { remembered } from '../base/remembered.ts'
import { type DroppedFile, droppedPage } from './dropped.ts'
import { type KnownPage, knownPages, nearestPage } from './nearest-page.ts'

/** Published pages for people who ask for what is not there. Undefined if an older version published the folder. */
export interface ErrorPages {
  /** For a path of the API too, there is none. */
  notFound(urlPath: string): Promise<string | undefined>
  withdrawn(release: ReleaseName): Promise<string | undefined>
  dropped(file: DroppedFile): Promise<string>
}

const SITEMAP = 'sitemap.xml'
const API = '/api/'
const MOST_REMEMBERED = 10

export function errorPages(publicDir: string): ErrorPages {
  const texts = remembered<string | undefined>(MOST_REMEMBERED)
  const pages = remembered<readonly KnownPage[]>(1)

  /** The text of a file, cached until it is replaced. */
  async function textOf(path: string): Promise<string | undefined> {
    const place = join(publicDir, path)
    const stamp = await fingerprint(place)
    if (stamp === undefined) return undefined
    return await texts(`${stamp} ${path}`, async () => (await readIfAny(place))?.toString())
  }

  async function nearest(urlPath: string): Promise<KnownPage | undefined> {
    const stamp = await fingerprint(join(publicDir, SITEMAP))
    if (stamp === undefined) return undefined
    const known = await pages(stamp, async () => knownPages((await readIfAny(join(publicDir, SITEMAP)))?.toString()))
    return nearestPage(urlPath, known)
  }

  return {
    async notFound(urlPath) {
      if (urlPath.startsWith(API)) return undefined
      const page = await textOf(NOT_FOUND_PATH)
      if (page === undefined) return undefined
      const link = linkTo(await nearest(urlPath)).text
      // Not as a string: names may hold `$&`.
      return atRoot(page).replace(NEAREST_MARK.text, () => link)
    },
    async dropped(file) {
      const { title, main } = droppedPage(file)
      const page = await textOf(NOT_FOUND_PATH)
      return page === undefined ? barePage(title, main) : withMain(atRoot(page), title, main)
    },
    withdrawn: (release) => textOf(`${releasePath(release)}/index.html`),
  }
}

/** The page with links from the root of this server. As published, they begin with the path of the publisher's URL. */
function atRoot(page: string): string {
  const [, root = '/'] = /<link rel="stylesheet" href="([^"]*)assets\//.exec(page) ?? []
  return page.replaceAll(`="${root}`, '="/')
}

/** The page with another content. */
function withMain(page: string, title: string, main: Html): string {
  return page
    .replaceAll(/<(meta (name="description"|property="og:|name="twitter:)|link rel="canonical")[^>]*>\n/g, '')
    .replace(/<title>.*?<\/title>/s, () => html`<title>${title}</title>`.text)
    .replace(/(<main\b[^>]*>).*<\/main>/s, (_, begin: string) => `${begin}\n${main.text}</main>`)
}

function barePage(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body>
${main}</body>
</html>
`.text
}

function linkTo(page: KnownPage | undefined): Html {
  return page === undefined ? html`` : html`<p>Did you mean <a href="/${page.path}">${page.name}</a>?</p>`
}
