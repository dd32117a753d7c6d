import { html } from '../contract/html.ts'
import type { AssetNames } from './bundle.ts'
import { type ExploreFacts, sourceData } from './explore.ts'
import type { Page } from './layout.ts'

const PATH = 'embed.html'

/** A chart alone, for frames on other sites. The URL says what it shows, as that of the explorer does. */
export function embedPage(facts: ExploreFacts, assets: AssetNames): Page {
  const { dataset } = facts
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Chart – ${dataset.title}</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/site.css">
<script type="module" src="${assets['embed.ts'] ?? ''}"></script>
</head>
<body>
<main id="embed" class="embed" ${sourceData(facts)}>
<h1 id="title">${dataset.title}</h1>
<div id="chart"></div>
<ul id="legend" class="legend" hidden></ul>
<ul id="notes" class="chart-notes"></ul>
<p id="credit" class="quiet">Loading the data …</p>
<noscript><p>This chart needs JavaScript. The <a href="index.html">overview</a> has charts without it.</p></noscript>
</main>
</body>
</html>
`
  return { path: PATH, text: text.text }
}
