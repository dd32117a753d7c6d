import { join } from 'node:path'
import { type Html, html } from '../../pipeline/contract/html.ts'
import { type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { nearest } from '../../pipeline/contract/nearest.ts'
import { NEAREST_MARK } from '../../pipeline/contract/published-paths.ts'
import { readIfAny, readWhenReplaced } from '../base/json-file.ts'
import { sharing } from '../base/remembered.ts'
import { type DroppedFile, droppedPage } from './gone.ts'
import type { SiteFrame } from './site-frame.ts'

export type ErrorPages = ReturnType<typeof errorPages>

const SITEMAP = 'sitemap.xml'
const API = '/api/'

/**
 * Error pages for people, in the frame of the published site. Undefined if nothing is published. Their links begin with
 * `prefix`, the path of this server for its clients, because they are sent for any path.
 */
export function errorPages(publicDir: string, frame: () => Promise<SiteFrame>, prefix: string) {
  const root = `${prefix}/`
  const readingOnce = sharing<string | undefined>()
  const pages = readWhenReplaced(join(publicDir, SITEMAP), (bytes) => knownPages(bytes.toString()))

  return {
    /** For a path of the API too, there is none. */
    async notFound(urlPath: string): Promise<string | undefined> {
      if (urlPath.startsWith(API)) return undefined
      const page = (await frame()).notFound(root)
      if (page === undefined) return undefined
      const link = linkTo(nearestPage(urlPath, (await pages()) ?? []), root).text
      // Not as a string: names may hold `$&`.
      return page.replace(NEAREST_MARK.text, () => link)
    },
    dropped: async (file: DroppedFile): Promise<string> => (await frame()).wrap(droppedPage(file, root), root),
    withdrawn: (release: ReleaseName): Promise<string | undefined> =>
      readingOnce(release, async () => {
        return (await readIfAny(join(publicDir, releasePath(release), 'index.html')))?.toString()
      }),
  }
}

function linkTo(page: KnownPage | undefined, root: string): Html {
  return page === undefined ? html`` : html`<p>Did you mean <a href="${root}${page.path}">${page.name}</a>?</p>`
}

/** A page of a model. */
interface KnownPage {
  path: string
  /** Such as `openai/gpt-4o`. */
  name: string
}

const LONGEST_WORD = 200

/** The pages that a sitemap lists. Its first address is that of the site. */
function knownPages(sitemap: string): KnownPage[] {
  const [site = '', ...addresses] = Array.from(sitemap.matchAll(/<loc>([^<]*)<\/loc>/g), ([, address = '']) => address)
  return addresses.flatMap((address) => pageAt(address.slice(site.length)) ?? [])
}

function pageAt(path: string): KnownPage | undefined {
  const [, name] = /^models\/(.+)\.html$/.exec(path) ?? []
  return name === undefined ? undefined : { path, name: readable(name) }
}

/** Undoes the escapes of a path: `=3a` is a colon. */
function readable(name: string): string {
  return decodedIfAny(name.replaceAll('=', '%')) ?? name
}

function decodedIfAny(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Without empty parts. A pattern for the slashes at the end would take a time that grows with the square of the path. */
function withoutSlashes(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '')
    .join('/')
}

/** The page that a person who asked for this path may have meant. */
function nearestPage(urlPath: string, pages: readonly KnownPage[]): KnownPage | undefined {
  const word = withoutSlashes(decodedIfAny(urlPath) ?? '').replace(/^models\/|\.html?$/g, '')
  if (word === '' || word.length > LONGEST_WORD) return undefined
  const nameOf = word.includes('/') ? ({ name }: KnownPage) => name : lastPartOf
  const found = nearest(word, pages.map(nameOf))
  return pages.find((page) => nameOf(page) === found)
}

function lastPartOf({ name }: KnownPage): string {
  return name.slice(name.lastIndexOf('/') + 1)
}
