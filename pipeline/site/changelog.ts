import { counted, formatChange, formatInteger } from '../base/numbers.ts'
import { type Doi, doiUrl } from '../contract/doi.ts'
import { type Html, html } from '../contract/html.ts'
import type { Restatement } from '../contract/ledger.ts'
import { DATASET_PATH, DATES_WITHDRAWN, type ReleaseEntry } from '../contract/manifest.ts'
import { INDEX_FILE, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import { PERIOD_TABLES } from '../contract/tables.ts'
import { daysBetween } from '../contract/utc-date.ts'
import { isSchemaChange } from '../dataset/data-version.ts'
import { countPeriods, describeRestated } from '../dataset/restated.ts'
import { doiOf } from '../release/dois.ts'
import { droppedNote } from './dropped.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { reasonSentences } from './reasons.ts'
import { releaseLink } from './release-link.ts'
import { table } from './table.ts'

const RELEASES_SHOWN = 100
const RESTATEMENTS_SHOWN = 20

/** `changelog.html` with the newest releases and restatements, and a full page per year. */
export function changelogPages(facts: SiteFacts): Page[] {
  const newestFirst = facts.index.releases.toReversed()
  const years = [...new Set(newestFirst.map(yearOf))]
  return [newest(facts, newestFirst, years), ...years.map((year) => yearPage(facts, newestFirst, year))]
}

function yearOf({ as_of }: { as_of: string }): string {
  return as_of.slice(0, 4)
}

function yearPath(year: string): string {
  return `changelog/${year}.html`
}

function newest(facts: SiteFacts, releases: readonly ReleaseEntry[], years: readonly string[]): Page {
  const { manifest } = facts
  const path = 'changelog.html'
  const restatements = facts.restatements.toReversed()
  const links = years.map((year) => html`<li><a href="${yearPath(year)}">${year}</a></li>\n`)
  const main = html`<h1>Changelog</h1>
<p>A release never changes. A new release comes with each new date, and when published numbers change. If a final number of a
date, week or month changes, that is a restatement.</p>
<p>A major version changes final numbers or the format of the data. A minor version adds dates. A patch changes provisional
numbers or the description of the data. Programs can read <a href="${DATASET_PATH}/${INDEX_FILE}">${INDEX_FILE}</a> and
<a href="${DATASET_PATH}/${RESTATEMENTS_FILE}">${RESTATEMENTS_FILE}</a>, or follow the <a href="feed.atom">feed</a>.</p>
<section aria-labelledby="restatements">
<h2 id="restatements">Restatements</h2>
${countNote(restatements.length, RESTATEMENTS_SHOWN, 'restatement')}${restatementList(restatements.slice(0, RESTATEMENTS_SHOWN), facts, path)}</section>
<section aria-labelledby="releases">
<h2 id="releases">Releases</h2>
${countNote(releases.length, RELEASES_SHOWN, 'release')}${releaseTable('Releases, newest first', releases.slice(0, RELEASES_SHOWN), facts, path)}</section>
<section aria-labelledby="years">
<h2 id="years">By year</h2>
<ul class="years">
${links}</ul>
</section>
`
  const description = `${counted(releases.length, 'release')} and ${counted(restatements.length, 'restatement')} of final days.`
  return renderPage({ path, title: `Changelog`, description, main }, manifest)
}

function countNote(count: number, shown: number, noun: string): Html {
  return count <= shown
    ? html``
    : html`<p>The newest ${shown} of ${counted(count, noun)}; the pages of the years list all.</p>\n`
}

function yearPage(facts: SiteFacts, newestFirst: readonly ReleaseEntry[], year: string): Page {
  const path = yearPath(year)
  const { manifest } = facts
  const releases = newestFirst.filter((entry) => yearOf(entry) === year)
  const restatements = facts.restatements.filter((each) => yearOf(each) === year).toReversed()
  const main = html`<p class="trail"><a href="${rootFrom(path)}changelog.html">Changelog</a></p>
<h1>Changes of ${year}</h1>
<section aria-labelledby="restatements">
<h2 id="restatements">Restatements</h2>
${restatementList(restatements, facts, path)}</section>
<section aria-labelledby="releases">
<h2 id="releases">Releases</h2>
${releaseTable(`Releases of ${year}, newest first`, releases, facts, path)}</section>
`
  const title = `Changes of ${year}`
  const description = `${counted(releases.length, 'release')} and ${counted(restatements.length, 'restatement')} of ${year}.`
  return renderPage({ path, title, description, main }, manifest)
}

function releaseTable(caption: string, releases: readonly ReleaseEntry[], facts: SiteFacts, path: string): Html {
  const { index } = facts
  const position = new Map(index.releases.map(({ release }, at) => [release, at]))
  const restated = new Map(facts.restatements.map((each) => [each.release, each]))
  const rows = releases.map((entry) => {
    const before = index.releases[(position.get(entry.release) ?? 0) - 1]
    const { data_version, withdrawal, end_date, rows } = entry
    return [
      html`${releaseLink(entry, path)}${doiLink(doiOf(facts.dois, entry.release))}`,
      data_version,
      withdrawal === undefined
        ? whatChanged(entry, before, restated.get(entry.release))
        : `withdrawn: ${withdrawal.reason}`,
      end_date,
      formatInteger(rows),
    ]
  })
  const columns = { words: ['Release', 'Version', 'What changed'], numbers: ['Last date', 'Rows'] }
  return html`${droppedNote(releases, path)}${table(caption, columns, rows)}`
}

function doiLink(doi: Doi | undefined): Html {
  return doi === undefined ? html`` : html`<br><a class="quiet" href="${doiUrl(doi)}">doi:${doi}</a>`
}

function whatChanged(entry: ReleaseEntry, before: ReleaseEntry | undefined, restated: Restatement | undefined): string {
  if (before === undefined) return 'the first release'
  const { changed = [], end_date } = entry
  const days = daysBetween(before.end_date, end_date)
  const words: Readonly<Record<string, string>> = {
    end_date: days > 0 ? `${counted(days, 'day')} more` : `${counted(-days, 'day')} less`,
    content_hash: whichRows(entry, restated),
    ...whichPeriods(entry, restated),
    // Not worth saying: each new day makes an older one final.
    day_status: days > 0 ? '' : 'other days are final',
    publisher: 'publisher or title',
    schema: 'format of the rows',
    version: 'format of the dataset',
    synthetic: 'another kind of data: synthetic or real',
    disclosure: 'how customers are protected',
    [DATES_WITHDRAWN]: 'dates were taken out',
  }
  const differing = Object.entries(words).filter(([fact]) => changed.includes(fact))
  return differing.flatMap(([, text]) => (text === '' ? [] : text)).join('; ')
}

function whichRows({ data_version, changed = [] }: ReleaseEntry, restated: Restatement | undefined): string {
  const isMajor = data_version.endsWith('.0.0')
  if (isSchemaChange(changed)) return isMajor ? 'published rows changed' : ''
  if (restated?.dates.length === 0) return changed.includes('end_date') ? '' : 'provisional days changed'
  if (isMajor) return 'final days changed'
  return data_version.endsWith('.0') ? '' : 'provisional days changed'
}

/** Provisional weeks and months are worth saying if no day tells of them. */
function whichPeriods({ changed = [] }: ReleaseEntry, restated: Restatement | undefined): Record<string, string> {
  const isFollowing = changed.includes('content_hash') || isSchemaChange(changed)
  const words = PERIOD_TABLES.map((table) => {
    const noun = table === 'weekly' ? 'weeks' : 'months'
    const isFinal = restated?.periods?.some((period) => period.table === table) === true
    return [
      `${table}_content_hash`,
      isFinal ? `final ${noun} changed` : isFollowing ? '' : `provisional ${noun} changed`,
    ]
  })
  return Object.fromEntries(words)
}

function restatementList(restatements: readonly Restatement[], facts: SiteFacts, path: string): Html {
  if (restatements.length === 0) return html`<p>None.</p>\n`
  const entries = new Map(facts.index.releases.map((entry) => [entry.release, entry]))
  const items = restatements.map((restatement) => {
    const { release, as_of } = restatement
    const entry = entries.get(release)
    return html`<li id="${restatement.id}">${whatWasRestated(restatement)}${reasonSentences(restatement)}
<span class="quiet">${as_of.slice(0, 10)}, release ${entry === undefined ? release : releaseLink(entry, path)}</span></li>\n`
  })
  return html`<ul class="restatements">
${items}</ul>
`
}

function whatWasRestated(restatement: Restatement): Html {
  const { dates, periods = [] } = restatement
  const names = describeRestated({ dates: [], periods })
  if (dates.length === 0) return html`<b>${countPeriods(periods)}</b>, and no day: ${names}.`
  const [first, last] = [dates.at(0)?.date ?? '', dates.at(-1)?.date ?? '']
  const days = html`<b>${counted(dates.length, 'final day')}</b>, ${first === last ? first : `${first} to ${last}`}:
${difference(restatement)}`
  return periods.length === 0 ? days : html`${days} With ${dates.length === 1 ? 'it' : 'them'} ${names}.`
}

function difference({ rows_before, rows_after, tokens_before, tokens_after }: Restatement): Html {
  const [before, after] = [BigInt(tokens_before), BigInt(tokens_after)]
  const change = before === 0n ? '' : ` (${formatChange(before, after)})`
  const tokens = html`${formatInteger(before)} → ${formatInteger(after)} tokens${change}`
  return rows_before === rows_after ? html`${tokens}.` : html`${tokens}, ${rows_before} → ${rows_after} rows.`
}
