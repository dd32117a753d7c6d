type Scalar = string | number | boolean
type Entries = Readonly<Record<string, Scalar>>
export type YamlDocument = Readonly<Record<string, Scalar | readonly (Scalar | Entries)[]>>

/** YAML of which every scalar is on one line. No text ends a document, and none is taken for a number or a date. */
export function toYaml(document: YamlDocument): string {
  return Object.entries(document)
    .map(([name, value]) => `${name}:${Array.isArray(value) ? list(value) : ` ${scalar(value as Scalar)}`}\n`)
    .join('')
}

function list(items: readonly (Scalar | Entries)[]): string {
  return items.map((item) => `\n  - ${typeof item === 'object' ? entries(item) : scalar(item)}`).join('')
}

function entries(item: Entries): string {
  return Object.entries(item)
    .map(([name, value]) => `${name}: ${scalar(value)}`)
    .join('\n    ')
}

/** JSON strings are valid YAML if these characters are escaped. */
function scalar(value: Scalar): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
