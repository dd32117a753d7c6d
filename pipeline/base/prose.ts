import { type Html, html } from '../contract/html.ts'

/** A plain text of the description, in which backquotes stand around names. */
export function prose(text: string): Html {
  const parts = text.split('`')
  // Without its fellow a backquote is a character as any other.
  if (parts.length % 2 === 0) return html`${text}`
  return html`${parts.map((part, position) => (position % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`
}
