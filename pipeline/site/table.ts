import { type Html, html } from '../contract/html.ts'
import { scrollable, withDates } from './elements.ts'

export type Cell = Html | string | number

/** A table that scrolls by itself on narrow screens, also by keyboard. First cells are headings, numbers come last. */
export function table(
  caption: string,
  { words, numbers = [] }: { words: readonly string[]; numbers?: readonly string[] },
  rows: readonly (readonly Cell[])[],
): Html {
  const heads = [...words, ...numbers].map((name) => html`<th scope="col">${name}</th>`)
  const content = html`<table class="words-${words.length}">
<caption>${withDates(caption)}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map(row)}</tbody>
</table>
`
  return scrollable(caption, content)
}

function row([head = '', ...cells]: readonly Cell[]): Html {
  return html`<tr><th scope="row">${head}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`
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
