import { type Html, html } from '../contract/html.ts'

export function prose(text: string): Html {
  const parts = text.split('`')
  // An odd number of backquotes has no pairs: show the text as it is.
  if (parts.length % 2 === 0) return html`${text}`
  return html`${parts.map((part, position) => (position % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`
}
