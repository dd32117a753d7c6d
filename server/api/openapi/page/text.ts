import { type Html, html } from '../../../../pipeline/contract/html.ts'

export const NOTHING = html``

/** Paragraphs of a description, with its code and links. */
export function prose(text: string): Html {
  return html`${text.split('\n\n').map(
    (paragraph) => html`<p>${inline(paragraph)}</p>
`,
  )}`
}

const INLINE = /`([^`]+)`|\[([^\]]+)\]\((https:[^)]+)\)/g

export function inline(text: string): Html {
  const pieces: Html[] = []
  let end = 0
  for (const { index, 0: whole, 1: code, 2: label = '', 3: target = '' } of text.matchAll(INLINE)) {
    const piece = code === undefined ? html`<a href="${target}">${label}</a>` : html`<code>${code}</code>`
    pieces.push(html`${text.slice(end, index)}${piece}`)
    end = index + whole.length
  }
  return html`${pieces}${text.slice(end)}`
}

export function joined(pieces: Html[], separator: string): Html {
  return html`${pieces.map((piece, index) => (index === 0 ? piece : html`${separator}${piece}`))}`
}

/** A block of code that scrolls on its own, also by keyboard. */
export function codeBlock(label: string, code: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}"><code>${code}</code></pre>
`
}
