import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { ReleaseEntry } from '../contract/manifest.ts'
import {
  COVERAGE_FILE,
  DOIS_FILE,
  HISTORY_FILES,
  INDEX_FILE,
  LISTING_PATH,
  PERIOD_FORMATS,
  RESTATEMENTS_FILE,
} from '../contract/published-paths.ts'
import { dataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { coveredDays, dayPath } from './covered-days.ts'
import { commaSeparated, dateElement } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { releaseLink } from './release-page.ts'
import { table } from './table.ts'

const RELEASES_SHOWN = 100

/** What is in the folder of the dataset. Static hosts and the server send it for the folder. */
export function listingPage(facts: SiteFacts): Page {
  const { manifest, dataset, index } = facts
  const root = rootFrom(LISTING_PATH)
  const main = html`<h1>Files of the dataset</h1>
<p>${dataset.title}: everything that is published, in one folder. The current release is ${currentLink(facts)}, with the days from
${dateElement(dataset.start_date)} to ${dateElement(dataset.end_date)}.</p>
<section aria-labelledby="latest">
<h2 id="latest">The newest data</h2>
<dl class="access">
${item(html`<code>latest/</code>`, html`All files of the current release: ${commaSeparated(DOWNLOADS.map((file) => html`<a href="latest/${file}">${file}</a>`))}`)}${item(html`<a href="latest.json">latest.json</a>`, 'Says which release is current. Programs read it to learn of a new one.')}</dl>
</section>
<section aria-labelledby="days">
<h2 id="days">Days and months</h2>
<p>Each day has a file of its own, and each month has tables of its days, with the rows of the current release. What changes gets a new revision,
and earlier ones stay: the first revision of ${dataset.end_date} is <code>daily/${dataset.end_date}/r1.json</code>.</p>
${newestDays(
  coveredDays(facts.coverage).map(({ date }) => date),
  root,
)}${monthsTable(facts, root)}</section>
<section aria-labelledby="whole">
<h2 id="whole">About the whole dataset</h2>
<dl class="access">
${wholeDataset(facts).map(([path, about]) => item(html`<a href="${path}">${path}</a>`, about))}</dl>
</section>
<section aria-labelledby="releases">
<h2 id="releases">Releases</h2>
<p>A release is a folder that never changes, named by the instant it was made. <a href="${INDEX_FILE}">${INDEX_FILE}</a> lists them all, each with the hash of the one
before. ${index.releases.length > RELEASES_SHOWN ? `Here are the newest ${RELEASES_SHOWN} of ${counted(index.releases.length, 'release')}. ` : ''}The <a href="${root}changelog.html">changelog</a> says what each one changed.</p>
${releaseTable(index.releases.toReversed().slice(0, RELEASES_SHOWN))}</section>
`
  const title = 'Files of the dataset'
  const description = `Releases, days, months, history and metadata of ${dataset.title}.`
  return renderPage({ path: LISTING_PATH, title, description, main }, manifest)
}

const DOWNLOADS = [dataFile('daily', 'parquet'), dataFile('daily', 'csv'), MANIFEST_FILE, CHECKSUMS_FILE]

const NEWEST_DAYS = 7

function currentLink(facts: SiteFacts): Html {
  const current = facts.index.releases.find(({ status }) => status === 'current')
  return current === undefined ? html`${facts.dataset.release}` : releaseLink(current, LISTING_PATH)
}

function item(name: Html, about: Html | string): Html {
  return html`<div><dt>${name}</dt><dd>${about}</dd></div>\n`
}

function newestDays(dates: readonly UtcDate[], root: string): Html {
  const rows = dates
    .slice(-NEWEST_DAYS)
    .toReversed()
    .map((date) => [
      html`<a href="${root}${dayPath(date)}">${date}</a>`,
      periodFiles(`daily/${date}`, PERIOD_FORMATS.daily),
    ])
  return table(`The newest ${counted(rows.length, 'day')}`, { words: ['Date', 'Files'] }, rows)
}

function monthsTable({ coverage }: SiteFacts, root: string): Html {
  const months = [...Map.groupBy(coveredDays(coverage), ({ date }) => date.slice(0, 7))].toReversed()
  const rows = months.map(([month, days]) => {
    const page = html`<a href="${root}coverage/${month.slice(0, 4)}.html#m${month}">${counted(days.length, 'day')}</a>`
    return [month, page, periodFiles(`monthly/${month}`, PERIOD_FORMATS.monthly)]
  })
  return table('All months', { words: ['Month', 'Days', 'Files'] }, rows)
}

function wholeDataset({ dois }: SiteFacts): [path: string, about: string][] {
  const about: [string, string] = [DOIS_FILE, 'The DOI of each release that is deposited, to cite it by']
  return [
    [
      HISTORY_FILES.parquet,
      'The rows of every release in one table, and from which release to which they were published',
    ],
    [HISTORY_FILES.csv, 'The same as compressed CSV'],
    [COVERAGE_FILE, 'The status, revision and content hash of each day and month'],
    [RESTATEMENTS_FILE, 'Every change to a number that was final, with the reason'],
    ...(dois === undefined ? [] : [about]),
    ['croissant.json', 'Metadata for machine learning, as Croissant'],
  ]
}

function releaseTable(newestFirst: readonly ReleaseEntry[]): Html {
  const rows = newestFirst.map((entry) => [
    releaseLink(entry, LISTING_PATH),
    entry.status === 'superseded' ? 'replaced' : entry.status,
    html`${dateElement(entry.start_date)} to ${dateElement(entry.end_date)}`,
    formatInteger(entry.rows),
  ])
  return table('Releases, newest first', { words: ['Release', 'Status', 'Days'], numbers: ['Rows'] }, rows)
}

type Format = (typeof PERIOD_FORMATS)[keyof typeof PERIOD_FORMATS][number]

const NAMES: Readonly<Record<Format, string>> = { json: 'JSON', csv: 'CSV', parquet: 'Parquet' }

/** Links to the files of a day or month in these formats. `place` is their path without the ending. */
function periodFiles(place: string, formats: readonly Format[]): Html {
  return commaSeparated(formats.map((format) => html`<a href="${place}.${format}">${NAMES[format]}</a>`))
}
