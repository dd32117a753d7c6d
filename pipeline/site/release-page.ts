import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { counted, formatChange, formatInteger, formatTokens } from '../base/numbers.ts'
import { prose } from '../base/prose.ts'
import { CHANGES_FILES, type ChangeRow, type TableChanges } from '../contract/change-log.ts'
import { Html, html } from '../contract/html.ts'
import { DATES_WITHDRAWN, type Manifest, type Resource, releasePath } from '../contract/manifest.ts'
import { type RankingRow, sumTokens } from '../contract/ranking.ts'
import { MANIFEST_FILE, QUALITY_FILE } from '../contract/release-files.ts'
import type { PeriodTable } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { BandedQuality } from '../dataset/banded-quality.ts'
import type { PublicQuality } from '../dataset/records.ts'
import { renderBibtex } from '../release/documents/bibtex.ts'
import { citationSentence } from '../release/documents/citation.ts'
import { type DatasetDescription, describeDataset } from '../release/documents/describe.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { documentKind } from '../release/documents/document-kinds.ts'
import { FILE_KINDS } from '../release/documents/files.ts'
import { countsInWords, inWords } from '../release/documents/record-counts.ts'
import { schemaOrgDataset, toScriptJson } from '../release/documents/schema-org.ts'
import type { TextFile } from '../release/stage.ts'
import { changeBars } from './change-bar.ts'
import { chartFile } from './chart.ts'
import { citationLinks } from './citation-links.ts'
import { fromHistory } from './dropped.ts'
import { bytesElement, instantElement } from './elements.ts'
import { renderPage, rootFrom } from './layout.ts'
import { reasonSentences } from './reasons.ts'
import { recentChart, recentDays } from './recent.ts'
import { factList, table } from './table.ts'

export const CHART_FILE = 'chart.svg'
export const PAGE_FILE = 'index.html'

const CHANGES_SHOWN = 10
const DATES_SHOWN = 30

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
${fileTable(manifest.files)}<p>To check them all: <code>sha256sum --check ${CHECKSUMS_FILE}</code>. <a href="${MANIFEST_FILE}">${MANIFEST_FILE}</a> has the same for
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

function fileTable(files: readonly Resource[]): Html {
  const rows = files.map(({ path, bytes, rows, sha256 }) => [
    html`<a href="${path}">${path}</a>`,
    prose(FILE_KINDS[path]?.title ?? documentKind(path)?.title ?? ''),
    html`<code class="hash">${sha256}</code>`,
    bytesElement(bytes),
    rows === undefined ? '' : formatInteger(rows),
  ])
  return table('Files of this release', { words: ['File', 'What it is', 'SHA-256'], numbers: ['Size', 'Rows'] }, rows)
}

function whatChanged({ changes: stated }: Manifest, { rows, changes }: ReleaseFacts, root: string): Html {
  if (stated.facts.includes(DATES_WITHDRAWN)) {
    return html`<p>Dates were taken out of the dataset, and the releases that had them were withdrawn. All other rows are those that
were published before.</p>\n`
  }
  if (stated.previous === null) return html`<p>This is the first release.</p>\n`
  // Link to the changelog: the previous release may have no page or be withdrawn later.
  const link = html`<a href="${root}changelog/${stated.previous.slice(0, 4)}.html">${stated.previous}</a>`
  const { daily, weekly = [], monthly = [] } = changes
  const ofPeriods = changedPeriods(weekly, monthly)
  if (daily.length === 0) {
    if (weekly.length + monthly.length === 0)
      return html`<p>No row differs from release ${link}; what is said about them does.</p>\n`
    return html`<p>No row of a day differs from release ${link}.${reasonSentences(stated)}</p>\n${ofPeriods}`
  }
  const count = (op: ChangeRow['op']) => counted(daily.filter((change) => change.op === op).length, 'row')
  const dates = changedDates(rows, daily)
  return html`<p>Against release ${link}: ${count('insert')} new, ${count('update')} with other tokens, ${count('delete')} gone, on
${counted(dates.length, 'day')}.${reasonSentences(stated)} <a href="${CHANGES_FILES.daily}">${CHANGES_FILES.daily}</a> has each of them.</p>
${ofPeriods}${dateTable(dates)}${biggest(daily, dates)}`
}

function changedPeriods(weekly: readonly ChangeRow[], monthly: readonly ChangeRow[]): Html {
  if (weekly.length + monthly.length === 0) return html``
  const rows = (table: PeriodTable, changes: readonly ChangeRow[]) =>
    html`<a href="${CHANGES_FILES[table]}">${counted(changes.length, 'row')}</a>`
  return html`<p>Of the weeks, ${rows('weekly', weekly)} ${weekly.length === 1 ? 'differs' : 'differ'}; of the months, ${rows('monthly', monthly)}.</p>\n`
}

interface ChangedDate {
  date: UtcDate
  rows_before: number
  rows_after: number
  before: bigint
  after: bigint
}

function changedDates(rows: readonly RankingRow[], changes: readonly ChangeRow[]): ChangedDate[] {
  const now = Map.groupBy(rows, ({ date }) => date)
  return [...Map.groupBy(changes, ({ date }) => date)].map(([date, list]) => {
    const own = now.get(date) ?? []
    const after = sumTokens(own)
    const more = list.reduce((sum, change) => sum + differenceOf(change), 0n)
    const grown = list.filter(({ op }) => op === 'insert').length - list.filter(({ op }) => op === 'delete').length
    return { date, rows_before: own.length - grown, rows_after: own.length, before: after - more, after }
  })
}

function differenceOf({ tokens_before, tokens_after }: ChangeRow): bigint {
  return BigInt(tokens_after) - BigInt(tokens_before)
}

function dateTable(dates: readonly ChangedDate[]): Html {
  const shown = dates.toReversed().slice(0, DATES_SHOWN)
  const barOf = changeBars(shown)
  const rows = shown.map(({ date, rows_before, rows_after, before, after }) => [
    date,
    rows_before === 0 ? 'new' : rows_after === 0 ? 'gone' : 'changed',
    formatInteger(rows_after),
    rows_before === 0 ? '' : formatTokens(before),
    formatTokens(after),
    rows_before === 0 || before === 0n ? '' : formatChange(before, after),
    barOf({ before, after }),
  ])
  const caption = rows.length < dates.length ? `The newest ${rows.length} days that differ` : 'Days that differ'
  const numbers = ['Rows', 'Tokens before', 'Tokens now', 'Change', 'Drawn']
  return table(caption, { words: ['Date', 'Status'], numbers }, rows)
}

/** Skips new days, where every row is a difference. */
function biggest(changes: readonly ChangeRow[], dates: readonly ChangedDate[]): Html {
  const fresh = new Set(dates.flatMap(({ date, rows_before }) => (rows_before === 0 ? [date] : [])))
  const size = (change: ChangeRow) => {
    const difference = differenceOf(change)
    return difference < 0n ? -difference : difference
  }
  const largest = changes
    .filter(({ date }) => !fresh.has(date))
    .map((change) => ({ change, size: size(change) }))
    .sort((a, b) => (a.size === b.size ? 0 : a.size > b.size ? -1 : 1))
    .slice(0, CHANGES_SHOWN)
  if (largest.length === 0) return html``
  const tokens = (text: string) => (text === '' ? '' : formatInteger(BigInt(text)))
  const rows = largest.map(({ change: { date, model_permaslug, tokens_before, tokens_after } }) => [
    model_permaslug,
    date,
    tokens(tokens_before),
    tokens(tokens_after),
  ])
  const columns = { words: ['Model', 'Day'], numbers: ['Tokens before', 'Tokens now'] }
  return table('The largest changes of days that were published before', columns, rows)
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
