import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { prose } from '../base/prose.ts'
import { doiUrl } from '../contract/doi.ts'
import { type Html, html } from '../contract/html.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import {
  API_FILES,
  API_PAGE_PATH,
  CATALOG_FILE,
  HISTORY_FILES,
  HISTORY_PATHS,
  LATEST_PATH,
  METADATA_FILES,
  POINTER_PATH,
} from '../contract/published-paths.ts'
import { siteUrl } from '../contract/site-url.ts'
import { renderBibtex } from '../release/documents/bibtex.ts'
import { citationSentence } from '../release/documents/citation.ts'
import { restatementList } from './changelog.ts'
import { copyable, folded } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { citationLinks, fileTable } from './release-page.ts'
import { table } from './table.ts'

export function citingSection({ dataset }: SiteFacts): Html {
  const { license, attribution } = dataset
  return html`<section>
<h2 id="cite">How to cite</h2>
${copyable('citation', 'the citation', citationSentence(dataset))}${conceptDoi(dataset)}${folded(
  'BibTeX and other formats',
  html`<h3>BibTeX</h3>
${copyable('bibtex', 'the BibTeX entry', renderBibtex(dataset).trimEnd())}${citationLinks(METADATA_FILES)}`,
)}<p>Share and adapt the data under <a href="${license.path}" rel="license">${license.title}</a>, also commercially. Give credit with this line:</p>
${copyable('attribution', 'the attribution', attribution)}</section>
`
}

function conceptDoi({ concept_doi }: SiteFacts['dataset']): Html {
  if (concept_doi === undefined) return html``
  const url = doiUrl(concept_doi)
  return html`<p>All releases together: <a href="${url}">${url}</a></p>\n`
}

export function columnsSection({ dataset }: SiteFacts): Html {
  const rows = dataset.fields.map(({ name, sql_type, json_type, unit, description, example }) => [
    html`<code>${name}</code>`,
    html`<code>${sql_type}</code>`,
    json_type,
    unit,
    prose(description),
    html`<code>${example}</code>`,
  ])
  const caption = 'The columns of the daily table. One row is one model on one UTC day; no value is ever missing'
  const columns = table(caption, { words: ['Column', 'Type', 'In JSON', 'Unit', 'Meaning', 'Example'] }, rows)
  return html`<section>
<h2 id="columns">Columns</h2>
${folded(
  dataset.fields.map(({ name }) => name).join(', '),
  html`${columns}<p>Rows are ordered by date and then by tokens, most first. Models with equal tokens are in the order of their code points. <code>other</code> comes last.${dataset.tables === undefined ? '' : PERIOD_COLUMNS}</p>
`,
)}</section>
`
}

const PERIOD_COLUMNS = html` Weeks and months have one more column: <code>days</code>, the number of dates that were summed. Their <code>date</code> is the first date of the week or month.`

export function limitationsSection({ dataset }: SiteFacts): Html {
  return html`<section>
<h2 id="limitations">Limitations</h2>
${folded(
  `Read all ${dataset.caveats.length}: ${dataset.caveats.map(({ name }) => name).join(', ')}`,
  html`<dl class="limitations">
${dataset.caveats.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${prose(text)}</dd></div>\n`)}</dl>
`,
)}</section>
`
}

const EVIDENCE = [
  { path: 'manifest.json', about: 'every file with its size and hash' },
  { path: 'provenance.json', about: 'what it was made from and with' },
  { path: 'quality.json', about: 'what was counted, rejected and excluded' },
  { path: 'changes.csv', about: 'every daily row that differs from the previous release' },
  { path: 'datapackage.json', about: 'the description for Frictionless tools' },
  { path: 'croissant.json', about: 'the description for machine learning tools' },
  { path: 'dcat.jsonld', about: 'the description for data catalogs' },
] as const

export function methodSection({ dataset, manifest, release }: SiteFacts): Html {
  const paths = new Set(['manifest.json', ...manifest.files.map(({ path }) => path)])
  const evidence = EVIDENCE.filter(({ path }) => paths.has(path))
  return html`<section>
<h2 id="method">How it is made</h2>
${folded(
  'The method and its evidence',
  html`<p>${prose(dataset.method)}</p>
<ul>
${evidence.map(({ path, about }) => html`<li><a href="${release}${path}">${path}</a>: ${about}</li>\n`)}</ul>
<p>Content hash, the same for every format: <code class="hash">${dataset.content_hash}</code></p>
`,
)}</section>
`
}

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

export function downloadsSection({ dataset, release }: SiteFacts): Html {
  const sums = html`<a href="${release}${CHECKSUMS_FILE}">${CHECKSUMS_FILE}</a>`
  const files = fileTable(`Files of release ${dataset.release}. They never change.`, dataset.files, release)
  return html`<section>
<h2 id="download">Download</h2>
${folded(`All ${dataset.files.length} files of the newest release`, html`${files}<p>${sums} has their hashes, to check them all.</p>\n${addresses(dataset)}`)}</section>
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
${tables === undefined ? html`` : periods}<li>One day: <code>${DATASET_PATH}/daily/${end_date}.json</code>; the days of a month: <code>${DATASET_PATH}/monthly/${end_date.slice(0, 7)}.csv</code>, or <code>.parquet</code></li>
<li>All folders and files: ${link(`${DATASET_PATH}/index.html`, `${DATASET_PATH}/`)}</li>
<li>What every release said, in one table: ${link(HISTORY_PATHS.parquet, HISTORY_FILES.parquet)}, ${link(HISTORY_PATHS.csv, HISTORY_FILES.csv)}</li>
</ul>
`
}

const RESTATEMENTS_TOLD = 5

export function historySection(facts: SiteFacts): Html {
  const newest = facts.restatements.slice(-RESTATEMENTS_TOLD).reverse()
  return html`<section>
<h2 id="history">What has changed</h2>
<p>Restatements change a number that was final. ${newest.length === 0 ? 'There were none.' : 'These are the newest.'} The <a href="changelog.html">changelog</a> has every release.</p>
${newest.length === 0 ? html`` : restatementList(newest, facts, 'index.html')}</section>
`
}
