import { type Html, html } from '../../../../pipeline/contract/html.ts'
import type { JsonSchema } from '../components.ts'
import type { OpenApiDocument, OperationObject } from '../document.ts'
import { operationForm } from './form.ts'
import { sampleRequest, samples } from './samples.ts'
import { lastSegment, typeName } from './shapes.ts'
import { codeBlock, inline, joined, prose } from './text.ts'

export interface Entry {
  path: string
  method: string
  operation: OperationObject
}

export function operationsOf({ paths }: OpenApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

/** An operation: what it does, a form that tries it, code that calls it, and what it answers. */
export function operationSection({ path, method, operation }: Entry, document: OpenApiDocument): Html {
  const { operationId, summary, description, responses } = operation
  const base = document.servers[0]?.url ?? ''
  const examples = Object.entries<{ example: unknown }>(responses[200].content)
  return html`<section id="${operationId}">
<h3>${summary}</h3>
<p class="route"><b>${method}</b> <code>${path}</code></p>
${prose(description)}
${operationForm(method, path, operation)}<h4>Code</h4>
${samples(operationId, sampleRequest(method, base + path, operation))}<details>
<summary>Answers</summary>
<table><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th><th scope="col">Body</th></tr></thead><tbody>
${Object.entries(responses).map(([status, response]) => responseRow(status, response, document))}</tbody></table>
${examples.map(([mediaType, { example }]) => codeBlock(`Example of ${mediaType}: ${summary}`, shown(example)))}</details>
</section>
`
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
  return html`<tr><th scope="row">${status}</th><td>${inline(description)}<br><small>${names}</small></td><td>${joined(bodies, ' or ')}</td></tr>
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
