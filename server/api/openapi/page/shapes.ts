import { type Html, html } from '../../../../pipeline/contract/html.ts'
import type { JsonSchema } from '../components.ts'
import { inline, joined, NOTHING } from './text.ts'

export const REQUIRED = html` <abbr title="required">*</abbr>`

/** A value's type in a few words, with bounds and links to named schemas. */
export function typeName(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) {
    const name = lastSegment(schema.$ref)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined)
    return joined(
      choices.map((choice) => typeName(choice as JsonSchema)),
      ' or ',
    )
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum !== undefined)
    return joined(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' or ',
    )
  if (schema.type === 'array') return html`list of ${typeName((schema.items ?? {}) as JsonSchema)}${bounds(schema)}`
  return html`${[schema.type ?? 'anything'].flat().join(' or ')}${bounds(schema)}`
}

const BOUNDS = {
  format: '',
  pattern: 'pattern ',
  minimum: 'at least ',
  maximum: 'at most ',
  minLength: 'min. length ',
  maxLength: 'max. length ',
  minItems: 'min. items ',
  maxItems: 'max. items ',
  default: 'default ',
} satisfies Partial<Record<keyof JsonSchema, string>>

function bounds(schema: JsonSchema): Html {
  const words = Object.entries(BOUNDS).flatMap(([key, word]) => {
    const value = schema[key]
    return value === undefined ? [] : [`${word}${typeof value === 'string' ? value : JSON.stringify(value)}`]
  })
  return words.length === 0 ? NOTHING : html` <small>(${words.join(', ')})</small>`
}

/** All properties of a schema. Those of inner objects are folded. */
export function shape(schema: JsonSchema): Html {
  const options = (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[]
  const unnamed = options.filter(hasShape)
  if (options.length > 0 && unnamed.length === 0) return html`<p>${typeName(schema)}</p>`
  if (options.length > 0) {
    const named = options.filter((option) => !hasShape(option))
    return html`<p>One of:</p><ul>${named.map((option) => html`<li>${typeName(option)}</li>`)}${unnamed.map((option) => html`<li>${shape(option)}</li>`)}</ul>`
  }
  if (schema.type === 'array') return html`<p>${typeName(schema)}</p>${parts((schema.items ?? {}) as JsonSchema)}`
  const properties = Object.entries(schema.properties ?? {}) as [string, JsonSchema][]
  if (properties.length === 0) return html`<p>${typeName(schema)}</p>`
  return html`<dl class="shape">
${properties.map(
  ([name, property]) =>
    html`<div><dt><code>${name}</code>${schema.required?.includes(name) ? REQUIRED : NOTHING}</dt><dd>${typeName(property)}${property.deprecated === true ? html` <small>deprecated</small>` : NOTHING}${typeof property.description === 'string' ? html`<br>${inline(property.description)}` : NOTHING}${parts(property)}</dd></div>
`,
)}</dl>`
}

function parts(schema: JsonSchema): Html {
  return hasShape(schema) ? html`<details><summary>Shape</summary>${shape(schema)}</details>` : NOTHING
}

function hasShape(schema: JsonSchema): boolean {
  const inner = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.type === 'array' ? [schema.items ?? {}] : []),
  ]
  return schema.properties !== undefined || inner.some((part) => hasShape(part as JsonSchema))
}

export function lastSegment(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
