import { type Doi, doiUrl } from './doi.ts'
import { type Manifest, type Publisher, type ReleaseName, releasePath } from './manifest.ts'
import { oneLine } from './one-line.ts'
import { siteUrl } from './site-url.ts'

/** What a sentence that cites a release names. */
interface CitedRelease {
  author: string
  /** Four digits. */
  year: string
  title: string
  release: string
  data_version: string
  /** The page of the release, or its DOI as an address. */
  url: string
}

/** The citation of a release for people, in the order of APA: Author (year). Title [Data set]. Address. */
export function citationText({ author, year, title, release, data_version, url }: CitedRelease): string {
  return `${oneLine(author)} (${year}). ${oneLine(title)}, release ${release}, data version ${data_version} [Data set]. ${url}`
}

/** The title of the dataset: a synthetic one says so. */
export function titleOf({ publisher, synthetic }: Pick<Manifest, 'publisher' | 'synthetic'>): string {
  return synthetic ? `${publisher.title} (synthetic sample)` : publisher.title
}

/** The address of a release's own page at the publisher. It never changes. */
export function pageOf(publisher: Publisher, release: ReleaseName): string {
  return siteUrl(publisher, `${releasePath(release)}/`)
}

/** Where a citation of a release leads: to its DOI, or to its page if it has none. */
export function citedAt({ publisher, release }: Pick<Manifest, 'publisher' | 'release'>, doi: Doi | undefined): string {
  return doi === undefined ? pageOf(publisher, release) : doiUrl(doi)
}
