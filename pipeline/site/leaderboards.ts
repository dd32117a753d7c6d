import { type Html, html } from '../contract/html.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { GRAINS, TABLES, type Table } from '../contract/tables.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { authorsOf } from './authors.ts'
import { dayPath } from './covered-days.ts'
import { dateElement, withDates } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage } from './layout.ts'
import { aboutPeriod, newestPeriod, type Period, runningPeriod } from './leaderboard-period.ts'
import { authorsTable, familiesTable, modelsTable, type Ranking } from './leaderboard-sections.ts'

const NAMES = { daily: 'Day', weekly: 'Week', monthly: 'Month' } as const satisfies Record<Table, string>

interface Link {
  path: string
  name: string
}

const ALL_TIME: Link = { path: leaderboardPath('all'), name: 'All time' }

/** The path of a leaderboard: that of a `day`, a `week`, a `month`, or of `all` time. */
export function leaderboardPath(grain: (typeof GRAINS)[Table] | 'all'): string {
  return `leaderboards/${grain}.html`
}

/** The leaderboards of the newest day, of the newest week and month that are over, and of all time. */
export function leaderboardPages(facts: SiteFacts): Page[] {
  const periods = TABLES.flatMap((table) => newestPeriod(facts, table) ?? [])
  const links = [...periods.map(({ table }) => linkTo(table)), ALL_TIME]
  return [...periods.map((period) => periodPage(period, facts, links)), allTimePage(facts, links)]
}

function linkTo(table: Table): Link {
  return { path: leaderboardPath(GRAINS[table]), name: NAMES[table] }
}

function periodPage(period: Period, facts: SiteFacts, links: readonly Link[]): Page {
  const { table, first, last, rows } = period
  const when = table === 'daily' ? first : table === 'weekly' ? `${first} to ${last}` : first.slice(0, 7)
  const { path } = linkTo(table)
  const title = `Leaderboard of the ${GRAINS[table]}`
  const day = html` <a href="../${dayPath(first)}">More about this day</a>`
  const about = html`<p>${withDates(aboutPeriod(period, facts) + stillRunning(table, facts))}${table === 'daily' ? day : html``}</p>\n`
  return page({ path, title, about, when, rows, period }, facts, links)
}

function stillRunning(table: Table, facts: SiteFacts): string {
  const running = runningPeriod(facts, table)
  if (running === undefined) return ''
  return ` The ${GRAINS[table]} that began on ${running.first} is not over, so it is not ranked here yet.`
}

function allTimePage(facts: SiteFacts, links: readonly Link[]): Page {
  const { start_date, end_date } = facts.manifest
  const outside = isRuled(facts.manifest) ? 'not named' : `outside the top ${TOP_MODELS}`
  const about = html`<p>Sums of the daily rows from ${dateElement(start_date)} to ${dateElement(end_date)} (UTC). A model has at least these tokens: on days when it is ${outside}, its tokens are part of <code>other</code>.</p>\n`
  const when = `${start_date} to ${end_date}`
  const { path } = ALL_TIME
  return page(
    { path, title: 'Leaderboard of all time', about, when, rows: allTimeRows(facts), period: undefined },
    facts,
    links,
  )
}

interface Content extends Omit<Ranking, 'caption'> {
  title: string
  about: Html
  when: string
}

function page({ path, title, about, when, rows, period }: Content, facts: SiteFacts, links: readonly Link[]): Page {
  const unit = period === undefined ? 'a day' : `the ${GRAINS[period.table]}`
  const outside = isRuled(facts.manifest) ? `that ${unit} does not name` : `outside the top ${TOP_MODELS} of ${unit}`
  const rankingOf = (what: string): Ranking => ({ path, rows, period, caption: `${what} by tokens, ${when}` })
  const hasAuthors = authorsOf(facts.models).all.length > 0
  const main = html`<h1>${title}</h1>
${periodLinks(path, links)}${about}<section aria-labelledby="models">
<h2 id="models">Models</h2>
${modelsTable(rankingOf('Models'), facts)}</section>
<section aria-labelledby="families">
<h2 id="families">Families</h2>
<p>A family is a model with its variants, such as <code>:free</code>. It has at least these tokens, because variants ${outside} are part of <code>other</code>.</p>
${familiesTable(rankingOf('Families'), facts)}</section>
${hasAuthors ? authorsSection(rankingOf('Authors'), facts, outside) : html``}`
  const description = `Models, families and authors by tokens, ${when}: rank, places moved, share and change.`
  return renderPage({ path, title: `${title}, ${when}`, description, main }, facts.manifest)
}

function authorsSection(ranking: Ranking, facts: SiteFacts, outside: string): Html {
  return html`<section aria-labelledby="authors">
<h2 id="authors">Authors</h2>
<p>An author has at least these tokens, because models ${outside} are part of <code>other</code>.</p>
${authorsTable(ranking, facts)}</section>
`
}

function periodLinks(path: string, links: readonly Link[]): Html {
  const items = links.map((each) => {
    const isHere = each.path === path ? html` aria-current="page"` : html``
    return html`<li><a href="${each.path.replace('leaderboards/', '')}"${isHere}>${each.name}</a></li>\n`
  })
  return html`<nav class="periods" aria-label="Periods">
<ul>
${items}</ul>
</nav>
`
}

/** The sums of all daily rows: one row for each model, and the last for `other` if there is any. */
function allTimeRows({ models, coverage, rows }: SiteFacts): RankingRow[] {
  const date = rows[0]?.date ?? ''
  const named = models.map(({ model_permaslug, total_tokens }) => ({ date, model_permaslug, total_tokens }))
  const all = coverage.days.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
  const other = named.reduce((rest, { total_tokens }) => rest - BigInt(total_tokens), all)
  const hasOther = rows.some(({ model_permaslug }) => model_permaslug === OTHER)
  return hasOther ? [...named, { date, model_permaslug: OTHER, total_tokens: String(other) }] : named
}
