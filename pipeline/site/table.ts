import { type Html, html } from './html.ts'

type Cell = Html | string | number

/**
 * A table that scrolls by itself where the screen is too narrow for it, also by keyboard. The first cell of a row is its
 * heading. Columns of numbers come after those of words: the stylesheet puts them to the right by the class of the table,
 * which costs no byte in each cell.
 */
export function table(
  caption: string,
  { words, numbers = [] }: { words: readonly string[]; numbers?: readonly string[] },
  rows: readonly (readonly Cell[])[],
): Html {
  const heads = [...words, ...numbers].map((name) => html`<th scope="col">${name}</th>`)
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table class="words-${words.length}">
<caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map(row)}</tbody>
</table>
</div>
`
}

function row([head = '', ...cells]: readonly Cell[]): Html {
  return html`<tr><th scope="row">${head}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`
}

/** Facts in pairs: what it is, and its value. */
export function factList(facts: readonly (readonly [name: string, value: Cell])[]): Html {
  return html`<dl class="facts">
${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
`
}
