import { html } from '../contract/html.ts'
import type { EntryTag } from './bundle.ts'
import { type ExploreFacts, sourceData } from './explore.ts'
import { htmlDocument, type Page } from './layout.ts'

const PATH = 'embed.html'

/** A chart alone, for frames on other sites. The URL says what it shows, as that of the explorer does. */
export function embedPage(facts: ExploreFacts, tag: EntryTag): Page {
  const { dataset } = facts
  const head = html`<meta name="robots" content="noindex">
<title>Chart – ${dataset.title}</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/site.css">
${tag('embed.ts')}`
  const body = html`<main id="embed" class="embed" ${sourceData(facts)}>
<h1 id="title">${dataset.title}</h1>
<div id="chart"></div>
<ul id="legend" class="legend" hidden></ul>
<ul id="notes" class="chart-notes"></ul>
<p id="credit" class="quiet">Loading the data …</p>
<noscript><p>This chart needs JavaScript. The <a href="index.html">overview</a> has charts without it.</p></noscript>
</main>
`
  return { path: PATH, text: htmlDocument(head, body).text }
}
