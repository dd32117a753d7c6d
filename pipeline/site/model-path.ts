const PLAIN = /[a-z0-9._/-]/

/** Where the page of a model lies below the public folder: `openai/gpt-4o` -> `models/openai/gpt-4o.html`. */
export function modelPath(slug: string): string {
  const toEscapes = (character: string) =>
    [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`)
  return `models/${[...slug].map((one) => (PLAIN.test(one) ? one : toEscapes(one).join(''))).join('')}.html`
}
