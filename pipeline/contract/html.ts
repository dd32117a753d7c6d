const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text that is safe between tags and in quoted attributes: names of models come from logs and may hold anything. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** A template of HTML that escapes every value; `Html` values and lists of them stand as they are. */
export function html(strings: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  const parts = strings.map((text, position) => text + toHtml(values[position]))
  return new Html(parts.join(''))
}

/** A piece of finished HTML. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function toHtml(value: string | number | Html | readonly Html[] | undefined): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map((piece) => piece.text).join('')
  return escapeHtml(String(value))
}

/** The same for XML, in which most control characters cannot stand at all. */
export function escapeXml(text: string): string {
  return escapeHtml(withoutControls(text))
}

/** Text without the characters that XML does not allow, not even escaped. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, '')
}
