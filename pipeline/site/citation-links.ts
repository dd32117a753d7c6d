import { type Html, html } from '../contract/html.ts'
import type { Resource } from '../contract/manifest.ts'
import { CITATION_FORMATS } from '../release/documents/document-kinds.ts'
import { commaSeparated } from './elements.ts'

/** Links to the citation of a release in each format that it has: early releases have fewer. */
export function citationLinks(files: readonly Resource[], folder = ''): Html {
  const paths = new Set(files.map(({ path }) => path))
  const links = Object.entries(CITATION_FORMATS)
    .filter(([, path]) => paths.has(path))
    .map(([format, path]) => html`<a href="${folder}${path}">${format}</a>`)
  return links.length === 0 ? html`` : html`<p>The citation as a file: ${commaSeparated(links)}.</p>\n`
}
