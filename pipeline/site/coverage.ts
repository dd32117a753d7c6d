import { counted, formatInteger, formatShare, formatTokens } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { Coverage, CoverageDay, Restatement } from '../contract/ledger.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import { COVERAGE_FILE, LISTING_PATH } from '../contract/published-paths.ts'
import { sumTokens } from '../contract/ranking.ts'
import { daysBetween } from '../contract/utc-date.ts'
import { describeRange, toRanges } from '../dataset/old-counts.ts'
import { PROVISIONAL } from '../release/documents/describe.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { calendarLegend, dayShapes, type MarkedDay, summary, yearCalendar } from './calendar.ts'
import { coveredDays } from './covered-days.ts'
import { dateElement, instantElement, scrollable, tokensElement } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { factList, table } from './table.ts'

const REASONS = {
  no_public_usage: 'no public usage',
  removed: 'a later release took the rows away',
  not_published: 'no usage that could be published',
} as const

/** Limits the page size: a year with a title per day takes 36 KB. */
const YEARS_DRAWN = 2

/** `coverage.html` with the newest years, and a page per year with its calendar and tables. */
export function coveragePages(facts: SiteFacts): Page[] {
  const days = markDays(facts.coverage.days, facts.restatements)
  const years = [...Map.groupBy(days, ({ date }) => date.slice(0, 4))]
  return [overview(facts, days, years), ...years.map(([year, own]) => yearPage(facts, year, own))]
}

function markDays(days: readonly CoverageDay[], restatements: readonly Restatement[]): MarkedDay[] {
  const restated = new Set(restatements.flatMap(({ dates }) => dates.map(({ date }) => date)))
  return days.map((day) => {
    const isRestated = day.status === 'final' && restated.has(day.date)
    return { ...day, mark: isRestated ? 'restated' : day.status }
  })
}

function overview(facts: SiteFacts, days: readonly MarkedDay[], years: readonly [string, MarkedDay[]][]): Page {
  const { manifest, coverage, dataset } = facts
  const timing = (isRuled(manifest) && dataset.disclosure?.words.timing) || PROVISIONAL
  const { covered, total } = completeness(coverage)
  const share = formatShare(BigInt(covered), BigInt(total))
  const lastDate = days.at(-1)?.date ?? coverage.end_date
  const newestFirst = years.toReversed()
  const main = html`<h1>Coverage</h1>
<p>Which days the dataset has, as of ${instantElement(coverage.as_of)}. It begins on ${dateElement(coverage.start_date)} and ends on ${dateElement(lastDate)}. ${timing}</p>
${factList([
  ['Days with rows', `${formatInteger(covered)} of ${formatInteger(total)}`, share],
  ...(isRuled(manifest) ? [] : [['Provisional from', coverage.provisional_from] as const]),
  ['Days restated', formatInteger(days.filter(({ mark }) => mark === 'restated').length)],
  ['Days missing', formatInteger(total - covered)],
  ...rankedPeriods(coverage),
])}<section aria-labelledby="calendar">
<h2 id="calendar">Calendar</h2>
${dayShapes()}${calendarLegend(days)}${newestFirst.slice(0, YEARS_DRAWN).map(([year, own]) => calendarOf(year, own))}${olderYears(newestFirst.slice(YEARS_DRAWN))}</section>
<section aria-labelledby="absent">
<h2 id="absent">Missing days</h2>
${missingDays(days)}${notPublished(days)}</section>
${daysWithOldCounts(days)}<section aria-labelledby="months">
<h2 id="months">By month</h2>
<p>The page of each year lists its days. <a href="${DATASET_PATH}/${COVERAGE_FILE}">${COVERAGE_FILE}</a> has all of this for programs, and the <a href="${LISTING_PATH}">list of files</a> leads to each day and month.</p>
<details>
<summary>All months</summary>
${monthsTable(days)}</details>
</section>
`
  const description = `${covered} of ${total} days from ${coverage.start_date} to ${lastDate} have rows.`
  return renderPage({ path: 'coverage.html', title: `Coverage`, description, main }, manifest)
}

/** How many weeks and months the current release ranks, if it has these tables. */
function rankedPeriods({ weekly, monthly }: Coverage): [string, string, string][] {
  const fact = (name: string, periods: Coverage['weekly']): [string, string, string][] => {
    if (periods === undefined) return []
    const final = periods.filter(({ status }) => status === 'final').length
    return [[name, formatInteger(periods.length), `${formatInteger(final)} final`]]
  }
  return [...fact('Weeks', weekly), ...fact('Months', monthly)]
}

export function completeness({ days }: Coverage): { total: number; covered: number } {
  return { total: days.length, covered: coveredDays({ days }).length }
}

function calendarOf(year: string, days: readonly MarkedDay[]): Html {
  return html`<h3><a href="${yearPath(year)}">${year}</a></h3>
${calendar(year, days, 'coverage.html')}`
}

/** The cells lead to days by pointer alone: a keyboard would stop 365 times. The months below are for all. */
function calendar(year: string, days: readonly MarkedDay[], path: string): Html {
  const page = path === yearPath(year) ? '' : yearPath(year)
  const months = [...new Set(days.map(({ date }) => date.slice(0, 7)))].map(
    (month) => html`<li><a href="${page}#m${month}">${month}</a></li>\n`,
  )
  const drawn = yearCalendar(year, days, page)
  return html`${scrollable(`Calendar of ${year}`, drawn)}<ul class="parts" aria-label="Days of ${year} by month">
${months}</ul>
`
}

function olderYears(years: readonly [string, MarkedDay[]][]): Html {
  if (years.length === 0) return html``
  const items = years.map(([year, own]) => html`<li><a href="${yearPath(year)}">${year}</a>: ${summary(own)}</li>\n`)
  return html`<h3>Before</h3>
<ul>
${items}</ul>
`
}

function missingDays(days: readonly MarkedDay[]): Html {
  const missing = days.filter(({ status }) => status === 'missing')
  if (missing.length === 0) return html`<p>None.</p>\n`
  const spans: { first: CoverageDay; last: CoverageDay }[] = []
  for (const day of missing) {
    const span = spans.at(-1)
    const follows = span?.last.reason === day.reason && daysBetween(span.last.date, day.date) === 1
    if (span !== undefined && follows) span.last = day
    else spans.push({ first: day, last: day })
  }
  const items = spans.toReversed().map(({ first, last }) => {
    const count = daysBetween(first.date, last.date) + 1
    const when = count === 1 ? first.date : `${first.date} to ${last.date} (${counted(count, 'day')})`
    return html`<li>${when}: ${first.reason === null ? 'unknown' : REASONS[first.reason]}</li>\n`
  })
  return html`<ul>
${items}</ul>
`
}

function notPublished(days: readonly MarkedDay[]): Html {
  if (days.every(({ reason }) => reason !== 'not_published')) return html``
  return html`<p class="quiet">A day on which nothing could be published had no public usage, or none without telling about single
customers (<a href="index.html#limitations">disclosure control</a>). Which of these is not said.</p>
`
}

function daysWithOldCounts(days: readonly MarkedDay[]): Html {
  const ranges = toRanges(days.filter(({ old_counts }) => old_counts).map(({ date }) => date))
  if (ranges.length === 0) return html``
  return html`<section aria-labelledby="old-counts">
<h2 id="old-counts">Old counts</h2>
<p>A newer version of the software reads some logs differently. The logs of these days are gone, so some of their records are
still counted the way an earlier version counted them.</p>
<ul>
${ranges.toReversed().map((range) => html`<li>${describeRange(range)}</li>\n`)}</ul>
</section>
`
}

function monthsTable(days: readonly MarkedDay[]): Html {
  const rows = [...Map.groupBy(days, ({ date }) => date.slice(0, 7))].toReversed().map(([month, own]) => {
    const tokens = sumTokens(own)
    const link = html`<a href="${yearPath(month.slice(0, 4))}#m${month}">${month}</a>`
    return [link, summary(own), formatInteger(own.reduce((sum, day) => sum + day.rows, 0)), formatTokens(tokens)]
  })
  return table('Months', { words: ['Month', 'Days'], numbers: ['Rows', 'Tokens'] }, rows)
}

function yearPath(year: string): string {
  return `coverage/${year}.html`
}

function yearPage({ manifest }: SiteFacts, year: string, days: readonly MarkedDay[]): Page {
  const path = yearPath(year)
  const root = rootFrom(path)
  const months = [...Map.groupBy(days, ({ date }) => date.slice(0, 7))].toReversed()
  const main = html`<p><a href="${root}coverage.html">Coverage</a></p>
<h1>Days of ${year}</h1>
${dayShapes()}${calendarLegend(days)}${calendar(year, days, path)}${months.map(([month, own], position) => monthOf(month, own, position === 0))}`
  const title = `Days of ${year}`
  const description = `Status, rows, tokens, revision and file of each day of ${year}.`
  return renderPage({ path, title, description, main }, manifest)
}

function monthOf(month: string, days: readonly MarkedDay[], isOpen: boolean): Html {
  const rows = days.map(({ date, mark, reason, rows, total_tokens, revision, old_counts }) => {
    if (mark === 'missing') return [date, `missing: ${reason === null ? 'unknown' : REASONS[reason]}`, '', '', '']
    const status = old_counts ? `${mark}, old counts` : mark
    return [date, status, revision ?? '', rows, tokensElement(BigInt(total_tokens))]
  })
  return html`<details id="m${month}"${isOpen ? html` open` : html``}>
<summary>${month} <span class="quiet">${summary(days)}</span></summary>
${table(`Days of ${month}`, { words: ['Date', 'Status'], numbers: ['Revision', 'Rows', 'Tokens'] }, rows)}</details>
`
}
