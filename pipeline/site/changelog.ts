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
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage } from './layout.ts'
import { reasonSentences } from './release-changes.ts'
import { droppedNote, releaseLink } from './release-page.ts'
import { table } from './table.ts'

const PATH = 'changelog.html'
/** How many releases and restatements the page has: those of a year. */
const SHOWN = 366

/** `changelog.html`: what each release changed, and every restatement. */
export function changelogPage(facts: SiteFacts): Page {
  const { manifest } = facts
  const releases = facts.index.releases.toReversed()
  const restatements = facts.restatements.toReversed()
  const main = html`<h1>Changelog</h1>
<p>A release never changes. A new release comes with each new date, and when published numbers change. If a final number of a
date, week or month changes, that is a restatement.</p>
<p>A major version changes final numbers or the format of the data. A minor version adds dates. A patch changes provisional
numbers or the description of the data. Programs can read <a href="${DATASET_PATH}/${INDEX_FILE}">${INDEX_FILE}</a> and
<a href="${DATASET_PATH}/${RESTATEMENTS_FILE}">${RESTATEMENTS_FILE}</a>, or follow the <a href="feed.atom">feed</a>.</p>
<section aria-labelledby="restatements">
<h2 id="restatements">Restatements</h2>
${countNote(restatements.length, 'restatement', RESTATEMENTS_FILE)}${restatementList(restatements.slice(0, SHOWN), facts, PATH)}</section>
<section aria-labelledby="releases">
<h2 id="releases">Releases</h2>
${countNote(releases.length, 'release', INDEX_FILE)}${droppedNote(releases, PATH)}${changesTable(releases.slice(0, SHOWN), facts)}</section>
`
  const description = `${counted(releases.length, 'release')} and ${counted(restatements.length, 'restatement')} of final days.`
  return renderPage({ path: PATH, title: `Changelog`, description, main }, manifest)
}

function countNote(count: number, noun: string, file: string): Html {
  if (count <= SHOWN) return html``
  return html`<p>The newest ${SHOWN} of ${counted(count, noun)}; <a href="${DATASET_PATH}/${file}">${file}</a> has all.</p>\n`
}

function changesTable(newestFirst: readonly ReleaseEntry[], facts: SiteFacts): Html {
  const { releases } = facts.index
  const restated = new Map(facts.restatements.map((each) => [each.release, each]))
  const rows = newestFirst.map((entry, position) => {
    const before = releases.at(-2 - position)
    const { data_version, withdrawal, end_date, rows } = entry
    return [
      html`${releaseLink(entry, PATH)}${doiLink(doiOf(facts.dois, entry.release))}`,
      data_version,
      withdrawal === undefined
        ? whatChanged(entry, before, restated.get(entry.release))
        : `withdrawn: ${withdrawal.reason}`,
      end_date,
      formatInteger(rows),
    ]
  })
  const columns = { words: ['Release', 'Version', 'What changed'], numbers: ['Last date', 'Rows'] }
  return table('Releases, newest first', columns, rows)
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

export function restatementList(restatements: readonly Restatement[], facts: SiteFacts, from: string): Html {
  if (restatements.length === 0) return html`<p>None.</p>\n`
  const entries = new Map(facts.index.releases.map((entry) => [entry.release, entry]))
  const items = restatements.map((restatement) => {
    const { release, as_of } = restatement
    const entry = entries.get(release)
    return html`<li id="${restatement.id}">${whatWasRestated(restatement)}${reasonSentences(restatement)}
<span class="quiet">${as_of.slice(0, 10)}, release ${entry === undefined ? release : releaseLink(entry, from)}</span></li>\n`
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
