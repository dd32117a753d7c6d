import { AwsV4Signer } from 'aws4fetch'
import type { BucketLogin } from '../base/config.ts'
import { BuildError, reasonOf, reasonOfFetch } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { PassingError, type Pause, retrying } from '../base/retrying.ts'
import { bodyWithin } from '../publication/http-client.ts'
import { addressOf, type BucketAddress, encodeStrictly, urlOf } from './bucket-address.ts'
import { type ListedObject, type Refusal, readListing, readRefusal } from './bucket-answer.ts'

/** A file on its way into a bucket. */
export interface Upload {
  bytes: number
  sha256: string
  md5: Buffer
  type: string
  cache: string
  /** Called again for each try. */
  body(): Promise<Buffer> | ReadableStream<Uint8Array>
}

const WAITS_MS = [500, 2_000, 8_000, 20_000] as const

/** The time for a try, to the last byte of the answer. Uploads have more, at 32 bytes a millisecond. */
const PATIENCE_MS = 30_000
const SLOWEST_BYTES_PER_MS = 32

/** More than a page of 1000 keys of 1024 bytes that are all escaped. */
const LARGEST_ANSWER = 2 ** 24

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The service is busy, or the body got damaged on the way: a new try may do. */
const PASSING_CODES = new Set([
  'BadDigest',
  'IncompleteBody',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'XAmzContentSHA256Mismatch',
])
const PASSING_STATUS = new Set([408, 429, 500, 502, 503, 504])

interface Sent {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Undefined for the bucket itself. */
  path?: string
  query?: Record<string, string>
  upload?: Upload
}

interface Answer {
  headers: Headers
  body: Buffer
}

export interface BucketOptions {
  signal: AbortSignal
  pause: Pause
  /** A signal that aborts after this time. */
  limit?: (ms: number) => AbortSignal
  now: () => Date
}

/**
 * A bucket with the API of S3, as far as publishing needs it. Paths are below the prefix of the address. Each request is
 * tried again after a failure that may pass. Throws `BuildError` that says what was refused and what to do.
 */
export class Bucket {
  readonly #address: BucketAddress
  readonly #login: BucketLogin
  readonly #options: BucketOptions
  /** Keys derived from the secret, one for each day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>()

  constructor(address: BucketAddress, login: BucketLogin, options: BucketOptions) {
    this.#address = address
    this.#login = login
    this.#options = options
  }

  get address(): string {
    return addressOf(this.#address)
  }

  /** Every object below the prefix by its path. Leaves out folders as consoles create them. */
  async list(): Promise<Map<string, Omit<ListedObject, 'key'>>> {
    const { prefix } = this.#address
    const objects = new Map<string, Omit<ListedObject, 'key'>>()
    for (let token: string | undefined; ; ) {
      const page = await this.#listPage(token)
      for (const { key, ...object } of page.objects) {
        if (key.startsWith(prefix) && !key.endsWith('/')) objects.set(key.slice(prefix.length), object)
      }
      if (page.next === undefined) return objects
      if (page.next === '' || page.next === token) {
        throw new BuildError(`${this.address} cannot be listed: a page does not say where the next one begins`)
      }
      token = page.next
    }
  }

  /** Undefined if it is not there. */
  async read(path: string): Promise<Buffer | undefined> {
    return (await this.#ask({ method: 'GET', path }, [404]))?.body
  }

  /** The SHA-256 that an earlier upload stored beside the object. */
  async sha256Of(path: string): Promise<string | undefined> {
    const answer = await this.#ask({ method: 'HEAD', path }, [404])
    return answer?.headers.get('x-amz-meta-sha256') ?? undefined
  }

  /** The service refuses bytes that do not have the hashes. */
  async put(path: string, upload: Upload): Promise<void> {
    await this.#ask({ method: 'PUT', path, upload })
  }

  async remove(path: string): Promise<void> {
    await this.#ask({ method: 'DELETE', path }, [404])
  }

  async #listPage(token: string | undefined) {
    const { prefix } = this.#address
    const query = { 'list-type': '2', 'encoding-type': 'url', ...(prefix !== '' && { prefix }) }
    const answer = await this.#ask({
      method: 'GET',
      query: token === undefined ? query : { ...query, 'continuation-token': token },
    })
    const page = readListing(answer?.body.toString() ?? '')
    if (page !== undefined) return page
    throw new BuildError(`${this.address} cannot be listed: ${this.#host()} does not answer as S3 does`)
  }

  /** Undefined if the status is among `missing`, and the bucket is there. */
  #ask(sent: Sent, missing: readonly number[] = []): Promise<Answer | undefined> {
    const { signal, pause } = this.#options
    const failure = ({ message }: PassingError, tries: number) =>
      this.#failure(sent, `${message}; it was tried ${counted(tries, 'time')}`)
    return retrying({ waitsMs: WAITS_MS, signal, pause, failure }, () => this.#try(sent, missing))
  }

  async #try(sent: Sent, missing: readonly number[]): Promise<Answer | undefined> {
    const patience = PATIENCE_MS + Math.ceil((sent.upload?.bytes ?? 0) / SLOWEST_BYTES_PER_MS)
    const limit = (this.#options.limit ?? AbortSignal.timeout)(patience)
    let response: Response | undefined
    let body: Buffer | undefined
    try {
      response = await this.#send(sent, AbortSignal.any([this.#options.signal, limit]))
      body = await bodyWithin(LARGEST_ANSWER, response, () => {})
    } catch (error) {
      if (limit.aborted)
        throw new PassingError(`no answer from ${this.#host()} within ${Math.round(patience / 1000)} s`)
      // Network errors have a cause. Without one, the request itself is wrong and was not sent.
      const isOurs = response === undefined && !(error instanceof Error && error.cause !== undefined)
      if (isOurs) throw this.#failure(sent, reasonOf(error))
      throw new PassingError(`no answer from ${this.#host()}: ${reasonOfFetch(error)}`)
    }
    if (body === undefined) throw this.#failure(sent, `the answer is longer than ${LARGEST_ANSWER} bytes`)
    if (response.ok) return { headers: response.headers, body }
    const refusal = readRefusal(body.toString())
    if (missing.includes(response.status) && refusal.code !== 'NoSuchBucket') return undefined
    throw this.#refused(sent, response, refusal)
  }

  async #send({ method, path, query = {}, upload }: Sent, signal: AbortSignal): Promise<Response> {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#login
    const { now } = this.#options
    const key = path === undefined ? '' : this.#address.prefix + path
    const url = urlOf(this.#address, this.#login, key)
    // Not every service reads a plus as a space, so searchParams cannot write it.
    url.search = Object.entries(query)
      .map(([name, value]) => `${name}=${encodeStrictly(value)}`)
      .join('&')
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: headersOf(upload),
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      cache: this.#signingKeys,
      ...(sessionToken !== undefined && { sessionToken }),
      datetime: now()
        .toISOString()
        .replaceAll(/[:-]|\.\d{3}/g, ''),
    })
    const signed = await signer.sign()
    const body = await upload?.body()
    // A redirect would lead to another host than the one that was signed.
    const init = { method, headers: signed.headers, redirect: 'manual', signal, duplex: 'half' } as const
    return fetch(signed.url, body === undefined ? init : ({ ...init, body } as RequestInit))
  }

  #refused(sent: Sent, response: Response, { code, message, region: told }: Refusal): Error {
    const { status, headers } = response
    const said = [`${status}`, code, message].filter((part) => part !== '').join(' ')
    if (PASSING_STATUS.has(status) || PASSING_CODES.has(code)) {
      return new PassingError(`answered with ${said}`, Number(headers.get('retry-after')) * 1000 || 0)
    }
    return this.#failure(sent, `answered with ${said}${this.#adviceOn(response, code, told)}`)
  }

  #adviceOn({ status, headers }: Response, code: string, told: string): string {
    const { bucket } = this.#address
    const region = told || headers.get('x-amz-bucket-region') || ''
    if (region !== '' && region !== this.#login.region)
      return `; the bucket is in another region: set AWS_REGION=${region}`
    if (status === 301 || status === 307)
      return '; the bucket has another address: correct AWS_REGION or AWS_ENDPOINT_URL'
    if (code === 'NoSuchBucket' || status === 404) {
      return `; there is no bucket ${bucket} at ${this.#host()}: create it, or correct its name or AWS_ENDPOINT_URL`
    }
    if (code === 'RequestTimeTooSkewed') {
      const clocks = `it is ${this.#options.now().toUTCString()} here and ${headers.get('date')} there`
      return `; ${clocks}: correct the clock of this machine`
    }
    if (status !== 401 && status !== 403) return ''
    return (
      '; the key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN if it holds for hours) must be valid, ' +
      'and may list the bucket and read, put and delete its objects'
    )
  }

  #host(): string {
    return urlOf(this.#address, this.#login).host
  }

  #failure({ method, path, query }: Sent, what: string): BuildError {
    const verb = query === undefined ? VERBS[method] : 'listed'
    const place = [this.address, path].filter((part) => part !== undefined).join('/')
    return new BuildError(this.#withoutSecrets(`${place} cannot be ${verb}: ${what}`))
  }

  /** A service may repeat what it was sent. */
  #withoutSecrets(text: string): string {
    const { secretAccessKey, sessionToken } = this.#login
    const secrets = [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    return secrets.reduce((said, secret) => said.replaceAll(secret, '…'), text)
  }
}

const VERBS = { GET: 'read', HEAD: 'read', PUT: 'uploaded', DELETE: 'deleted' }

function headersOf(upload: Upload | undefined): Record<string, string> {
  if (upload === undefined) return { 'x-amz-content-sha256': EMPTY_SHA256 }
  const { bytes, sha256, md5, type, cache } = upload
  return {
    'cache-control': cache,
    'content-length': `${bytes}`,
    'content-md5': md5.toString('base64'),
    'content-type': type,
    'x-amz-content-sha256': sha256,
    'x-amz-meta-sha256': sha256,
  }
}
