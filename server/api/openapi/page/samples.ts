import { type Html, html } from '../../../../pipeline/contract/html.ts'
import type { OperationObject, ParameterObject } from '../document.ts'
import { codeBlock } from './text.ts'

/** A request of an operation with its examples. */
export interface SampleRequest {
  method: string
  /** Where a server usually is; the script puts the address of this one in its place. */
  url: string
  body: string | undefined
}

/** The address in samples, which the browser's script replaces. */
export const SAMPLE_SERVER = 'http://127.0.0.1:8080'

const INDENT = 2

export function sampleRequest(method: string, path: string, operation: OperationObject): SampleRequest {
  const { parameters, requestBody } = operation
  const body = requestBody?.content['application/json'].example
  return {
    method,
    url: SAMPLE_SERVER + exampleUrl(path, parameters),
    body: body === undefined ? undefined : JSON.stringify(body, undefined, INDENT),
  }
}

function exampleUrl(path: string, parameters: ParameterObject[]): string {
  const encoded = ({ example }: ParameterObject) => encodeURIComponent(String(example))
  const query = parameters.filter(({ in: place, example }) => place === 'query' && example !== undefined)
  const filled = parameters
    .filter(({ in: place }) => place === 'path')
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, encoded(parameter)), path)
  return query.length === 0 ? filled : `${filled}?${query.map((one) => `${one.name}=${encoded(one)}`).join('&')}`
}

const LANGUAGES: [name: string, write: (request: SampleRequest) => string][] = [
  ['curl', curl],
  ['Python', python],
  ['JavaScript', javascript],
  ['R', r],
  ['Go', go],
]

/** The request in each language. The key is read from the environment, so that no program has it in it. */
export function samples(id: string, request: SampleRequest): Html {
  return html`<div class="samples">
${LANGUAGES.map(
  ([name, write], index) => html`<details name="samples-${id}"${index === 0 ? html` open` : html``}>
<summary>${name}</summary>
${codeBlock(`${name}: ${id}`, write(request))}</details>
`,
)}</div>
`
}

function curl({ method, url, body }: SampleRequest): string {
  const lines = [`curl -sS "${url}"`, `-H "Authorization: Bearer $TOKENBOARD_KEY"`]
  if (body !== undefined) lines.push(`-X ${method}`, `-H 'Content-Type: application/json'`, `-d '${quoted(body)}'`)
  return lines.join(' \\\n  ')
}

/** For a shell within single quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", String.raw`'\''`)
}

function python({ method, url, body }: SampleRequest): string {
  const data = body === undefined ? [] : [`    data=r"""${body}""".encode(),`, `    method=${JSON.stringify(method)},`]
  const type = body === undefined ? '' : ', "Content-Type": "application/json"'
  return `import json
import os
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    headers={"Authorization": "Bearer " + os.environ["TOKENBOARD_KEY"]${type}},
${data.map((line) => `${line}\n`).join('')})
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`
}

function javascript({ method, url, body }: SampleRequest): string {
  const type = body === undefined ? '' : ', "Content-Type": "application/json"'
  const sent = body === undefined ? '' : `\n  method: ${JSON.stringify(method)},\n  body: JSON.stringify(${body}),`
  return `const answer = await fetch(${JSON.stringify(url)}, {${sent}
  headers: { Authorization: \`Bearer \${process.env.TOKENBOARD_KEY}\`${type} },
})
console.log(answer.status, await answer.json())`
}

function r({ url, body }: SampleRequest): string {
  const sent = body === undefined ? '' : `\n  req_body_raw(r"(${body})", "application/json") |>`
  return `library(httr2)

answer <- request(${JSON.stringify(url)}) |>
  req_auth_bearer_token(Sys.getenv("TOKENBOARD_KEY")) |>${sent}
  req_perform()
str(resp_body_json(answer))`
}

function go({ method, url, body }: SampleRequest): string {
  const strings = body === undefined ? '' : '\n\t"strings"'
  const reader = body === undefined ? 'nil' : `strings.NewReader(\`${body}\`)`
  const type = body === undefined ? '' : '\n\trequest.Header.Set("Content-Type", "application/json")'
  return `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"${strings}
)

func main() {
	request, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${reader})
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKENBOARD_KEY"))${type}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Status, string(body))
}`
}
