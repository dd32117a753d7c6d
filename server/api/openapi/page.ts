import { type Html, html } from '../../../pipeline/contract/html.ts'
import type { JsonSchema } from './components.ts'
import type { OpenApiDocument, OperationObject, ParameterObject } from './document.ts'

const NOTHING = html``

export function docsPage(document: OpenApiDocument): string {
  const base = document.servers[0]?.url ?? ''
  const operations = operationsOf(document)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} ${document.info.version}</title>
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<nav aria-label="Operations and schemas">
${document.tags.map(
  ({ name }) => html`<h2>${name}</h2>
<ul>${operations
    .filter(({ operation }) => operation.tags[0] === name)
    .map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}</ul>
`,
)}<h2><a href="#schemas">Schemas</a></h2>
</nav>
<main>
<h1>${document.info.title} <small>${document.info.version}</small></h1>
${prose(document.info.description)}
<p>Base URL: <code>${base}</code> on this server. For programs: <a href="/openapi.json">openapi.json</a>. In the examples
<code>$SERVER</code> is the address of this server, such as <code>http://127.0.0.1:8080</code>, and <code>$KEY</code> an API key.</p>
${document.tags.map(
  (tag) => html`<h2>${tag.name}</h2>
<p>${tag.description}</p>
${operations.filter(({ operation }) => operation.tags[0] === tag.name).map((entry) => section(entry, document, base))}`,
)}<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}">
<h3>${name}</h3>
${typeof schema.description === 'string' ? html`<p>${inline(schema.description)}</p>` : NOTHING}
${shape(schema)}
</section>
`,
)}</main>
</body>
</html>
`.text
}

interface Entry {
  path: string
  method: string
  operation: OperationObject
}

function operationsOf({ paths }: OpenApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function section({ path, method, operation }: Entry, document: OpenApiDocument, base: string): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const body = requestBody?.content['application/json']
  const examples = Object.values<{ example: unknown }>(responses[200].content).map(({ example }) => example)
  return html`<section id="${operationId}">
<h3>${summary}</h3>
<p class="route"><b>${method}</b> <code>${path}</code></p>
${prose(description)}
${parameters.length === 0 ? NOTHING : parameterTable(parameters)}
${body === undefined ? NOTHING : html`<h4>Body</h4><p>${typeName(body.schema)}</p>`}
<h4>Example</h4>
<pre><code>${curl(method, base + exampleUrl(path, parameters), body?.example)}</code></pre>
<h4>Answers</h4>
<table><thead><tr><th>Status</th><th>Meaning</th><th>Body</th></tr></thead><tbody>
${Object.entries(responses).map(([status, response]) => responseRow(status, response, document))}</tbody></table>
${examples.map(
  (example) => html`<pre><code>${shown(example)}</code></pre>
`,
)}</section>
`
}

function parameterTable(parameters: ParameterObject[]): Html {
  return html`<h4>Parameters</h4>
<table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>
${parameters.map(
  ({ name, in: place, required, description = '', schema }) =>
    html`<tr><td><code>${name}</code>${required ? REQUIRED : NOTHING}</td><td>${place}</td><td>${typeName(schema)}</td><td>${inline(description)}</td></tr>
`,
)}</tbody></table>`
}

interface ResponseObject {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, { schema: JsonSchema }>
}

function responseRow(status: string, response: ResponseObject | { $ref: string }, document: OpenApiDocument): Html {
  const { description, content = {}, headers = {} } = '$ref' in response ? resolve(response, document) : response
  const bodies = Object.entries(content).map(([mediaType, { schema }]) =>
    mediaType === 'application/json' ? typeName(schema) : html`<code>${mediaType}</code>`,
  )
  const names = Object.keys(headers).map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`)
  return html`<tr><td>${status}</td><td>${inline(description)}<br><small>${names}</small></td><td>${joined(bodies, ' or ')}</td></tr>
`
}

function resolve({ $ref }: { $ref: string }, { components }: OpenApiDocument): ResponseObject {
  const response = components.responses[lastSegment($ref)]
  if (response === undefined) throw new Error(`the document has no ${$ref}`)
  return response
}

function shown(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, 2)
}

function curl(method: string, url: string, body: unknown): string {
  const lines = [`curl -sS "$SERVER${url}"`, `-H "Authorization: Bearer $KEY"`]
  if (method !== 'GET') lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`)
  return lines.join(' \\\n  ')
}

function exampleUrl(path: string, parameters: ParameterObject[]): string {
  const encoded = ({ example }: ParameterObject) => encodeURIComponent(String(example))
  const query = parameters.filter(({ in: place, example }) => place === 'query' && example !== undefined)
  const filled = parameters
    .filter(({ in: place }) => place === 'path')
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, encoded(parameter)), path)
  return query.length === 0 ? filled : `${filled}?${query.map((one) => `${one.name}=${encoded(one)}`).join('&')}`
}

const REQUIRED = html` <abbr title="required">*</abbr>`

/** A value's type in a few words, with bounds and links to named schemas. */
function typeName(schema: JsonSchema): Html {
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

function shape(schema: JsonSchema): Html {
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
  return html`<table><tbody>
${properties.map(
  ([name, property]) =>
    html`<tr><td><code>${name}</code>${schema.required?.includes(name) ? REQUIRED : NOTHING}</td><td>${typeName(property)}${property.deprecated === true ? html` <small>deprecated</small>` : NOTHING}${typeof property.description === 'string' ? html`<br>${inline(property.description)}` : NOTHING}${parts(property)}</td></tr>
`,
)}</tbody></table>`
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

function joined(pieces: Html[], separator: string): Html {
  return html`${pieces.map((piece, index) => (index === 0 ? piece : html`${separator}${piece}`))}`
}

function lastSegment(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function prose(text: string): Html {
  return html`${text.split('\n\n').map(
    (paragraph) => html`<p>${inline(paragraph)}</p>
`,
  )}`
}

const INLINE = /`([^`]+)`|\[([^\]]+)\]\((https:[^)]+)\)/g

function inline(text: string): Html {
  const pieces: Html[] = []
  let end = 0
  for (const { index, 0: whole, 1: code, 2: label = '', 3: target = '' } of text.matchAll(INLINE)) {
    const piece = code === undefined ? html`<a href="${target}">${label}</a>` : html`<code>${code}</code>`
    pieces.push(html`${text.slice(end, index)}${piece}`)
    end = index + whole.length
  }
  return html`${pieces}${text.slice(end)}`
}
