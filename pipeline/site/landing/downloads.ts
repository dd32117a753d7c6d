import { CHECKSUMS_FILE } from '../../base/checksums.ts'
import { formatInteger } from '../../base/numbers.ts'
import { prose } from '../../base/prose.ts'
import { type Html, html } from '../../contract/html.ts'
import { DATASET_PATH } from '../../contract/manifest.ts'
import { HISTORY_FILES, HISTORY_PATHS, LATEST_PATH, POINTER_PATH } from '../../contract/published-paths.ts'
import { siteUrl } from '../../contract/site-url.ts'
import type { FileDescription } from '../../release/documents/files.ts'
import { bytesElement, folded, scrollable } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'

const HASH_SHOWN = 12

export function downloadsSection({ dataset, release }: SiteFacts): Html {
  const sums = html`<a href="${release}${CHECKSUMS_FILE}">${CHECKSUMS_FILE}</a>`
  const table = html`<table>
<caption>Files of release ${dataset.release}. They never change. Their full hashes are in ${sums}.</caption>
<thead><tr><th scope="col">File</th><th scope="col">What it is</th><th scope="col" class="number">Size</th><th scope="col" class="number">Rows</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
${dataset.files.map((file) => fileRow(file, release))}</tbody>
</table>
`
  return html`<section>
<h2 id="download">Download</h2>
${folded(`All ${dataset.files.length} files of the newest release`, html`${scrollable('Files', table)}${addresses(dataset)}`)}</section>
`
}

/** The addresses that stay the same from release to release. */
function addresses({ tables, end_date, publisher }: SiteFacts['dataset']): Html {
  const link = (path: string, text = path) => html`<a href="${path}">${text}</a>`
  const latest = (file: string) => link(`${LATEST_PATH}/${file}`, `latest/${file}`)
  const periods = html`<li>Weeks and months, which are tables of their own: ${latest('rankings-weekly.csv')}, ${latest('rankings-monthly.csv')}</li>\n`
  return html`<p>To ask in SQL, paste this into <a href="https://duckdb.org">DuckDB</a>: <code>FROM '${siteUrl(publisher, `${LATEST_PATH}/rankings-daily.parquet`)}';</code></p>
<p>These addresses stay the same:</p>
<ul>
<li>The newest release: ${latest('rankings-daily.parquet')}, ${latest('rankings-daily.csv')}; its name is in ${link(POINTER_PATH, 'latest.json')}</li>
${tables === undefined ? html`` : periods}<li>One day or one month: <code>${DATASET_PATH}/daily/${end_date}.csv</code>, <code>${DATASET_PATH}/monthly/${end_date.slice(0, 7)}.csv</code>, or <code>.parquet</code></li>
<li>All folders and files: ${link(`${DATASET_PATH}/index.html`, `${DATASET_PATH}/`)}</li>
<li>What every release said, in one table: ${link(HISTORY_PATHS.parquet, HISTORY_FILES.parquet)}, ${link(HISTORY_PATHS.csv, HISTORY_FILES.csv)}</li>
</ul>
`
}

function fileRow({ path, title, bytes, rows, sha256 }: FileDescription, release: string): Html {
  const count = rows === undefined ? '' : formatInteger(rows)
  return html`<tr><th scope="row"><a href="${release}${path}" download>${path}</a></th><td>${prose(title)}</td><td class="number">${bytesElement(bytes)}</td><td class="number">${count}</td><td><code title="${sha256}">${sha256.slice(0, HASH_SHOWN)}…</code></td></tr>\n`
}
