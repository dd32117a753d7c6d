import { html } from '../contract/html.ts'
import type { Manifest } from '../contract/manifest.ts'
import { LISTING_PATH, NEAREST_MARK, NOT_FOUND_PATH } from '../contract/published-paths.ts'
import { siteUrl } from '../contract/site-url.ts'
import { type Page, renderPage } from './layout.ts'

/** `404.html`, which hosts send for any path: its links begin with the path of the publisher's URL. */
export function notFoundPage(manifest: Manifest): Page {
  const root = new URL(siteUrl(manifest.publisher, '')).pathname
  const main = html`<h1>Not found</h1>
<p>There is no page or file at this address.</p>
${NEAREST_MARK}
<form class="search" role="search" action="${root}models.html" method="get">
<label for="q">Find a model</label>
<input id="q" name="q" type="search" maxlength="200" required>
<button type="submit">Search</button>
</form>
<ul>
<li><a href="${root}index.html">Overview</a>: the newest day and all downloads</li>
<li><a href="${root}models.html">Models</a>: every model in the dataset</li>
<li><a href="${root}coverage.html">Coverage</a>: every day in the dataset</li>
<li><a href="${root}${LISTING_PATH}">Files</a>: every release, day, and month</li>
</ul>
`
  const content = { title: 'Not found', description: 'There is no page or file at this address.' }
  return renderPage({ path: NOT_FOUND_PATH, root, ...content, head: NOT_INDEXED, main }, manifest)
}

/** For pages that search engines should not list. */
export const NOT_INDEXED = html`<meta name="robots" content="noindex">\n`
