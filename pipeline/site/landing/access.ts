import { type Html, html } from '../../contract/html.ts'
import { API_FILES, API_PAGE_PATH, CATALOG_FILE } from '../../contract/published-paths.ts'
import { folded } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'

export function accessSection({ dataset }: SiteFacts): Html {
  const query = `GET /api/v1/datasets/rankings-daily?start_date=${dataset.start_date}&end_date=${dataset.end_date}`
  return html`<section>
<h2 id="api">For programs</h2>
${folded(
  'API, feeds and catalog',
  html`<dl class="access">
<div><dt>API</dt><dd><a href="${API_FILES.rankings_daily}">${API_FILES.rankings_daily}</a> has the newest days as JSON, on any host. Where the API runs, ask it for any dates with a key: <code>${query}</code>. <a href="${API_PAGE_PATH}">All operations</a></dd></div>
<div><dt>Feeds</dt><dd><a href="feed.atom">Atom</a> and <a href="feed.json">JSON Feed</a> announce each release and restatement.</dd></div>
<div><dt>Catalog</dt><dd><a href="${CATALOG_FILE}">${CATALOG_FILE}</a> lists all published files with sizes and hashes, and when to look again. <a href="llms.txt">llms.txt</a> tells language models the same.</dd></div>
<div><dt>Embeddings models</dt><dd><a href="${API_FILES.embeddings_models}">${API_FILES.embeddings_models}</a> lists the embeddings models of the gateway.</dd></div>
</dl>
`,
)}</section>
`
}
