import { counted, formatChange, formatInteger, formatTokens } from '../base/numbers.ts'
import { Html, html } from '../contract/html.ts'
import type { CoverageDay, Restatement } from '../contract/ledger.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { type RankingRow, type Timestamp, TOP_MODELS } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { DateVersion } from '../release/date-versions.ts'
import { weekdayOf } from './calendar.ts'
import { contentOf } from './chart/content.ts'
import { bySize } from './chart/rows.ts'
import { chartFigure } from './chart.ts'
import { dayPath } from './day-path.ts'
import { commaSeparated, dateElement, instantElement } from './elements.ts'
import { type Masthead, type Page, renderPage, rootFrom } from './layout.ts'
import { entriesOf, type Leaderboard, leaderboard } from './leaderboard.ts'
import { changeOf, leaderboardTable } from './leaderboard-table.ts'
import { modelPath } from './model-path.ts'
import { periodFiles } from './period-files.ts'
import { reasonSentences } from './reasons.ts'
import { factList, table } from './table.ts'

/** All that the page of a day shows, but for rows: these follow from the content hashes. */
export interface DayFacts extends ShownDay, Pick<CoverageDay, 'revision' | 'rows'> {
  isRuled: boolean
  old_counts: boolean
  before: UtcDate | undefined
  after: UtcDate | undefined
  /** Undefined if that day has no rows. */
  weekBefore: ShownDay | undefined
  /** Seven dates around this one, or fewer. */
  week: ShownDay[]
  /** Oldest first. */
  revisions: Revision[]
  restatements: (Restatement['dates'][number] & Pick<Restatement, 'id' | 'as_of' | 'reason' | 'note'>)[]
}

export interface ShownDay extends Pick<CoverageDay, 'date' | 'status' | 'content_hash' | 'total_tokens'> {
  isRestated: boolean
}

export interface Revision extends DateVersion {
  /** Null if it cannot be told which one it is, because releases were withdrawn. */
  number: number | null
  as_of: Timestamp | null
  /** HTML that leads to the release. */
  link: string
}

type RowsOf = (date: UtcDate) => readonly RankingRow[]

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export function dayPage(day: DayFacts, rowsOf: RowsOf, masthead: Masthead): Page {
  const { date, total_tokens, rows } = day
  const path = dayPath(date)
  const root = rootFrom(path)
  const entries = (each: UtcDate) => entriesOf(rowsOf(each), (slug) => slug)
  const board = leaderboard(entries(date), day.weekBefore && entries(day.weekBefore.date))
  const named = board.rows.filter(({ rank }) => rank !== null)
  const main = html`<p class="trail"><a href="${root}coverage/${date.slice(0, 4)}.html#m${date.slice(0, 7)}">Days</a></p>
<h1>${date}</h1>
<p>${WEEKDAYS[weekdayOf(date)] ?? ''}, midnight to midnight UTC.</p>
${neighbors(day)}${factList([
  ['Status', statusOf(day), noteOf(day)],
  ['Tokens', formatTokens(BigInt(total_tokens)), formatInteger(BigInt(total_tokens))],
  ['Models named', formatInteger(named.length), `a day names at most ${TOP_MODELS}`],
  ['Rows', formatInteger(rows), periodFiles(`${root}${DATASET_PATH}/daily/${date}`, PERIOD_FORMATS.daily)],
])}<section aria-labelledby="ranking">
<h2 id="ranking">Ranking</h2>
${rankingTable(day, board, root)}${noLongerNamed(day, board, root)}</section>
<section aria-labelledby="week">
<h2 id="week">The week around it</h2>
${weekOf(day, rowsOf)}</section>
<section aria-labelledby="revisions">
<h2 id="revisions">Revisions</h2>
${revisionsOf(day, root)}${restatementsOf(day, root)}</section>
`
  const leader = named[0]
  const first = leader === undefined ? '' : ` ${leader.name} comes first with ${formatTokens(leader.tokens)}.`
  const description = `${formatTokens(BigInt(total_tokens))} tokens on ${date}, ${counted(named.length, 'model')} named.${first}`
  return renderPage({ path, title: `Ranking of ${date}`, description, main }, masthead)
}

function neighbors({ before, after }: DayFacts): Html {
  const previous =
    before && html`<li><a href="${before}.html" rel="prev"><span aria-hidden="true">← </span>${before}</a></li>\n`
  const next =
    after && html`<li><a href="${after}.html" rel="next">${after}<span aria-hidden="true"> →</span></a></li>\n`
  return html`<nav aria-label="Days before and after">
<ul class="years">
${previous ?? ''}${next ?? ''}</ul>
</nav>
`
}

function statusOf({ status, restatements }: DayFacts): string {
  return status === 'final' && restatements.length > 0 ? 'restated' : status
}

function noteOf(day: DayFacts): string {
  const notes: Readonly<Record<string, string>> = {
    provisional: 'late logs may still change it',
    restated: 'changed after it was final',
  }
  const note = notes[statusOf(day)] ?? ''
  return day.old_counts ? [note, 'some records are counted as by an earlier version'].filter(Boolean).join('; ') : note
}

function rankingTable({ date, weekBefore, isRuled }: DayFacts, board: Leaderboard, root: string): Html {
  const isCompared = weekBefore !== undefined
  const wasNew = isRuled ? 'not named' : `not in the top ${TOP_MODELS}`
  const compared = isCompared ? `, compared with ${weekBefore.date}. “new”: ${wasNew} a week earlier.` : ''
  return leaderboardTable({
    noun: 'Model',
    caption: `Models on ${date}${compared}`,
    isAtLeast: false,
    board,
    nameOf: ({ name, rank }) =>
      rank === null ? html`${name} <small>(all that are not named)</small>` : modelLink(name, root),
    hasMovement: isCompared,
    changeOf: isCompared ? (row) => changeOf(row) : undefined,
    // Earlier days decide it, so a restatement of one would change the pages of all later ones.
    firstSeen: undefined,
  })
}

function modelLink(slug: string, root: string): Html {
  return html`<a href="${root}${modelPath(slug)}">${slug}</a>`
}

function noLongerNamed({ weekBefore }: DayFacts, { dropped }: Leaderboard, root: string): Html {
  if (weekBefore === undefined || dropped.length === 0) return html``
  const links = commaSeparated(dropped.map((slug) => modelLink(slug, root)))
  return html`<p class="quiet">Named on ${weekBefore.date}, but not on this day: ${links}.</p>\n`
}

function weekOf({ date, week }: DayFacts, rowsOf: RowsOf): Html {
  const rows = week.flatMap((day) => rowsOf(day.date))
  const [from, to] = [week[0]?.date ?? date, week.at(-1)?.date ?? date]
  const content = contentOf(rows, {
    ...{ window: { from, to }, grain: 'day', form: 'stacked', measure: 'tokens', rest: 'joined' },
    // The order of the whole dataset would change the colors of old pages with each new day.
    order: bySize(rows),
    provisionalFrom: week.find(({ status }) => status === 'provisional')?.date,
    restated: new Set(week.filter(({ isRestated }) => isRestated).map((day) => day.date)),
  })
  const chart = chartFigure({
    id: 'week-chart',
    title: `Tokens per day, ${from} to ${to}`,
    description: `Tokens of the largest models on ${counted(week.length, 'day')} around ${date}, stacked. The table below has the sum of each day.`,
    content,
  })
  const days = week.map((day) => {
    if (day.status === 'missing') return [day.date, 'missing', '']
    const name = day.date === date ? html`<b>${date}</b>` : html`<a href="${day.date}.html">${day.date}</a>`
    return [name, day.status, formatInteger(BigInt(day.total_tokens))]
  })
  return html`${chart}${table('Tokens of each day', { words: ['Date', 'Status'], numbers: ['Tokens'] }, days)}`
}

function revisionsOf({ date, revisions }: DayFacts, root: string): Html {
  const [first] = revisions
  if (first === undefined) return html``
  if (revisions.length === 1)
    return html`<p>The rows have not changed since release ${new Html(first.link)} published them.</p>\n`
  const rows = revisions
    .map((revision, position) => {
      const before = revisions[position - 1]
      return [
        revision.number === null ? '' : `r${revision.number}`,
        new Html(revision.link),
        revision.as_of === null ? '' : instantElement(revision.as_of),
        filesOf(date, revision, root),
        formatInteger(revision.rows),
        formatInteger(BigInt(revision.total_tokens)),
        before === undefined ? '' : changeBetween(before, revision),
        before === undefined ? '' : formatInteger(revision.changed_rows),
      ]
    })
    .toReversed()
  const words = ['Revision', 'Since release', 'As of', 'Files']
  const columns = { words, numbers: ['Rows', 'Tokens', 'Change', 'Rows that differ'] }
  return table('Revisions, newest first', columns, rows)
}

function filesOf(date: UtcDate, { number }: Revision, root: string): Html {
  return number === null ? html`` : periodFiles(`${root}${DATASET_PATH}/daily/${date}/r${number}`, PERIOD_FORMATS.daily)
}

function changeBetween(before: Revision, after: Revision): string {
  const [from, to] = [BigInt(before.total_tokens), BigInt(after.total_tokens)]
  return from === 0n ? '' : formatChange(from, to)
}

function restatementsOf({ restatements }: DayFacts, root: string): Html {
  if (restatements.length === 0) return html``
  const items = restatements.toReversed().map(({ id, as_of, reason, note, tokens_before, tokens_after }) => {
    const [before, after] = [BigInt(tokens_before), BigInt(tokens_after)]
    const link = html`<a href="${root}changelog/${as_of.slice(0, 4)}.html#${id}">${dateElement(as_of.slice(0, 10))}</a>`
    const size = before === 0n ? '' : ` (${formatChange(before, after)})`
    return html`<li>${link}: ${formatInteger(before)} → ${formatInteger(after)} tokens${size}.${reasonSentences({ reason, note })}</li>\n`
  })
  return html`<h3>Restatements</h3>
<p>Changes after the day was final.</p>
<ul>
${items}</ul>
`
}
