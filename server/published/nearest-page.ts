import { nearest } from '../../pipeline/contract/nearest.ts'

/** A page of a model or an author. */
export interface KnownPage {
  path: string
  kind: 'models' | 'authors'
  /** Such as `openai/gpt-4o`. */
  name: string
}

const LONGEST_WORD = 200

/** The pages that a sitemap lists. Its first address is that of the site. */
export function knownPages(sitemap = ''): KnownPage[] {
  const [site = '', ...addresses] = Array.from(sitemap.matchAll(/<loc>([^<]*)<\/loc>/g), ([, address = '']) => address)
  return addresses.flatMap((address) => pageAt(address.slice(site.length)) ?? [])
}

function pageAt(path: string): KnownPage | undefined {
  const [, kind, name = ''] = /^(models|authors)\/(.+)\.html$/.exec(path) ?? []
  return kind === undefined ? undefined : { path, kind: kind as KnownPage['kind'], name: readable(name) }
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
export function nearestPage(urlPath: string, pages: readonly KnownPage[]): KnownPage | undefined {
  const path = withoutSlashes(decodedIfAny(urlPath) ?? '').replace(/\.html?$/, '')
  const [, folder, word = ''] = /^(?:(models|authors)\/)?(.*)$/s.exec(path) ?? []
  if (word === '' || word.length > LONGEST_WORD) return undefined
  const nameOf = word.includes('/') ? ({ name }: KnownPage) => name : lastPartOf
  const likely = pages.filter(({ kind }) => folder === undefined || kind === folder)
  const found = nearest(word, likely.map(nameOf))
  return likely.find((page) => nameOf(page) === found)
}

function lastPartOf({ name }: KnownPage): string {
  return name.slice(name.lastIndexOf('/') + 1)
}
