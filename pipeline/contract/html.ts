const SPECIAL = /[&<>"']/
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML content and quoted attributes. Model names come from logs and may hold anything. */
export function escapeHtml(text: string): string {
  if (!SPECIAL.test(text)) return text
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

export function html(strings: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  let text = strings[0] ?? ''
  values.forEach((value, position) => {
    text += toHtml(value) + (strings[position + 1] ?? '')
  })
  return new Html(text)
}

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function toHtml(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return value instanceof Html ? value.text : value.map((piece) => piece.text).join('')
}

/** Escapes text for XML and drops the control characters it forbids. */
export function escapeXml(text: string): string {
  return escapeHtml(withoutControls(text))
}

/** Drops the characters that XML forbids even when escaped. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, '')
}
