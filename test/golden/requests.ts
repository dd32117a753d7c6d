/** The requests whose answers are recorded: all operations, published files, errors, ranges and content codings. */

export interface GoldenRequest {
  /** The file that holds the answer, with those of its kind. */
  group: string
  method: string
  target: string
  headers: Record<string, string>
  body?: string | undefined
}

/** Names of keys stand for `Authorization: Bearer …`. */
export type KeyName = 'management' | 'limited' | 'other' | 'expired' | 'revoked'

interface Ask {
  method?: string
  key?: KeyName
  headers?: Record<string, string>
  body?: unknown
}

const DATASET = '/datasets/rankings-daily/v1'
const RANKINGS = '/api/v1/datasets/rankings-daily'
const RELEASE = '20250312T001500Z'
const OLDER_RELEASE = '20250311T001500Z'
const WITHDRAWN_RELEASE = '20250307T001500Z'

/** All requests, in the order in which they are sent. */
export function goldenRequests(secrets: Record<KeyName, string>): GoldenRequest[] {
  const requests: GoldenRequest[] = []
  const ask = (group: string, target: string, { method = 'GET', key, headers = {}, body }: Ask = {}) => {
    const authorization = key === undefined ? {} : { authorization: `Bearer ${secrets[key]}` }
    const isText = typeof body === 'string'
    const type = body === undefined || isText ? {} : { 'content-type': 'application/json' }
    const text = body === undefined ? undefined : isText ? body : JSON.stringify(body)
    requests.push({ group, method, target, headers: { ...authorization, ...type, ...headers }, body: text })
  }
  askForPresets((target, details) => ask('presets', target, details))
  askForKey((target, details) => ask('key', target, details))
  askForEmbeddings((target, details) => ask('embeddings-models', target, details))
  askForRankings((target, details) => ask('rankings-daily', target, details))
  askForFiles((target, details) => ask('files', target, details))
  askForErrors((target, details) => ask('errors', target, details))
  return requests
}

type AskOne = (target: string, details?: Ask) => void

const MESSAGE = { model: 'author/model', messages: [{ role: 'user', content: 'Hello' }] }

function askForPresets(ask: AskOne): void {
  const post = (slug: string, body: unknown, key: KeyName = 'management', headers = {}) =>
    ask(`/api/v1/presets/${slug}/messages`, { method: 'POST', key, body, headers })
  post('first', { ...MESSAGE, max_tokens: 100, temperature: 0.5, system: 'Be brief.', stream: true, prompt: 'ignored' })
  post('first', {
    ...MESSAGE,
    system: [
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ],
  })
  post('second', { ...MESSAGE, fallbacks: [{ model: 'a/b' }], thinking: { type: 'adaptive' }, top_k: null })
  post('second', { ...MESSAGE, tools: [{ name: 'f', input_schema: {} }], plugins: [{ id: 'web', max_results: 3 }] })
  post('first', MESSAGE, 'other')
  const wrong: unknown[] = [
    {},
    [],
    { model: 'a' },
    { ...MESSAGE, models: ['a'], fallbacks: [{ model: 'b' }] },
    { ...MESSAGE, fallbacks: [{ model: 'a' }, { model: 'b' }, { model: 'c' }, { model: 'd' }] },
    { ...MESSAGE, max_tokens: 1.5 },
    { ...MESSAGE, user: 'u'.repeat(257) },
    { ...MESSAGE, thinking: { type: 'enabled' } },
    { ...MESSAGE, tool_choice: { type: 'tool' } },
    { ...MESSAGE, plugins: [{ id: 'unknown' }] },
    { ...MESSAGE, output_config: { task_budget: { type: 'tokens', total: 1 } } },
    { ...MESSAGE, messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
    { ...MESSAGE, cache_control: { type: 'ephemeral', ttl: '2h' } },
    { ...MESSAGE, context_management: { edits: [{ type: 'clear_everything' }] } },
  ]
  for (const body of wrong) post('wrong', body)
  for (const slug of ['', '-a', 'a%20b', 'a'.repeat(129), 'a%2Fb']) post(slug, MESSAGE)
  post('first', MESSAGE, 'limited')
  post('first', MESSAGE, 'management', { 'x-session-id': 's'.repeat(257) })
  post('first', '{"model":', 'management', { 'content-type': 'application/json' })
  post('first', 'model=a', 'management', { 'content-type': 'application/x-www-form-urlencoded' })
  post('first', 'a', 'management', { 'content-type': 'application/json', 'content-encoding': 'gzip' })
  const versions = ['1', '2', '3', '0', '01', '-1', 'x', '2147483648', '%31']
  for (const version of versions) ask(`/api/v1/presets/first/versions/${version}`, { key: 'management' })
  for (const key of ['limited', 'other', 'expired', 'revoked'] as const)
    ask('/api/v1/presets/first/versions/1', { key })
  ask('/api/v1/presets/first/versions/1')
  ask('/api/v1/presets/none/versions/1', { key: 'management' })
  ask('/api/v1/presets/first/versions/', { key: 'management' })
  ask('/api/v1/presets/first/versions/1', { key: 'management', method: 'HEAD' })
  for (const query of [
    '',
    '?limit=1',
    '?limit=1&offset=1',
    '?limit=0',
    '?limit=101',
    '?offset=-1',
    '?limit=1&limit=2',
  ]) {
    ask(`/api/v1/presets${query}`, { key: 'management' })
    ask(`/api/v1/presets/first/versions${query}`, { key: 'management' })
  }
  for (const slug of ['first', 'second', 'none']) ask(`/api/v1/presets/${slug}`, { key: 'management' })
}

function askForKey(ask: AskOne): void {
  for (const key of ['management', 'limited', 'other', 'expired', 'revoked'] as const) ask('/api/v1/key', { key })
  ask('/api/v1/key')
  ask('/api/v1/key?unknown=1', { key: 'limited' })
  ask('/api/v1/key', { key: 'limited', method: 'HEAD' })
  for (const authorization of ['Bearer', 'Bearer  ', 'Basic abc', 'bearer unknown', 'Bearer sk-tb-v1-unknown', 'x']) {
    ask('/api/v1/key', { headers: { authorization } })
  }
}

function askForEmbeddings(ask: AskOne): void {
  const queries = ['', '?limit=1', '?limit=2&offset=1', '?offset=3', '?offset=100000', '?limit=1000', '?limit=1001']
  const wrong = ['?limit=0', '?limit=', '?limit=a', '?offset=-1', '?offset=1.0', '?limit=1&limit=2', '?unknown=1']
  for (const query of [...queries, ...wrong]) ask(`/api/v1/embeddings/models${query}`, { key: 'limited' })
  ask('/api/v1/embeddings/models')
  ask('/api/v1/embeddings/models?limit=1', { key: 'limited', method: 'HEAD' })
}

const WINDOWS = [
  '',
  '?start_date=2025-03-02&end_date=2025-03-03',
  '?start_date=2025-03-10',
  '?end_date=2025-03-04',
  '?start_date=2024-01-01&end_date=2025-03-01',
  '?start_date=2025-03-09&end_date=2025-03-09',
  '?end_date=2030-01-01',
  '?start_date=2025-02-01&end_date=2025-02-03',
]

const WRONG_WINDOWS = [
  '?start_date=2025-02-30',
  '?end_date=2024-12-31',
  '?start_date=2025-03-05&end_date=2025-03-01',
  '?start_date=2025-03-01&start_date=2025-03-02',
  '?start_date=',
  '?start_date=03/01/2025',
  '?start_date=2025-3-1',
  '?start_date=2030-01-01',
  '?as_of=never',
  '?as_of=2020-01-01T00:00:00Z',
  '?format=xml',
  '?format=csv&format=json',
]

const CODINGS = ['gzip', 'deflate', 'deflate, gzip', 'gzip;q=0, identity', 'zstd', 'gzip;q=0.5', 'x-gzip', 'GZIP;q=1.0']
const BROTLI_CODINGS = ['br', 'gzip, deflate, br, zstd', 'br;q=1, identity;q=0.5']

const AS_OF = [
  RELEASE,
  OLDER_RELEASE,
  WITHDRAWN_RELEASE,
  '20250306T001500Z',
  '20250306T001501Z',
  '2025-03-07T00:15:00Z',
  '2025-03-11T12:00:00%2B02:00',
  '2025-03-12',
]

function askForRankings(ask: AskOne): void {
  const key = 'limited'
  for (const window of [...WINDOWS, ...WRONG_WINDOWS]) ask(`${RANKINGS}${window}`, { key })
  for (const coding of CODINGS) {
    for (const window of ['', '?start_date=2025-03-02&end_date=2025-03-04']) {
      ask(`${RANKINGS}${window}`, { key, headers: { 'accept-encoding': coding } })
    }
    ask(`${RANKINGS}?format=csv`, { key, headers: { 'accept-encoding': coding } })
  }
  for (const format of ['csv', 'ndjson', 'json']) {
    for (const window of ['', '&start_date=2025-03-10']) ask(`${RANKINGS}?format=${format}${window}`, { key })
    ask(`${RANKINGS}?format=${format}`, { key, method: 'HEAD' })
    ask(`${RANKINGS}?format=${format}`, { key, headers: { accept: 'application/json' } })
  }
  for (const accept of ['text/csv', 'application/x-ndjson', 'text/html', '*/*', 'text/csv;q=0.5, application/json']) {
    ask(RANKINGS, { key, headers: { accept } })
  }
  for (const asOf of AS_OF) {
    ask(`${RANKINGS}?as_of=${asOf}`, { key })
    ask(`${RANKINGS}?as_of=${asOf}&start_date=2025-03-02&end_date=2025-03-02&format=csv`, { key })
  }
  for (const date of ['2025-03-01', '2025-03-05', '2025-03-09', '2025-03-11']) {
    ask(`${RANKINGS}?start_date=${date}&end_date=${date}`, { key: 'management' })
    ask(`${RANKINGS}?start_date=${date}`, { key: 'other', headers: { accept: 'text/csv' } })
  }
  ask(RANKINGS)
  ask(RANKINGS, { key: 'revoked' })
  ask(RANKINGS, { key, method: 'HEAD' })
  ask(RANKINGS, { key, headers: { 'if-none-match': '*' } })
  ask(RANKINGS, { key, headers: { 'if-none-match': '"other"' } })
  ask(RANKINGS, { key, headers: { 'if-modified-since': 'Wed, 12 Mar 2025 00:15:00 GMT' } })
  ask(RANKINGS, { key, headers: { range: 'bytes=0-9' } })
  ask(RANKINGS, { key, headers: { origin: 'https://elsewhere.example' } })
  // Windows are gzip or plain; Brotli is never sent.
  for (const coding of BROTLI_CODINGS) ask(RANKINGS, { key, headers: { 'accept-encoding': coding } })
}

const FILES = [
  '/',
  '/index.html',
  '/explore.html',
  '/models/',
  '/coverage/',
  '/changelog/',
  '/catalog.json',
  '/feed.atom',
  '/feed.json',
  '/llms.txt',
  '/robots.txt',
  '/sitemap.xml',
  '/LICENSE',
  '/CITATION.cff',
  '/dcat.jsonld',
  '/api/v1/datasets/rankings-daily.json',
  '/api/v1/embeddings/models.json',
  `${DATASET}/latest.json`,
  `${DATASET}/coverage.json`,
  `${DATASET}/restatements.json`,
  `${DATASET}/croissant.json`,
  `${DATASET}/releases/index.json`,
  `${DATASET}/latest/rankings-daily.csv`,
  `${DATASET}/latest/manifest.json`,
  `${DATASET}/daily/2025-03-02.json`,
  `${DATASET}/daily/2025-03-02/r1.csv`,
  `${DATASET}/daily/2025-03-11.parquet`,
  `${DATASET}/monthly/2025-03.csv`,
  `${DATASET}/releases/${RELEASE}/`,
  `${DATASET}/releases/${WITHDRAWN_RELEASE}/`,
  `${DATASET}/releases/${WITHDRAWN_RELEASE}/rankings-daily.csv`,
  ...['rankings-daily.csv', 'rankings-daily.csv.gz', 'rankings-daily.parquet', 'rankings-daily.json.gz'],
  ...[
    'rankings-daily.ndjson.gz',
    'manifest.json',
    'quality.json',
    'changes.csv',
    'chart.svg',
    'SHA256SUMS',
    'README.md',
  ],
].map((path) => (path.startsWith('/') ? path : `${DATASET}/releases/${RELEASE}/${path}`))

const RANGES = ['bytes=0-9', 'bytes=-10', 'bytes=5-', 'bytes=99999999-', 'bytes=0-1,5-6', 'bytes=9-5', 'items=0-1']

function askForFiles(ask: AskOne): void {
  for (const path of FILES) {
    ask(path)
    ask(path, { method: 'HEAD' })
    ask(path, { headers: { 'accept-encoding': 'gzip' } })
  }
  for (const range of RANGES) {
    for (const name of ['rankings-daily.parquet', 'rankings-daily.csv']) {
      ask(`${DATASET}/releases/${RELEASE}/${name}`, { headers: { range } })
    }
  }
  const csv = `${DATASET}/latest/rankings-daily.csv`
  ask(csv, { headers: { range: 'bytes=0-9', 'if-range': '"other"' } })
  ask(csv, { headers: { range: 'bytes=0-9', 'accept-encoding': 'gzip' } })
  ask(csv, { headers: { 'if-none-match': '*' } })
  ask(csv, { headers: { 'if-match': '"other"' } })
  ask(csv, { headers: { 'if-modified-since': 'Wed, 12 Mar 2025 00:15:00 GMT' } })
  ask(csv, { headers: { 'if-unmodified-since': 'Wed, 12 Mar 2014 00:15:00 GMT' } })
  ask(`${csv}?version=1`)
  for (const path of ['/openapi.json', '/docs', '/healthz', '/readyz']) ask(path)
  for (const path of [
    '/assets/none.js',
    '/explore.html?view=1',
    '/more-models/',
    `${DATASET}/releases/`,
    `${DATASET}/releases/none/`,
    `${DATASET}/daily/`,
  ])
    ask(path)
  for (const path of ['/models/author-0/model-00/', `${DATASET}/latest`, '/index.html?x=1', '/datasets']) ask(path)
}

function askForErrors(ask: AskOne): void {
  const paths = [
    '/none',
    '/api',
    '/api/v1',
    '/api/v1/none',
    '/api/v2/key',
    '/datasets/',
    '/.lock',
    '/..%2fdata',
    '/%zz',
  ]
  for (const path of paths) {
    ask(path)
    ask(path, { key: 'management', method: 'POST', body: {} })
  }
  const routes = [
    '/api/v1/key',
    RANKINGS,
    '/api/v1/embeddings/models',
    '/api/v1/presets/first/messages',
    '/',
    '/healthz',
  ]
  for (const path of routes) {
    for (const method of ['DELETE', 'PUT', 'OPTIONS', 'TRACE', 'BREW']) ask(path, { key: 'management', method })
  }
  const preflight = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' }
  for (const path of [RANKINGS, '/api/v1/key', '/catalog.json']) {
    ask(path, { method: 'OPTIONS', headers: preflight })
    const asked = { 'access-control-request-headers': 'authorization, content-type' }
    ask(path, { method: 'OPTIONS', headers: { ...preflight, ...asked } })
  }
}
