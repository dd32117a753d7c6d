import { type Html, html } from '../contract/html.ts'
import { CITATION_FORMATS } from '../release/documents/document-kinds.ts'
import { commaSeparated } from './elements.ts'

/** Links to the citation of a release in each format that is among the files: early releases have fewer. */
export function citationLinks(files: readonly string[]): Html {
  const links = Object.entries(CITATION_FORMATS)
    .filter(([, path]) => files.includes(path))
    .map(([format, path]) => html`<a href="${path}">${format}</a>`)
  return links.length === 0 ? html`` : html`<p>The citation as a file: ${commaSeparated(links)}.</p>\n`
}
