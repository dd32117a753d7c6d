const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML content and quoted attributes. Model names come from logs and may hold anything. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

export function html(strings: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  const parts = strings.map((text, position) => text + toHtml(values[position]))
  return new Html(parts.join(''))
}

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

/** Escapes text for XML and drops the control characters it forbids. */
export function escapeXml(text: string): string {
  return escapeHtml(withoutControls(text))
}

/** Drops the characters that XML forbids even when escaped. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, '')
}
