import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { formatInteger } from '../base/numbers.ts'
import { prose } from '../base/prose.ts'
import type { TableChanges } from '../contract/change-log.ts'
import { deriveCommand, historyQuery } from '../contract/history-table.ts'
import { Html, html } from '../contract/html.ts'
import {
  DATASET_PATH,
  type Manifest,
  type ReleaseEntry,
  type ReleaseName,
  type Resource,
  releasePath,
} from '../contract/manifest.ts'
import { HISTORY_FILES, HISTORY_PATHS } from '../contract/published-paths.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { MANIFEST_FILE, QUALITY_FILE } from '../contract/release-files.ts'
import type { BandedQuality } from '../dataset/banded-quality.ts'
import type { PublicQuality } from '../dataset/records.ts'
import { renderBibtex } from '../release/documents/bibtex.ts'
import { citationSentence } from '../release/documents/citation.ts'
import { type DatasetDescription, describeDataset } from '../release/documents/describe.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { CITATION_FORMATS, documentKind } from '../release/documents/document-kinds.ts'
import { FILE_KINDS } from '../release/documents/files.ts'
import { countsInWords, inWords } from '../release/documents/record-counts.ts'
import { schemaOrgDataset, toScriptJson } from '../release/documents/schema-org.ts'
import type { TextFile } from '../release/stage.ts'
import { chartFile } from './chart.ts'
import { bytesElement, commaSeparated, instantElement } from './elements.ts'
import { renderPage, rootFrom } from './layout.ts'
import { recentChart, recentDays } from './recent.ts'
import { whatChanged } from './release-changes.ts'
import { factList, table } from './table.ts'

export const CHART_FILE = 'chart.svg'
export const PAGE_FILE = 'index.html'

/** `chart.svg` of a release: its last 90 days. */
export function releaseChart(rows: readonly RankingRow[]): TextFile {
  const chart = recentChart(recentDays(rows), 'recent')
  return { path: CHART_FILE, media_type: 'image/svg+xml', text: chartFile(chart) }
}

export interface ReleaseFacts {
  rows: readonly RankingRow[]
  changes: TableChanges
  /** Undefined for a release that was made of published rows alone. */
  quality: PublicQuality | BandedQuality | undefined
}

/** `index.html` of a release. It never changes, so it says nothing of later releases. */
export function releasePage(manifest: Manifest, facts: ReleaseFacts): TextFile {
  const { release, start_date, end_date, as_of } = manifest
  const path = `${releasePath(release)}/${PAGE_FILE}`
  const root = rootFrom(path)
  const dataset = describeDataset(manifest)
  const main = html`<h1>Release ${release}</h1>
<p>${dataset.title}: ${dataset.description} This release never changes. Whether there is a newer one, or this one was withdrawn,
the <a href="${root}changelog.html">changelog</a> says; the <a href="${root}index.html">overview</a> shows the newest.</p>
${factList([
  ['As of', instantElement(as_of)],
  ['Data version', dataset.data_version],
  ['Days', formatInteger(manifest.days), `${start_date} to ${end_date}`],
  ['Rows', formatInteger(manifest.rows)],
  ...(isRuled(manifest) ? [] : [['Provisional from', manifest.provisional_from] as const]),
])}<p>Content hash: <code>${manifest.content_hash}</code></p>
<figure>
<img src="${CHART_FILE}" alt="Tokens per day of the eight models with the most tokens, and of all others, up to ${end_date}" width="960" height="440">
<figcaption>The numbers are in the files below. <a href="${CHART_FILE}">This picture alone</a></figcaption>
</figure>
<section aria-labelledby="files">
<h2 id="files">Files</h2>
${fileTable('Files of this release', manifest.files)}<p>To check them all: <code>sha256sum --check ${CHECKSUMS_FILE}</code>. <a href="${MANIFEST_FILE}">${MANIFEST_FILE}</a> has the same for
programs, and <a href="${CHECKSUMS_FILE}">${CHECKSUMS_FILE}</a> its hash too.</p>
<p>The files <code>rankings-*</code> of a release may be dropped once it is old. Then ${fromHistory(release, path)}</p>
</section>
<section aria-labelledby="changes">
<h2 id="changes">What changed</h2>
${whatChanged(manifest, facts, root)}</section>
${disclosureOf(dataset.disclosure)}<section aria-labelledby="quality">
<h2 id="quality">Quality</h2>
${qualityOf(facts.quality)}</section>
<section aria-labelledby="cite">
<h2 id="cite">How to cite it</h2>
<p>${citationSentence(dataset)}</p>
<pre tabindex="0" role="region" aria-label="BibTeX"><code>${renderBibtex(dataset).trimEnd()}</code></pre>
${citationLinks(manifest.files.map(({ path }) => path))}<p>The license asks for this line wherever the data is used: ${manifest.attribution}</p>
</section>
`
  const title = `Release ${release}`
  const description = `${dataset.title}, release ${release}: ${start_date} to ${end_date}, as of ${as_of}.`
  const structured = new Html(toScriptJson(schemaOrgDataset(dataset, '')))
  const head = html`<script type="application/ld+json">${structured}</script>\n`
  return {
    path: PAGE_FILE,
    media_type: 'text/html; charset=utf-8',
    text: renderPage({ path, title, description, head, main }, manifest).text,
  }
}

function disclosureOf(disclosure: DatasetDescription['disclosure']): Html {
  if (disclosure === undefined) return html``
  return html`<section aria-labelledby="disclosure">
<h2 id="disclosure">${disclosure.caveat.name}</h2>
<p>${prose(disclosure.caveat.text)}</p>
</section>
`
}

/** Files of a release, with links from the page that has them in `folder`. */
export function fileTable(caption: string, files: readonly Resource[], folder = ''): Html {
  const rows = files.map(({ path, bytes, rows, sha256 }) => [
    html`<a href="${folder}${path}">${path}</a>`,
    prose(FILE_KINDS[path]?.title ?? documentKind(path)?.title ?? ''),
    html`<code class="hash">${sha256}</code>`,
    bytesElement(bytes),
    rows === undefined ? '' : formatInteger(rows),
  ])
  return table(caption, { words: ['File', 'What it is', 'SHA-256'], numbers: ['Size', 'Rows'] }, rows)
}

function qualityOf(quality: PublicQuality | BandedQuality | undefined): Html {
  if (quality === undefined) return html`<p>This release was made of published rows, not of records.</p>\n`
  return 'days' in quality ? exactQuality(quality) : bandedQuality(quality)
}

function bandedQuality({ records }: BandedQuality): Html {
  return html`${table(
    'Records of public usage, and those that were set aside',
    { words: ['Records'], numbers: ['How many'] },
    countsInWords(records),
  )}<p>Exact counts could tell about single customers. <a href="${QUALITY_FILE}">${QUALITY_FILE}</a> has the same for programs.</p>
`
}

function exactQuality({ records, warnings }: PublicQuality): Html {
  const contradictory = Object.entries(records.token_parts_disagree).map(
    ([reason, count]) =>
      [`counted, although its token counts contradict each other: ${inWords(reason)}`, count] as const,
  )
  const rows = [...countsInWords({ ...records }), ...contradictory].filter(([, count]) => count !== 0)
  const found = warnings.map(({ date, finding }) => html`<li>${date === undefined ? '' : `${date}: `}${finding}</li>\n`)
  return html`${table(
    'Records of public usage, and those that were set aside',
    { words: ['Records'], numbers: ['How many'] },
    rows.map(([name, count]) => [name, formatInteger(count)]),
  )}${
    found.length === 0
      ? html`<p>The checks found nothing unusual.</p>\n`
      : html`<p>The checks warn:</p>\n<ul>\n${found}</ul>\n`
  }<p><a href="${QUALITY_FILE}">${QUALITY_FILE}</a> has the counts of each day.</p>
`
}

/** Links to the citation of a release in each format that is among the files: early releases have fewer. */
export function citationLinks(files: readonly string[]): Html {
  const links = Object.entries(CITATION_FORMATS)
    .filter(([, path]) => files.includes(path))
    .map(([format, path]) => html`<a href="${path}">${format}</a>`)
  return links.length === 0 ? html`` : html`<p>The citation as a file: ${commaSeparated(links)}.</p>\n`
}

/** How to read a release whose data files are gone, on the page at `path`. Ends a sentence. */
export function fromHistory(release: ReleaseName, path: string): Html {
  const history = html`<a href="${rootFrom(path)}${HISTORY_PATHS.parquet}">${HISTORY_FILES.parquet}</a>`
  return html`${history} has its rows: in DuckDB <code>${historyQuery(release, 'daily')}</code> reads them, and
<code>${deriveCommand(release)}</code> makes the files again.`
}

/** What a list of releases says of the dropped ones in it, newest first. */
export function droppedNote(releases: readonly ReleaseEntry[], path: string): Html {
  const newest = releases.find(({ dropped }) => dropped)
  if (newest === undefined) return html``
  return html`<p>The data files of dropped releases are gone; everything else of them is still there. For example,
${newest.release}: ${fromHistory(newest.release, path)}</p>\n`
}

/** Links to the release page. A withdrawn one is struck out, a dropped one named as such. */
export function releaseLink({ release, path, status, dropped }: ReleaseEntry, from: string): Html {
  const link = html`<a href="${rootFrom(from)}${DATASET_PATH}/${path}${PAGE_FILE}">${release}</a>`
  if (status === 'withdrawn') return html`<s>${link}</s>`
  return dropped ? html`${link} (dropped)` : link
}
