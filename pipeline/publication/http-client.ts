import { BuildError, CliError, reasonOfFetch } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { withoutSecrets } from '../base/prose.ts'
import { PassingError, retrying } from '../base/retrying.ts'

export interface Patience {
  /** Milliseconds without data before the connection counts as dead. */
  idleMs: number
  /** Milliseconds before each retry. A longer `Retry-After` wins, up to a minute. */
  waitsMs: readonly number[]
}

const DEFAULT_PATIENCE: Patience = { idleMs: 30_000, waitsMs: [500, 2_000, 8_000] }

/** Limit in bytes for files without a listed size, so that an endless response cannot fill the memory. */
const LARGEST_FILE = 2 ** 30

export class RemoteFiles {
  readonly #base: URL
  readonly #signal: AbortSignal
  readonly #patience: Patience

  /** `base` is the URL of the published folder. Throws `CliError` if it is not usable. */
  constructor(base: string, signal: AbortSignal, patience: Patience = DEFAULT_PATIENCE) {
    this.#base = readBase(base)
    this.#signal = signal
    this.#patience = patience
  }

  urlOf(path: string): string {
    // In a name these characters are no more than that, and neither is a scheme.
    return new URL(`./${path.replaceAll(/[%?#]/g, encodeURIComponent)}`, this.#base).href
  }

  /** Throws `BuildError` if the file is missing, longer than `limit` bytes, or cannot be fetched. */
  async read(path: string, limit = LARGEST_FILE): Promise<Buffer> {
    const bytes = await this.readIfAny(path, limit)
    if (bytes === undefined) throw new BuildError(`${this.urlOf(path)} is missing: the host answers 404`)
    return bytes
  }

  /** Like `read`, but undefined on 404. */
  readIfAny(path: string, limit = LARGEST_FILE): Promise<Buffer | undefined> {
    return this.#readPatiently(path, limit, [404])
  }

  /** Like `readIfAny`, also on 403 and on 410 without a page: some buckets answer 403 for missing files. */
  readOptional(path: string, limit = LARGEST_FILE): Promise<Buffer | undefined> {
    return this.#readPatiently(path, limit, [403, 404, 410])
  }

  #readPatiently(path: string, limit: number, missing: readonly number[]): Promise<Buffer | undefined> {
    const url = this.urlOf(path)
    const failure = ({ message }: PassingError, tries: number) =>
      new BuildError(`${url} ${message}; it was asked for ${counted(tries, 'time')}`)
    const { waitsMs } = this.#patience
    return retrying({ waitsMs, signal: this.#signal, failure }, () => this.#fetch(url, limit, missing))
  }

  async #fetch(url: string, limit: number, missing: readonly number[]): Promise<Buffer | undefined> {
    const idle = new AbortController()
    const timer = setTimeout(() => idle.abort(), this.#patience.idleMs)
    const signal = AbortSignal.any([this.#signal, idle.signal])
    try {
      // Ask for the bytes as they are on disk, without caches and content codings.
      const headers = { 'Accept-Encoding': 'identity', 'Cache-Control': 'no-cache', Accept: acceptedOf(url) }
      const response = await fetch(url, { signal, headers })
      if (response.status === 200 || isPageOfWithdrawn(response))
        return await collect(response, limit, url, () => timer.refresh())
      await response.body?.cancel()
      if (missing.includes(response.status)) return undefined
      throw refusal(response, url)
    } catch (error) {
      if (error instanceof BuildError || error instanceof PassingError) throw error
      const seconds = this.#patience.idleMs / 1000
      throw new PassingError(
        idle.signal.aborted ? `sends nothing for ${seconds} s` : `cannot be fetched: ${reasonOfFetch(error)}`,
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Servers send the page of a withdrawn release only to those who ask for a page, with 410. */
function acceptedOf(url: string): string {
  return url.endsWith('.html') ? 'text/html' : '*/*'
}

function isPageOfWithdrawn({ status, headers, url }: Response): boolean {
  return status === 410 && url.endsWith('/index.html') && headers.get('content-type')?.startsWith('text/html') === true
}

function readBase(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`${withoutSecrets(text)} is not an http(s) URL`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new CliError(
      `${withoutSecrets(text)} has more than a host and a path; give the address of the folder that is published`,
    )
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

async function collect(response: Response, limit: number, url: string, onChunk: () => void): Promise<Buffer> {
  verifyAsPublished(response, url)
  const body = await bodyWithin(limit, response, onChunk)
  if (body === undefined) throw new BuildError(`${url} is longer than the ${limit} bytes that it should have`)
  return body
}

/** The body of a response; undefined, and the rest is not read, if it is longer than `limit` bytes. */
async function bodyWithin(limit: number, { body }: Response, onChunk: () => void): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    onChunk()
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) return undefined
  }
  return Buffer.concat(chunks)
}

/** Other files may arrive with a content coding: the decoded bytes are what we verify. */
function verifyAsPublished({ headers }: Response, url: string): void {
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding === 'identity' || !url.endsWith('.gz')) return
  throw new BuildError(
    `${url} is sent with Content-Encoding ${coding}, so that who saves it gets another file than was published; ` +
      'have the host send it as application/gzip without a Content-Encoding',
  )
}

function refusal({ status, headers }: Response, url: string): Error {
  const mayPass = status === 408 || status === 429 || status >= 500
  if (!mayPass) return new BuildError(`${url} cannot be had: the host answers ${status}`)
  const seconds = Number(headers.get('retry-after'))
  return new PassingError(`cannot be had: the host answers ${status}`, Number.isFinite(seconds) ? seconds * 1000 : 0)
}
