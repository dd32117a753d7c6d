import { type Html, html } from '../contract/html.ts'
import {
  API_FILES,
  API_PAGE_PATH,
  CATALOG_FILE,
  COVERAGE_PATH,
  HISTORY_PATHS,
  LATEST_PATH,
} from '../contract/published-paths.ts'
import { PERIOD_TABLES, tablesIn } from '../contract/tables.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'

/**
 * `docs/index.html`: what the API is, for hosts that have the files alone. A server has its own page for this address, on
 * which each operation can be tried.
 */
export function apiPage({ manifest }: SiteFacts): Page {
  const path = API_PAGE_PATH
  const root = rootFrom(path)
  const main = html`<h1>API</h1>
<p class="lead">The API answers questions to this dataset: any dates, models, authors, weeks or months, as JSON, CSV or NDJSON.
It needs a server. This host has only files, so nothing answers here.</p>
<section aria-labelledby="files">
<h2 id="files">Answers as files</h2>
<p>These files need no key and no server. They say what operations of the API answer.</p>
${answersList(root, manifest)}</section>
<section aria-labelledby="server">
<h2 id="server">With a server</h2>
<p>Ask ${manifest.publisher.name} (${manifest.publisher.contact}) whether there is a server of this dataset, and for a key.
Its page <code>/docs</code> describes every operation.</p>
<p>You can also run a server of your own over a copy of these files, with Tokenboard, the program that made them:</p>
<pre tabindex="0" role="region" aria-label="Running a server"><code>make serve PUBLIC_DIR=/path/to/the/copy
make key</code></pre>
</section>
`
  const description = 'What the API answers, which of its answers are files, and how to run a server.'
  return renderPage({ path, title: 'API', description, main }, manifest)
}

function answersList(root: string, manifest: SiteFacts['manifest']): Html {
  const link = (path: string) => html`<a href="${root}${path}">${path}</a>`
  const periods = PERIOD_TABLES.filter((table) => tablesIn(manifest).includes(table))
  const answers: [operation: string, answer: Html][] = [
    ['/datasets/rankings-daily', link(API_FILES.rankings_daily)],
    ['/datasets/rankings-daily?format=csv&start_date=2025-01-01', link(`${LATEST_PATH}/rankings-daily.csv`)],
    ...periods.map((table): [string, Html] => [
      `/datasets/rankings-daily?period=${table === 'weekly' ? 'week' : 'month'}&format=csv`,
      link(`${LATEST_PATH}/rankings-${table}.csv`),
    ]),
    ['/datasets/rankings-daily?as_of=…', link(HISTORY_PATHS.parquet)],
    ['/datasets/rankings-daily/info', html`${link(CATALOG_FILE)}, ${link(COVERAGE_PATH)}`],
    ['/embeddings/models', link(API_FILES.embeddings_models)],
  ]
  return html`<dl class="access">
${answers.map(([operation, answer]) => html`<div><dt><code>GET ${operation}</code></dt><dd>${answer}</dd></div>\n`)}</dl>
`
}
