import { type Html, html } from '../contract/html.ts'

export function prose(text: string): Html {
  const parts = text.split('`')
  // An odd number of backquotes has no pairs: show the text as it is.
  if (parts.length % 2 === 0) return html`${text}`
  return html`${parts.map((part, position) => (position % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`
}

/** The same of a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Escapes control characters: text from raw logs must not steer the terminal or break a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code === 0x0a ? '\\n' : code === 0x09 ? '\\t' : `\\u{${code.toString(16)}}`
  })
}

/** The text without what may be secret in a URL: its user and password, and its query, which may be signed. */
export function withoutSecrets(text: string): string {
  return text.replace(/(:|\/\/).*@/s, '$1…@').replace(/(:(?:\/\/|…@)[^?]*\?).+?("?)$/s, '$1…$2')
}
