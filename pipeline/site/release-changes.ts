import { counted, formatChange, formatInteger, formatTokens } from '../base/numbers.ts'
import { CHANGES_FILES, type ChangeRow, type TableChanges } from '../contract/change-log.ts'
import { type Html, html } from '../contract/html.ts'
import { DATES_WITHDRAWN, type Manifest, type ReleaseChanges } from '../contract/manifest.ts'
import { type RankingRow, sumTokens } from '../contract/ranking.ts'
import type { RestatementReason } from '../contract/reason.ts'
import type { PeriodTable } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { table } from './table.ts'

const CHANGES_SHOWN = 10
const DATES_SHOWN = 30

/** What differs from the release before. `root` leads to the changelog: that release may have no page, or be withdrawn later. */
export function whatChanged(
  { changes: stated }: Manifest,
  { rows, changes }: { rows: readonly RankingRow[]; changes: TableChanges },
  root: string,
): Html {
  if (stated.facts.includes(DATES_WITHDRAWN)) {
    return html`<p>Dates were taken out of the dataset, and the releases that had them were withdrawn. All other rows are those that
were published before.</p>\n`
  }
  if (stated.previous === null) return html`<p>This is the first release.</p>\n`
  const link = html`<a href="${root}changelog.html">${stated.previous}</a>`
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

export interface Changed {
  before: bigint
  after: bigint
}

const HALF = 50

/** Draws changes in percent, each from the middle: more to the right, less to the left, the largest to an end. */
export function changeBars(changes: readonly Changed[]): (change: Changed) => Html {
  const largest = Math.max(...changes.map((change) => Math.abs(percentOf(change))), 0)
  return (change) => {
    if (largest === 0 || change.before === 0n) return html``
    const width = Math.round((percentOf(change) / largest) * HALF * 10) / 10
    return html`<svg class="bar" viewBox="${-HALF} 0 ${2 * HALF} 10" preserveAspectRatio="none" aria-hidden="true"><path d="M0,1h${width}v8H0z"/><path d="M-.5,0h1v10h-1z"/></svg>`
  }
}

function percentOf({ before, after }: Changed): number {
  return before === 0n ? 0 : Number(((after - before) * 1_000_000n) / before) / 10_000
}

const WORDS: Readonly<Record<Exclude<RestatementReason, 'unspecified'>, string>> = {
  late_data: 'logs that came late',
  correction: 'a correction',
  duplicates: 'records that had been counted twice',
  registry: 'another list of models',
  method: 'another method',
  reading: 'a newer version of the software, which reads the same logs differently',
}

/** Sentences with the publisher's reason and note, to append to others; empty without them. */
export function reasonSentences({ reason = 'unspecified', note }: Pick<ReleaseChanges, 'reason' | 'note'>): string {
  const why = reason === 'unspecified' ? '' : ` Reason: ${WORDS[reason]}.`
  return `${why}${note == null ? '' : ` ${note}`}`
}
