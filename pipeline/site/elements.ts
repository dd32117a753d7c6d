import { formatBytes, formatInteger } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { Timestamp } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** A table that may be wider than a phone: it scrolls by itself, also by keyboard. */
export function scrollable(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
${table}</div>
`
}

export function dateElement(date: UtcDate): Html {
  return html`<time datetime="${date}">${date}</time>`
}

export function instantElement(instant: Timestamp): Html {
  return html`<time datetime="${instant}">${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC</time>`
}

/** A size in few signs; the exact number of bytes is its value and title. */
export function bytesElement(bytes: number): Html {
  return html`<data value="${bytes}" title="${formatInteger(bytes)} bytes">${formatBytes(bytes)}</data>`
}

/** Something to copy, with the button that a script shows where it can copy. */
export function copyable(id: string, what: string, text: string): Html {
  return html`<div class="copy">
<pre tabindex="0" role="region" aria-label="${what}"><code id="${id}">${text}</code></pre>
<button type="button" data-copy="${id}" hidden>Copy<span class="visually-hidden"> ${what}</span></button>
</div>
`
}
