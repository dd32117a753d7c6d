/**
 * A repository that checks each request by the published API of InvenioRDM: method, path, headers, metadata, and the states
 * of drafts and files (https://inveniordm.docs.cern.ch/reference/rest_api_drafts_records/, …/reference/metadata/).
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const Text = z.string().min(1)
const Id = <const Ids extends readonly string[]>(ids: Ids) => z.strictObject({ id: z.enum(ids) })
const Identifier = z.strictObject({ scheme: z.enum(['url', 'doi', 'ror']), identifier: Text })

/** The fields of a record that the reference lists, and of the vocabularies those ids that a dataset may have. */
const Metadata = z.strictObject({
  resource_type: Id(['dataset']),
  creators: z
    .array(
      z.strictObject({
        person_or_org: z.strictObject({
          type: z.literal('organizational'),
          name: Text,
          identifiers: z.array(Identifier).optional(),
        }),
      }),
    )
    .min(1),
  title: Text.min(3),
  publication_date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  publisher: Text,
  version: Text,
  description: Text,
  additional_descriptions: z.array(
    z.strictObject({ description: Text, type: Id(['methods', 'technical-info', 'other']) }),
  ),
  rights: z.array(Id(['cc-by-4.0'])),
  languages: z.array(Id(['eng'])),
  subjects: z.array(z.strictObject({ subject: Text })),
  dates: z.array(
    z.strictObject({
      date: z.string().regex(/^\d{4}-\d{2}-\d{2}(\/\d{4}-\d{2}-\d{2})?$/),
      type: Id(['collected', 'valid', 'created']),
      description: Text.optional(),
    }),
  ),
  identifiers: z.array(Identifier),
  related_identifiers: z.array(
    Identifier.extend({
      relation_type: Id(['isidenticalto', 'isdocumentedby', 'isversionof', 'ispartof']),
      resource_type: Id(['dataset']).optional(),
    }),
  ),
})

const Body = z.strictObject({
  access: z.strictObject({ record: z.literal('public'), files: z.literal('public') }),
  files: z.strictObject({ enabled: z.literal(true) }),
  metadata: z.custom<Entry['metadata']>((value) => typeof value === 'object'),
  pids: z.strictObject({ doi: z.looseObject({ identifier: Text }).optional() }).optional(),
})

interface StoredFile {
  content?: Buffer
  isComplete: boolean
}

export interface Entry {
  id: string
  parent: string
  is_published: boolean
  metadata: Partial<z.infer<typeof Metadata>>
  doi?: string
  reserved: Set<number>
  files: Map<string, StoredFile>
}

/** Takes the place of an answer, or cuts the connection before or after the request is handled. */
export type Fault = 'before' | 'after' | { status: number; headers?: Record<string, string>; body?: object }

export interface Invenio {
  url: string
  token: string
  records: Map<string, Entry>
  /** Each request that arrived, such as `POST /api/records`. */
  requests: string[]
  /** By the number of the request, from 0. */
  faults: Map<number, Fault>
  /** Called after each answer. */
  onAnswer: (() => void) | undefined
}

class Refused extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

export async function startInvenio(token = 'a-token-that-is-secret'): Promise<Invenio> {
  const invenio: Invenio = { url: '', token, records: new Map(), requests: [], faults: new Map(), onAnswer: undefined }
  const server = createServer(async (request, response) => {
    const number = invenio.requests.length
    invenio.requests.push(`${request.method} ${request.url}`)
    const fault = invenio.faults.get(number)
    if (fault === 'before') {
      request.socket.destroy()
      return
    }
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    const { status, answer, headers } =
      typeof fault === 'object'
        ? { status: fault.status, answer: fault.body ?? {}, headers: fault.headers ?? {} }
        : { ...handle(invenio, request, body), headers: {} }
    if (fault === 'after') request.socket.destroy()
    else {
      send(response, status, answer, headers)
      invenio.onAnswer?.()
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  invenio.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return invenio
}

function send(
  response: ServerResponse,
  status: number,
  answer: object | undefined,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { ...(answer && { 'Content-Type': 'application/json' }), ...headers })
  response.end(answer && JSON.stringify(answer))
}

interface Handled {
  status: number
  answer?: object
}

function handle(invenio: Invenio, request: IncomingMessage, body: Buffer): Handled {
  try {
    checkHeaders(invenio, request, body)
    const { pathname, searchParams } = new URL(request.url ?? '', invenio.url)
    for (const [pattern, work] of ROUTES) {
      const match = pattern.exec(`${request.method} ${pathname}`)
      if (match === null) continue
      const [id = '', key = ''] = match.slice(1).map(decodeURIComponent)
      return work({ invenio, id, key, body, query: searchParams })
    }
    throw new Refused(405, { status: 405, message: `${request.method} ${pathname} is not in the API.` })
  } catch (error) {
    if (error instanceof Refused) return { status: error.status, answer: error.body }
    throw error
  }
}

function checkHeaders({ token }: Invenio, { headers, url, method }: IncomingMessage, body: Buffer): void {
  if (headers.authorization !== `Bearer ${token}`) {
    throw new Refused(403, { status: 403, message: `Permission denied for ${headers.authorization}.` })
  }
  const isContent = url?.endsWith('/content') === true
  const wanted = isContent ? 'application/octet-stream' : body.length > 0 ? 'application/json' : undefined
  if (headers['content-type'] !== wanted) throw new Refused(415, { message: `${method} ${url}: Content-Type` })
  if (isContent && headers['content-length'] !== `${body.length}`) throw new Refused(411, { message: 'Content-Length' })
  if (headers.accept?.startsWith('application/vnd.inveniordm.v1+json') !== true) {
    throw new Refused(406, { message: 'on Zenodo, the answer would have another form' })
  }
}

interface Call {
  invenio: Invenio
  id: string
  key: string
  body: Buffer
  query: URLSearchParams
}

const ROUTES: [RegExp, (call: Call) => Handled][] = [
  [/^POST \/api\/records$/, create],
  [/^GET \/api\/user\/records$/, search],
  [/^GET \/api\/records\/([^/]+)$/, (call) => ({ status: 200, answer: describe(call.invenio, published(call)) })],
  [/^GET \/api\/records\/([^/]+)\/files$/, (call) => ({ status: 200, answer: listFiles(published(call)) })],
  [/^POST \/api\/records\/([^/]+)\/versions$/, newVersion],
  [/^GET \/api\/records\/([^/]+)\/draft$/, (call) => ({ status: 200, answer: describe(call.invenio, draft(call)) })],
  [/^PUT \/api\/records\/([^/]+)\/draft$/, update],
  [/^POST \/api\/records\/([^/]+)\/draft\/pids\/doi$/, reserve],
  [/^GET \/api\/records\/([^/]+)\/draft\/files$/, (call) => ({ status: 200, answer: listFiles(draft(call)) })],
  [/^POST \/api\/records\/([^/]+)\/draft\/files$/, startFiles],
  [/^PUT \/api\/records\/([^/]+)\/draft\/files\/([^/]+)\/content$/, content],
  [/^POST \/api\/records\/([^/]+)\/draft\/files\/([^/]+)\/commit$/, commit],
  [/^DELETE \/api\/records\/([^/]+)\/draft\/files\/([^/]+)$/, removeFile],
  [/^POST \/api\/records\/([^/]+)\/draft\/actions\/publish$/, publish],
]

function refuse(status: number, message: string, errors: object[] = []): never {
  throw new Refused(status, { status, message, errors })
}

function find(call: Call, isPublished: boolean): Entry {
  const entry = call.invenio.records.get(call.id)
  return entry?.is_published === isPublished ? entry : refuse(404, 'The persistent identifier does not exist.')
}

const draft = (call: Call) => find(call, false)
const published = (call: Call) => find(call, true)

function readBody({ body }: Call): z.infer<typeof Body> {
  const { data, error } = Body.safeParse(JSON.parse(body.toString()))
  return data ?? refuse(400, z.prettifyError(error))
}

/** What keeps a draft from being published. The server tells it with each answer. */
function errorsOf({ metadata }: Entry): { field: string; messages: string[] }[] {
  const issues = Metadata.safeParse(metadata).error?.issues ?? []
  return issues.map(({ path, message }) => ({ field: ['metadata', ...path].join('.'), messages: [message] }))
}

function describe({ url, records }: Invenio, entry: Entry): object {
  const { id, parent, is_published, metadata, doi } = entry
  const hasConcept = [...records.values()].some((each) => each.parent === parent && each.is_published)
  const errors = is_published ? [] : errorsOf(entry)
  return {
    id,
    is_published,
    metadata,
    pids: doi === undefined ? {} : { doi: { identifier: doi, provider: 'datacite', client: 'datacite' } },
    parent: {
      id: parent,
      pids: hasConcept ? { doi: { identifier: `10.5072/test.${parent}`, provider: 'datacite' } } : {},
    },
    links: { self_html: `${url}/${is_published ? 'records' : 'uploads'}/${id}` },
    ...(errors.length > 0 && { errors }),
  }
}

function create(call: Call): Handled {
  const { metadata } = readBody(call)
  return { status: 201, answer: describe(call.invenio, add(call.invenio, { metadata })) }
}

function add({ records }: Invenio, { metadata, parent }: { metadata: Entry['metadata']; parent?: string }): Entry {
  const number = records.size + 1
  const id = `rec-${number}`
  const entry = {
    id,
    parent: parent ?? `all-${number}`,
    is_published: false,
    metadata,
    reserved: new Set<number>(),
    files: new Map(),
  }
  records.set(id, entry)
  return entry
}

/** Without publication date and version, and without files. */
function newVersion(call: Call): Handled {
  const { metadata, parent } = published(call)
  const { publication_date: _, version: __, ...rest } = metadata
  return { status: 201, answer: describe(call.invenio, add(call.invenio, { metadata: rest, parent })) }
}

function search({ invenio, query }: Call): Handled {
  const [, field, value] = /^([\w.]+):"([^"]*)"$/.exec(query.get('q') ?? '') ?? []
  const fields: Record<string, (entry: Entry) => boolean> = {
    'parent.id': ({ parent }) => parent === value,
    'metadata.identifiers.identifier': ({ metadata }) =>
      JSON.stringify(metadata.identifiers ?? []).includes(`"${value}"`),
  }
  const matches = fields[field ?? ''] ?? refuse(400, `unknown field ${field}`)
  const entries = [...invenio.records.values()]
  const newest = new Map(entries.map((entry) => [entry.parent, entry]))
  const found = (query.get('allversions') === 'true' ? entries : [...newest.values()]).filter(matches)
  const hits = found.slice(0, Number(query.get('size') ?? 10)).map((entry) => describe(invenio, entry))
  return { status: 200, answer: { hits: { hits, total: found.length }, sortBy: 'bestmatch', links: {} } }
}

/** As the service does: a reserved DOI that is not sent again is given up. */
function update(call: Call): Handled {
  const entry = draft(call)
  const { metadata, pids } = readBody(call)
  entry.metadata = metadata
  if (pids?.doi === undefined) delete entry.doi
  else if (pids.doi.identifier !== entry.doi) refuse(400, 'A validation error occurred.')
  return { status: 200, answer: describe(call.invenio, entry) }
}

function reserve(call: Call): Handled {
  const entry = draft(call)
  if (entry.doi !== undefined) refuse(400, 'A PID already exists for type doi')
  // A DOI that was given up is not reserved again.
  const { size } = entry.reserved.add(entry.reserved.size)
  entry.doi = `10.5072/test.${entry.id}${size === 1 ? '' : `-${size}`}`
  return { status: 201, answer: describe(call.invenio, entry) }
}

function describeFile(key: string, { content: bytes, isComplete }: StoredFile): object {
  if (!isComplete || bytes === undefined) return { key, status: 'pending', metadata: null }
  const checksum = `md5:${createHash('md5').update(bytes).digest('hex')}`
  return { key, status: 'completed', checksum, size: bytes.length, metadata: null }
}

function listFiles({ files }: Entry): object {
  return { enabled: true, order: [], entries: [...files].map(([key, file]) => describeFile(key, file)) }
}

function startFiles(call: Call): Handled {
  const entry = draft(call)
  for (const { key } of z
    .array(z.strictObject({ key: Text }))
    .min(1)
    .parse(JSON.parse(call.body.toString()))) {
    if (entry.files.has(key)) refuse(400, `File with key ${key} already exists.`)
    entry.files.set(key, { isComplete: false })
  }
  return { status: 201, answer: listFiles(entry) }
}

function fileOf(call: Call): StoredFile {
  return draft(call).files.get(call.key) ?? refuse(404, `File with key ${call.key} not found.`)
}

function content(call: Call): Handled {
  const file = fileOf(call)
  if (file.isComplete) refuse(403, 'The file is completed.')
  file.content = call.body
  return { status: 200, answer: describeFile(call.key, file) }
}

function commit(call: Call): Handled {
  const file = fileOf(call)
  if (file.content === undefined || file.isComplete) refuse(400, 'The file has no content to commit.')
  file.isComplete = true
  return { status: 200, answer: describeFile(call.key, file) }
}

function removeFile(call: Call): Handled {
  fileOf(call)
  draft(call).files.delete(call.key)
  return { status: 204 }
}

function publish(call: Call): Handled {
  const entry = draft(call)
  const errors = errorsOf(entry)
  if (errors.length > 0) refuse(400, 'A validation error occurred.', errors)
  if (entry.doi === undefined) refuse(400, 'no DOI was reserved')
  const files = [...entry.files.values()]
  if (files.length === 0 || files.some(({ isComplete }) => !isComplete)) refuse(400, 'files are missing')
  entry.is_published = true
  return { status: 202, answer: describe(call.invenio, entry) }
}
