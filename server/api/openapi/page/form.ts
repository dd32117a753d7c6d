import { type Html, html } from '../../../../pipeline/contract/html.ts'
import type { JsonSchema } from '../components.ts'
import type { OperationObject, ParameterObject } from '../document.ts'
import { REQUIRED, typeName } from './shapes.ts'
import { inline, NOTHING } from './text.ts'

const BODY_ROWS = 14

/** Hidden until the script of the page is there: without it, a form would do nothing. */
const FOR_SCRIPT = html` data-for-script hidden`

/** The parameters and the body of an operation, with fields that a script sends. */
export function operationForm(method: string, path: string, operation: OperationObject): Html {
  const { operationId, summary, parameters, requestBody } = operation
  const body = requestBody?.content['application/json']
  return html`<form data-method="${method}" data-path="${path}" aria-label="${summary}" novalidate>
${parameters.length === 0 ? NOTHING : html`<h4>Parameters</h4>\n<div class="parameters">\n${parameters.map((one) => field(operationId, one))}</div>\n`}${
  body === undefined
    ? NOTHING
    : html`<h4><label for="${operationId}-body">Body</label></h4>
<p>${typeName(body.schema)}</p>
<textarea id="${operationId}-body" data-in="body" rows="${BODY_ROWS}" spellcheck="false"${FOR_SCRIPT}>${JSON.stringify(body.example, undefined, 2)}</textarea>
`
}${sendAndResult(summary)}</form>
`
}

/** The button of a form, and the place of its answer. */
export function sendAndResult(summary: string): Html {
  return html`<p${FOR_SCRIPT}><button class="strong" type="submit" aria-label="Try it: ${summary}">Try it</button></p>
<div class="result" role="status"></div>
`
}

function field(operationId: string, parameter: ParameterObject): Html {
  const { name, in: place, required, description = '', schema } = parameter
  const id = `${operationId}-${name}`
  return html`<div>
<label for="${id}"><code>${name}</code></label>${required ? REQUIRED : NOTHING} <small>${place}: ${typeName(schema)}</small>
<p id="${id}-about">${inline(description)}</p>
${input(id, parameter)}</div>
`
}

function input(id: string, { name, in: place, example, schema, explode }: ParameterObject): Html {
  const common = html`id="${id}" name="${name}" data-in="${place}" aria-describedby="${id}-about"${FOR_SCRIPT}`
  const choices = choicesOf(schema)
  if (choices.length > 0)
    return html`<select ${common}><option value=""></option>${choices.map((choice) => html`<option>${choice}</option>`)}</select>`
  // Parameters that repeat have a value a line.
  if (schema.type === 'array' && explode !== false)
    return html`<textarea ${common} rows="2" placeholder="one a line"></textarea>`
  const value = place === 'path' && example !== undefined ? html` value="${String(example)}"` : NOTHING
  const hint = place !== 'path' && example !== undefined ? html` placeholder="${String(example)}"` : NOTHING
  return html`<input ${common} autocomplete="off" spellcheck="false"${value}${hint}>`
}

function choicesOf({ enum: values = [] }: JsonSchema): string[] {
  return values.map(String)
}
