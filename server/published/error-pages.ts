import { join } from 'node:path'
import { type Html, html } from '../../pipeline/contract/html.ts'
import { type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { NEAREST_MARK } from '../../pipeline/contract/published-paths.ts'
import { fingerprint } from '../base/followed-file.ts'
import { readIfAny } from '../base/json-file.ts'
import { remembered } from '../base/remembered.ts'
import { type DroppedFile, droppedPage } from './dropped.ts'
import { type KnownPage, knownPages, nearestPage } from './nearest-page.ts'
import type { SiteFrame } from './site-frame.ts'

/** Published pages for people who ask for what is not there. Undefined if nothing is published. */
export interface ErrorPages {
  /** For a path of the API too, there is none. */
  notFound(urlPath: string): Promise<string | undefined>
  withdrawn(release: ReleaseName): Promise<string | undefined>
  dropped(file: DroppedFile): Promise<string>
}

const SITEMAP = 'sitemap.xml'
const API = '/api/'
const MOST_REMEMBERED = 10

/** Their links begin with `prefix`, the path of this server for its clients, because they are sent for any path. */
export function errorPages(publicDir: string, frame: () => Promise<SiteFrame>, prefix: string): ErrorPages {
  const root = `${prefix}/`
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
      const page = (await frame()).notFound(root)
      if (page === undefined) return undefined
      const link = linkTo(await nearest(urlPath), root).text
      // Not as a string: names may hold `$&`.
      return page.replace(NEAREST_MARK.text, () => link)
    },
    dropped: async (file) => (await frame()).wrap(droppedPage(file, root), root),
    withdrawn: (release) => textOf(`${releasePath(release)}/index.html`),
  }
}

function linkTo(page: KnownPage | undefined, root: string): Html {
  return page === undefined ? html`` : html`<p>Did you mean <a href="${root}${page.path}">${page.name}</a>?</p>`
}
