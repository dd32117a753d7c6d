import { CHECKSUMS_FILE } from '../../base/checksums.ts'
import { formatInteger } from '../../base/numbers.ts'
import { prose } from '../../base/prose.ts'
import { type Html, html } from '../../contract/html.ts'
import { DATASET_PATH } from '../../contract/manifest.ts'
import { HISTORY_FILES, HISTORY_PATHS, LATEST_PATH, POINTER_PATH } from '../../contract/published-paths.ts'
import type { FileDescription } from '../../release/documents/files.ts'
import { bytesElement, scrollable } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'

const HASH_SHOWN = 12

export function downloadsSection({ dataset, release }: SiteFacts): Html {
  const sums = html`<a href="${release}${CHECKSUMS_FILE}">${CHECKSUMS_FILE}</a>`
  const table = html`<table>
<caption>Files of release ${dataset.release}. They never change; their whole hashes are in ${sums}.</caption>
<thead><tr><th scope="col">File</th><th scope="col">What it is</th><th scope="col" class="number">Size</th><th scope="col" class="number">Rows</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
${dataset.files.map((file) => fileRow(file, release))}</tbody>
</table>
`
  return html`<section>
<h2 id="download">Download</h2>
${scrollable('Files', table)}<p>Always the newest, at addresses that stay: <a href="${LATEST_PATH}/rankings-daily.parquet">latest/rankings-daily.parquet</a>, <a href="${LATEST_PATH}/rankings-daily.csv">latest/rankings-daily.csv</a>; which release that is says <a href="${POINTER_PATH}">latest.json</a>. Single days, and the days of a month: <code>${DATASET_PATH}/daily/${dataset.end_date}.csv</code>, <code>${DATASET_PATH}/monthly/${dataset.end_date.slice(0, 7)}.csv</code>, and the same as Parquet.${periods(dataset)} What each release said, in one table: <a href="${HISTORY_PATHS.parquet}">${HISTORY_FILES.parquet}</a>, <a href="${HISTORY_PATHS.csv}">${HISTORY_FILES.csv}</a>.</p>
</section>
`
}

function periods({ tables }: SiteFacts['dataset']): Html {
  if (tables === undefined) return html``
  const link = (file: string) => html`<a href="${LATEST_PATH}/${file}">latest/${file}</a>`
  return html` Weeks and months are not sums of these rows, but tables of their own: ${link('rankings-weekly.csv')}, ${link('rankings-monthly.csv')}.`
}

function fileRow({ path, title, bytes, rows, sha256 }: FileDescription, release: string): Html {
  const count = rows === undefined ? '' : formatInteger(rows)
  return html`<tr><th scope="row"><a href="${release}${path}" download>${path}</a></th><td>${prose(title)}</td><td class="number">${bytesElement(bytes)}</td><td class="number">${count}</td><td><code title="${sha256}">${sha256.slice(0, HASH_SHOWN)}…</code></td></tr>\n`
}
