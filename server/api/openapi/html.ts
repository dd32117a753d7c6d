export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

type Insertable = Html | string | number | readonly Insertable[]

/** An HTML template that escapes all values but `Html`. Lists are joined. */
export function html(template: TemplateStringsArray, ...values: Insertable[]): Html {
  return new Html(String.raw({ raw: template }, ...values.map(toText)))
}

function toText(value: Insertable): string {
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(toText).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
