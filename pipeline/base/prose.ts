import { type Html, html } from '../contract/html.ts'

export function prose(text: string): Html {
  const parts = text.split('`')
  // An odd number of backquotes has no pairs: show the text as it is.
  if (parts.length % 2 === 0) return html`${text}`
  return html`${parts.map((part, position) => (position % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`
}

/** Escapes control characters: text from raw logs must not steer the terminal or break a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code === 0x0a ? '\\n' : code === 0x09 ? '\\t' : `\\u{${code.toString(16)}}`
  })
}

/** The same for a text of several lines, which keeps its line ends. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Indented JSON without these characters: it means the same, and can be pasted. */
export function printableJson(value: unknown): string {
  const json = JSON.stringify(value, undefined, 2)
  return json.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** The text without what may be secret in a URL: its user and password, and its query, which may be signed. */
export function withoutSecrets(text: string): string {
  const [begin, end] = [text.search(/:|\/\//), text.lastIndexOf('@')]
  if (begin < 0 || end < begin) return text.includes('://') ? withoutQuery(text) : text
  const isInQuery = text.slice(begin, end).includes('?')
  return `${text.slice(0, begin)}:…@${isInQuery ? '…' : withoutQuery(text.slice(end + 1))}`
}

function withoutQuery(text: string): string {
  const [path, ...query] = text.split('?')
  return query.length === 0 ? text : `${path}?…`
}
