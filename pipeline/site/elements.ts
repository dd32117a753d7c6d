import { formatBytes, formatInteger, formatTokens } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { Timestamp } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** Lets a wide table scroll on its own, also by keyboard. */
export function scrollable(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
${table}</div>
`
}

export function dateElement(date: UtcDate): Html {
  return html`<time datetime="${date}">${date}</time>`
}

/** A text with its dates as elements, which keeps each on one line. */
export function withDates(text: string): Html {
  const parts = text.split(/(\d{4}-\d{2}-\d{2})/)
  return html`${parts.map((part, position) => (position % 2 === 1 ? dateElement(part) : html`${part}`))}`
}

export function instantElement(instant: Timestamp): Html {
  return html`<time datetime="${instant}">${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC</time>`
}

export function commaSeparated(items: readonly Html[]): Html {
  return html`${items.map((item, position) => html`${position === 0 ? '' : ', '}${item}`)}`
}

/** Closed on a phone, and open without a summary where there is room. */
export function folded(summary: string, content: Html): Html {
  return html`<details class="fold">
<summary>${summary}</summary>
${content}</details>
`
}

/** A rounded size with the exact number of bytes as value and title. */
export function bytesElement(bytes: number): Html {
  return html`<data value="${bytes}" title="${formatInteger(bytes)} bytes">${formatBytes(bytes)}</data>`
}

/** Tokens in three digits, with all of them as value. */
export function tokensData(tokens: bigint): Html {
  return html`<data value="${tokens.toString()}">${formatTokens(tokens)}</data>`
}

/** Tokens in three digits, and in all of them where there is room. */
export function tokensElement(tokens: bigint): Html {
  const [short, exact] = [formatTokens(tokens), formatInteger(tokens)]
  if (short === exact) return html`${exact}`
  return html`<data value="${tokens.toString()}"><span class="short">${short}</span><span class="exact">${exact}</span></data>`
}

/** Text with a copy button, which a script shows if it can copy. */
export function copyable(id: string, what: string, text: string): Html {
  return html`<div class="copy">
<pre tabindex="0" role="region" aria-label="${what}"><code id="${id}">${text}</code></pre>
<button type="button" data-copy="${id}" hidden>Copy<span class="visually-hidden"> ${what}</span></button>
</div>
`
}
