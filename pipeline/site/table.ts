import { type Html, html } from '../contract/html.ts'
import { scrollable, withDates } from './elements.ts'

export type Cell = Html | string | number

interface Columns {
  words: readonly string[]
  /** They stand at the right. */
  numbers?: readonly string[]
  /** Which cell of a row is its heading. */
  head?: number
}

/** A table that scrolls by itself on narrow screens, also by keyboard. */
export function table(caption: string, columns: Columns, rows: readonly (readonly Cell[])[], kind = ''): Html {
  const { words, numbers = [], head = 0 } = columns
  const heads = [...words, ...numbers].map((name) => html`<th scope="col">${name}</th>`)
  const cell = (content: Cell, at: number) =>
    at === head ? html`<th scope="row">${content}</th>` : html`<td>${content}</td>`
  const content = html`<table class="words-${words.length}${kind}">
<caption>${withDates(caption)}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>\n`)}</tbody>
</table>
`
  return scrollable(caption, content)
}

export type Fact = readonly [name: string, value: Cell, note?: Cell | undefined]

export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="key-facts">
${facts.map(fact)}</dl>
`
}

function fact([name, value, note]: Fact): Html {
  const more = note === undefined ? html`` : html`<dd class="note">${note}</dd>`
  return html`<div><dt>${name}</dt><dd>${value}</dd>${more}</div>\n`
}
