import { formatChange, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { scrollable, tokensElement, withDates } from './elements.ts'
import type { Leaderboard, LeaderboardRow } from './leaderboard.ts'

export interface LeaderboardTable {
  /** What the names are: `Model`. */
  noun: string
  /** Tells the table from others on its page. */
  caption: string
  /** Whether more tokens may be part of `other`. */
  isAtLeast: boolean
  board: Leaderboard
  nameOf: (row: LeaderboardRow) => Html
  /** Whether there is a period before, with ranks to compare with. */
  hasMovement: boolean
  /** Undefined if there is nothing that tokens could be compared with. */
  changeOf: ((row: LeaderboardRow) => string) | undefined
  /** Undefined if the table does not tell. */
  firstSeen: ((row: LeaderboardRow) => UtcDate | undefined) | undefined
}

interface Column {
  name: string
  head: Html
  cell: (row: LeaderboardRow) => Html | string
  /** The cell of all rows together. */
  total: string | Html
}

/** The change of a row in tokens per day, because months differ in length. */
export function changeOf({ tokens, before }: LeaderboardRow, days = 1, daysBefore = days): string {
  if (before.kind !== 'known' || before.tokens === 0n) return '–'
  return formatChange(before.tokens * BigInt(days), tokens * BigInt(daysBefore))
}

/** A ranking as a table. On a narrow screen each row takes two lines, and nothing scrolls. */
export function leaderboardTable(table: LeaderboardTable): Html {
  const { caption, board, hasMovement, changeOf } = table
  const columns = columnsOf(table)
  const head = columns.map(({ name, head }) => html`<th scope="col" role="columnheader" class="${name}">${head}</th>`)
  const total = columns.map(({ name, total }) => cell(name, total))
  const kind = `ranking${hasMovement || changeOf !== undefined ? '' : ' still'}`
  const content = html`<table class="${kind}" role="table">
<caption>${withDates(caption)}</caption>
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">
${board.rows.map((row) => html`<tr role="row"${row.rank === null ? html` class="rest-row"` : html``}>${columns.map(({ name, cell: content }) => cell(name, content(row)))}</tr>\n`)}</tbody>
<tfoot role="rowgroup"><tr role="row">${total}</tr></tfoot>
</table>
`
  return scrollable(caption, content)
}

function cell(name: string, content: Html | string): Html {
  return name === 'name'
    ? html`<th scope="row" role="rowheader" class="name">${content}</th>`
    : html`<td role="cell" class="${name}">${content}</td>`
}

function columnsOf({ noun, board, isAtLeast, nameOf, hasMovement, changeOf, firstSeen }: LeaderboardTable): Column[] {
  const { rows, total } = board
  const [widest = 0n] = rows.map(({ tokens, rank }) => (rank === 1 ? tokens : 0n))
  const hidden = (text: string) => html`<span class="visually-hidden">${text}</span>`
  const movement: Column = { name: 'move', head: hidden('Places moved'), cell: movementOf, total: '' }
  const change: Column = { name: 'change', head: html`Change`, cell: (row) => changeOf?.(row) ?? '', total: '' }
  return [
    { name: 'rank', head: html`Rank`, cell: ({ rank }) => `${rank ?? ''}`, total: '' },
    ...(hasMovement ? [movement] : []),
    { name: 'name', head: html`${noun}`, cell: nameOf, total: 'All models' },
    {
      name: 'tokens',
      head: html`Tokens${isAtLeast ? ', at least' : ''}`,
      cell: ({ tokens }) => tokensElement(tokens),
      total: tokensElement(total),
    },
    {
      name: 'share',
      head: html`Share`,
      cell: ({ tokens }) => formatShare(tokens, total),
      total: formatShare(total, total),
    },
    { name: 'share-bar', head: hidden('Share as a bar'), cell: (row) => bar(row, widest), total: '' },
    ...(changeOf === undefined ? [] : [change]),
    ...(firstSeen === undefined ? [] : [seen(firstSeen)]),
  ]
}

function seen(firstSeen: NonNullable<LeaderboardTable['firstSeen']>): Column {
  return { name: 'seen', head: html`First seen`, cell: (row) => firstSeen(row) ?? '', total: '' }
}

function movementOf({ rank, before }: LeaderboardRow): Html {
  if (rank === null || before.kind === 'unknown') return html``
  if (before.kind === 'new') return html`new`
  const places = (before.rank ?? rank) - rank
  if (places === 0) return html`<span aria-hidden="true">–</span><span class="visually-hidden">same rank</span>`
  const [arrow, word, size] = places > 0 ? ['▲', 'up', places] : ['▼', 'down', -places]
  return html`<span class="${word}"><span aria-hidden="true">${arrow} </span><span class="visually-hidden">${word} </span>${size}</span>`
}

/** Its full width is the first rank. */
function bar({ tokens, rank }: LeaderboardRow, widest: bigint): Html {
  if (rank === null || widest === 0n) return html``
  const width = Number((tokens * 1000n) / widest) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${width}%" height="99"/></svg>`
}
