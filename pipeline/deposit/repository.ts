import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { BuildError, reasonOfFetch } from '../base/errors.ts'
import { jsonIfAny } from '../base/json.ts'
import { PassingError } from '../base/retrying.ts'
import { Doi } from '../contract/doi.ts'
import type { RecordBody } from './metadata.ts'

/** Drafts of the web form may have an empty identifier: they have no DOI yet. */
const Pids = z
  .looseObject({
    doi: z
      .looseObject({ identifier: z.union([z.literal(''), Doi]).default('') })
      .optional()
      .transform((doi) => (doi?.identifier === '' ? undefined : doi)),
  })
  .default({ doi: undefined })

/** A record or a draft, as far as it is read here. Drafts have `errors` if their metadata cannot be published. */
const Answer = z.object({
  id: z.string().min(1),
  is_published: z.boolean(),
  pids: Pids,
  parent: z.object({ id: z.string().min(1), pids: Pids }),
  links: z.object({ self_html: z.url({ protocol: /^https?$/ }) }),
  metadata: z.object({ identifiers: z.array(z.object({ identifier: z.string() })).default([]) }),
  errors: z.array(z.object({ field: z.string(), messages: z.array(z.string()) })).default([]),
})
export type RepositoryRecord = z.infer<typeof Answer>

const StoredFile = z.object({
  key: z.string(),
  status: z.string(),
  checksum: z.string().nullish(),
  size: z.number().nullish(),
})
export type StoredFile = z.infer<typeof StoredFile>

const FileList = z.object({ entries: z.array(StoredFile) })
const Hits = z.object({ hits: z.object({ hits: z.array(z.unknown()) }) })
const Refusal = z.object({
  message: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), messages: z.array(z.string()) })).default([]),
})

/**
 * Zenodo answers `application/json` in a form of its own and has that of InvenioRDM under this type; others have both
 * (https://inveniordm.docs.cern.ch/reference/rest_api_drafts_records/#get-a-record).
 */
const ACCEPT = 'application/vnd.inveniordm.v1+json, application/json;q=0.9'

/** Longer than a search index usually takes to have a new draft. */
const SEARCHABLE_MS = 10_000

interface Sent {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  json?: unknown
  file?: { path: string; bytes: number; onBytes: (count: number) => void }
}

/**
 * The REST API of InvenioRDM (https://inveniordm.docs.cern.ch/reference/rest_api_drafts_records/). Each method is one
 * request. Throws `PassingError` if it may have been done or not: ask how far the repository is, and go on. Throws
 * `BuildError` for a refusal, with what the server says.
 */
export class Repository {
  readonly url: string
  readonly #token: string
  readonly #signal: AbortSignal

  constructor(url: string, token: string, signal: AbortSignal) {
    this.url = url
    this.#token = token
    this.#signal = signal
  }

  /** Undefined if there is none: it was published or discarded. */
  draft(id: string): Promise<RepositoryRecord | undefined> {
    return this.#askIfAny(Answer, { method: 'GET', path: draftPath(id) })
  }

  /** The published record; undefined if there is none. */
  record(id: string): Promise<RepositoryRecord | undefined> {
    return this.#askIfAny(Answer, { method: 'GET', path: `/api/records/${encodeURIComponent(id)}` })
  }

  /**
   * Own drafts and records by a field: all versions, or the newest of each record or draft. Leaves out what is not like a
   * record of this project, such as an unfinished draft of the web form.
   */
  async own(field: string, value: string, { allversions }: { allversions: boolean }): Promise<RepositoryRecord[]> {
    const words = new URLSearchParams({ q: `${field}:"${value}"`, allversions: `${allversions}`, size: '25' })
    const { hits } = await this.#ask(Hits, { method: 'GET', path: `/api/user/records?${words}` })
    return hits.hits.flatMap((hit) => Answer.safeParse(hit).data ?? [])
  }

  /** If its answer is lost, the next try waits until a search can find the draft. */
  async create(body: RecordBody): Promise<RepositoryRecord> {
    try {
      return await this.#ask(Answer, { method: 'POST', path: '/api/records', json: body })
    } catch (error) {
      if (!(error instanceof PassingError)) throw error
      throw new PassingError(error.message, Math.max(error.waitMs, SEARCHABLE_MS))
    }
  }

  /** A draft of the next version, without files. */
  newVersion(id: string): Promise<RepositoryRecord> {
    return this.#ask(Answer, { method: 'POST', path: `/api/records/${encodeURIComponent(id)}/versions` })
  }

  /** Replaces the metadata. Without the `pids` of the draft, its reserved DOI would be given up. */
  describe({ id, pids }: RepositoryRecord, body: RecordBody): Promise<RepositoryRecord> {
    return this.#ask(Answer, { method: 'PUT', path: draftPath(id), json: { ...body, pids } })
  }

  reserveDoi(id: string): Promise<RepositoryRecord> {
    return this.#ask(Answer, { method: 'POST', path: `${draftPath(id)}/pids/doi` })
  }

  publish(id: string): Promise<RepositoryRecord> {
    return this.#ask(Answer, { method: 'POST', path: `${draftPath(id)}/actions/publish` })
  }

  async draftFiles(id: string): Promise<StoredFile[]> {
    return (await this.#ask(FileList, { method: 'GET', path: `${draftPath(id)}/files` })).entries
  }

  async publishedFiles(id: string): Promise<StoredFile[]> {
    const path = `/api/records/${encodeURIComponent(id)}/files`
    return (await this.#ask(FileList, { method: 'GET', path })).entries
  }

  async startFiles(id: string, keys: readonly string[]): Promise<void> {
    await this.#request({ method: 'POST', path: `${draftPath(id)}/files`, json: keys.map((key) => ({ key })) })
  }

  async upload(id: string, key: string, file: NonNullable<Sent['file']>): Promise<void> {
    await this.#request({ method: 'PUT', path: `${filePath(id, key)}/content`, file })
  }

  /** Completes an upload. The answer has the checksum of what the server stored. */
  commitFile(id: string, key: string): Promise<StoredFile> {
    return this.#ask(StoredFile, { method: 'POST', path: `${filePath(id, key)}/commit` })
  }

  async removeFile(id: string, key: string): Promise<void> {
    await this.#request({ method: 'DELETE', path: filePath(id, key) })
  }

  async #askIfAny<Schema extends z.ZodType>(schema: Schema, sent: Sent): Promise<z.infer<Schema> | undefined> {
    const text = await this.#request(sent, [404, 410])
    return text === undefined ? undefined : this.#read(schema, text, sent)
  }

  async #ask<Schema extends z.ZodType>(schema: Schema, sent: Sent): Promise<z.infer<Schema>> {
    return this.#read(schema, (await this.#request(sent)) ?? '', sent)
  }

  #read<Schema extends z.ZodType>(schema: Schema, text: string, sent: Sent): z.infer<Schema> {
    const { data, error } = schema.safeParse(jsonIfAny(text))
    if (data !== undefined) return data
    const { path = [], message = '' } = error?.issues[0] ?? {}
    throw this.#failure(sent, `gives an answer that is not one of InvenioRDM: ${path.join('.')} ${message}`)
  }

  /** The text of the answer; undefined if its status is among `missing`. */
  async #request(sent: Sent, missing: readonly number[] = []): Promise<string | undefined> {
    let response: Response | undefined
    let text: string
    try {
      response = await this.#fetch(sent)
      text = await response.text()
    } catch (error) {
      this.#signal.throwIfAborted()
      // Network errors have a cause. Without one, the request itself is wrong and was not sent.
      if (response === undefined && error instanceof TypeError && error.cause === undefined) {
        throw this.#failure(sent, `cannot be sent: ${error.message}`)
      }
      throw new PassingError(this.#say(sent, `got no answer: ${reasonOfFetch(error)}`))
    }
    if (missing.includes(response.status)) return undefined
    if (response.ok) return text
    throw this.#refused(sent, response, text)
  }

  #fetch({ method, path, json, file }: Sent): Promise<Response> {
    const headers: Record<string, string> = { Accept: ACCEPT, Authorization: `Bearer ${this.#token}` }
    // A redirect would take the token to another address.
    const options = { method, redirect: 'manual', signal: this.#signal } as const
    if (file !== undefined) {
      headers['Content-Type'] = 'application/octet-stream'
      headers['Content-Length'] = `${file.bytes}`
      const body = ReadableStream.from(counting(file.path, file.onBytes))
      return fetch(this.url + path, { ...options, headers, body, duplex: 'half' } as RequestInit)
    }
    if (json === undefined) return fetch(this.url + path, { ...options, headers })
    headers['Content-Type'] = 'application/json'
    return fetch(this.url + path, { ...options, headers, body: JSON.stringify(json) })
  }

  #refused(sent: Sent, { status, headers }: Response, text: string): Error {
    if (status === 408 || status === 429 || status >= 500) {
      return new PassingError(this.#say(sent, `was answered with ${status}`), retryAfterMs(headers))
    }
    const location = headers.get('location')
    if (location !== null && status < 400) {
      return this.#failure(sent, `leads to ${location}; give the address of the repository itself as --repository`)
    }
    const { message = '', errors = [] } = Refusal.safeParse(jsonIfAny(text)).data ?? {}
    const said = [`was answered with ${status}: ${message}`, ...errors.map(describeError)].join('\n')
    const isOfToken = status === 401 || status === 403
    const hint = isOfToken
      ? '\nthe token must be valid there and may write and publish (on Zenodo: deposit:write, deposit:actions)'
      : ''
    return this.#failure(sent, said + hint)
  }

  /** An error with what the server says about a draft. */
  refusal(what: string, errors: RepositoryRecord['errors']): BuildError {
    return new BuildError(this.#withoutToken([what, ...errors.map(describeError)].join('\n')))
  }

  #failure(sent: Sent, what: string): BuildError {
    return new BuildError(this.#say(sent, what))
  }

  #say({ method, path }: Sent, what: string): string {
    return this.#withoutToken(`${method} ${this.url}${path.split('?')[0]} ${what}`)
  }

  /** A server may repeat what it was sent. */
  #withoutToken(text: string): string {
    return text.replaceAll(this.#token, '…')
  }
}

export function draftPath(id: string): string {
  return `/api/records/${encodeURIComponent(id)}/draft`
}

export function filePath(id: string, key: string): string {
  return `${draftPath(id)}/files/${encodeURIComponent(key)}`
}

/** `  metadata.title: Missing data for required field.` */
function describeError({ field, messages }: { field: string; messages: readonly string[] }): string {
  return `  ${field}: ${messages.join('; ')}`
}

async function* counting(path: string, onBytes: (count: number) => void): AsyncIterable<Uint8Array> {
  for await (const chunk of createReadStream(path)) {
    onBytes(chunk.length)
    yield chunk
  }
}

/** Seconds or a date (RFC 9110 §10.2.3); 0 if there is none. */
function retryAfterMs(headers: Headers): number {
  const given = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(given)) return Number(given) * 1000
  const [at, now] = [Date.parse(given), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(at - now) ? 0 : Math.max(0, at - now)
}
