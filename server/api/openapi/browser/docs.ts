/* Sends the forms of `/docs` and shows the answers. Everything is written as text, never as HTML. */

const LONGEST_SHOWN = 20_000
const SAMPLE_SERVER = 'http://127.0.0.1:8080'

/** Headers of an answer that say something about it. */
const HEADERS = [
  'content-type',
  'etag',
  'last-modified',
  'x-attribution',
  'x-provisional-from',
  'x-dataset-end-date',
  'x-total-count',
  'link',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'allow',
  'x-request-id',
]

/** What to do about a status. */
const HINTS: Record<number, string> = {
  401: 'The server does not know this key, or it was revoked, or it has expired. Check what you pasted at step 2.',
  403: 'This operation needs a management key: make key ARGS=--management',
  429: 'Wait as long as Retry-After says, then try again.',
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

interface Call {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

interface Problem {
  message: string
  issues: { path: string; message: string }[]
}

const key = document.querySelector<HTMLInputElement>('#key')
const server = new URL('.', document.baseURI).href.replace(/\/$/, '')

for (const element of document.querySelectorAll<HTMLElement>('[data-for-script]')) element.hidden = false
for (const code of document.querySelectorAll('.samples code')) {
  code.textContent = code.textContent?.replaceAll(SAMPLE_SERVER, server) ?? ''
}
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-path]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}

addEventListener('hashchange', openTarget)
openTarget()

/** Not every browser opens the folded schema that a link leads to. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  const folded = target?.closest('details')
  if (folded === null || folded === undefined || folded.open) return
  folded.open = true
  target?.scrollIntoView()
}

async function send(form: HTMLFormElement): Promise<void> {
  const result = form.querySelector<HTMLElement>('.result')
  const secret = key?.value.trim() ?? ''
  if (result === null) return
  if (secret === '') {
    result.replaceChildren(paragraph('problem', 'Paste a key first, at step 2.'))
    key?.focus()
    return
  }
  const call = callOf(form)
  result.replaceChildren(paragraph('quiet', `${call.method} ${call.path} …`))
  try {
    const { method, headers, body = null } = call
    const answer = await fetch(server + call.path, {
      method,
      headers: { ...headers, authorization: `Bearer ${secret}` },
      body,
      cache: 'no-store',
      credentials: 'omit',
    })
    result.replaceChildren(...shown(call, answer, await answer.text()))
    // On a phone the answer is below the edge of the screen.
    result.scrollIntoView({ block: 'nearest' })
  } catch (error) {
    result.replaceChildren(paragraph('problem', `The server did not answer: ${String(error)}`))
  }
}

/** The request that the fields of a form make. Empty fields are left out, but for parts of the path. */
function callOf(form: HTMLFormElement): Call {
  const { method = 'GET', path: template = '' } = form.dataset
  let path = `/api/v1${template}`
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  let body: string | undefined
  for (const field of form.querySelectorAll<Field>('[data-in]')) {
    const { name, value, dataset } = field
    const { in: place } = dataset
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'body') body = value
    else if (place === 'header' && value !== '') headers[name] = value
    else if (place === 'query') for (const line of linesOf(field)) query.append(name, line)
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const text = query.toString()
  return { method, path: text === '' ? path : `${path}?${text}`, headers, body }
}

function linesOf(field: Field): string[] {
  const lines = field instanceof HTMLTextAreaElement ? field.value.split('\n') : [field.value]
  return lines.filter((line) => line !== '')
}

function shown({ method, path }: Call, answer: Response, text: string): Node[] {
  const pretty = prettyOf(text)
  const status = paragraph(answer.ok ? 'status' : 'status problem', '')
  const words = [answer.status, answer.statusText].join(' ').trim()
  status.append(element('b', words), ' ', element('code', `${method} ${path}`))
  const problem = answer.ok ? undefined : problemOf(text)
  const hint = HINTS[answer.status]
  return [
    status,
    ...(problem === undefined ? [] : [paragraph('', problem.message), ...listOf(problem.issues)]),
    ...(hint === undefined ? [] : [paragraph('', hint)]),
    ...bodyOf(pretty),
    headersOf(answer),
  ]
}

/** Number of characters as people read it. */
const count = new Intl.NumberFormat('en')

function bodyOf(text: string): Node[] {
  if (text === '') return []
  const body = element('pre', '')
  body.append(element('code', text.slice(0, LONGEST_SHOWN)))
  body.tabIndex = 0
  body.setAttribute('role', 'region')
  body.setAttribute('aria-label', 'Body of the answer')
  if (text.length <= LONGEST_SHOWN) return [body]
  const cut = `The first ${count.format(LONGEST_SHOWN)} of ${count.format(text.length)} characters.`
  return [body, paragraph('quiet', cut)]
}

function headersOf({ headers }: Response): HTMLElement {
  const folded = element('details', '')
  const list = element('dl', '')
  list.className = 'shape'
  folded.append(element('summary', 'Headers'), list)
  for (const name of HEADERS) {
    const value = headers.get(name)
    if (value === null) continue
    const pair = element('div', '')
    pair.append(element('dt', name), element('dd', value))
    list.append(pair)
  }
  return folded
}

function listOf(issues: Problem['issues']): HTMLElement[] {
  if (issues.length === 0) return []
  const list = element('ul', '')
  for (const { path, message } of issues) {
    const item = element('li', '')
    item.append(element('code', path), ` ${message}`)
    list.append(item)
  }
  return [list]
}

/** What the envelope of an error says; undefined if the answer did not come from this server. */
function problemOf(text: string): Problem | undefined {
  try {
    const { error } = JSON.parse(text)
    return { message: String(error.message), issues: error.metadata?.issues ?? [] }
  } catch {
    return undefined
  }
}

/** JSON with a line for each value; other text as it is. */
function prettyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text: string): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

function paragraph(className: string, text: string): HTMLElement {
  const made = element('p', text)
  made.className = className
  return made
}

export {}
