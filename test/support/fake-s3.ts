/**
 * As much of S3 as publishing needs: listing by pages, reading, putting, deleting. It computes each signature by itself and
 * refuses bodies that do not have their hashes. Without a signature it answers GET as a public bucket does.
 */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const S3_KEY = { id: 'AKIATEST', secret: 'a secret/with+signs' } as const
export const BUCKET = 'data.example.org'
export const REGION = 'eu-central-1'

const OWNER_PATTERN =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/

export interface FakeObject {
  body: Buffer
  headers: Record<string, string>
  etag: string
}

/** What is done to a request in place of answering it: `PUT a/b.csv`, `LIST`, `GET …`. False to answer it. */
export type Fault = (request: string, response: ServerResponse) => boolean

export interface FakeS3 {
  url: string
  /** The settings of who may write. */
  environment: Record<string, string>
  objects: Map<string, FakeObject>
  /** What was asked for, in order. */
  requests: string[]
  /** The requests that change something. */
  changes(): string[]
  /** Objects on one page of a listing. */
  pageSize: number
  /** Whether it knows `encoding-type=url`. */
  encodesKeys: boolean
  /** The token without which a signature is refused. */
  sessionToken: string | undefined
  fault: Fault | undefined
  put(key: string, body: string, headers?: Record<string, string>): void
}

/** A service with one bucket, stopped when the running test is over. */
export async function startFakeS3(): Promise<FakeS3> {
  const server = createServer((request, response) => {
    answer(fake, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fake: FakeS3 = {
    url,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: S3_KEY.id,
      AWS_SECRET_ACCESS_KEY: S3_KEY.secret,
    },
    objects: new Map(),
    requests: [],
    changes: () => fake.requests.filter((request) => /^(PUT|DELETE) /.test(request)),
    pageSize: 1000,
    encodesKeys: true,
    sessionToken: undefined,
    fault: undefined,
    put(key, body, headers = {}) {
      const bytes = Buffer.from(body)
      fake.objects.set(key, { body: bytes, headers, etag: createHash('md5').update(bytes).digest('hex') })
    },
  }
  return fake
}

async function answer(fake: FakeS3, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '' } = request
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3')
  const [, bucket = '', ...names] = pathname.split('/').map(decodeURIComponent)
  const key = names.join('/')
  const said = searchParams.has('list-type') ? 'LIST' : `${method} ${key}`
  fake.requests.push(said)
  if (fake.fault?.(said, response)) return void request.resume()
  const body = Buffer.concat(await Array.fromAsync(request))
  const { authorization } = request.headers
  if (authorization === undefined && method === 'GET') return sendPublic(fake.objects.get(key), response)
  const refusal = refusalOf(fake, request, body) ?? (method === 'PUT' ? refusalOfBody(request, body) : undefined)
  if (refusal !== undefined) return refuse(response, ...refusal)
  if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket', 'The specified bucket does not exist')
  if (said === 'LIST') return void response.end(listing(fake, searchParams))
  if (method === 'PUT') return store(fake, key, body, request, response)
  const object = fake.objects.get(key)
  if (method === 'DELETE') {
    fake.objects.delete(key)
    return void response.writeHead(204).end()
  }
  if (object === undefined) return refuse(response, 404, 'NoSuchKey', 'The specified key does not exist.')
  response.writeHead(200, object.headers).end(method === 'HEAD' ? undefined : object.body)
}

function store(fake: FakeS3, key: string, body: Buffer, request: IncomingMessage, response: ServerResponse): void {
  const kept = Object.entries(request.headers).filter(([name]) =>
    /^(content-type|cache-control|x-amz-meta-.*)$/.test(name),
  )
  const etag = createHash('md5').update(body).digest('hex')
  fake.objects.set(key, { body, headers: Object.fromEntries(kept) as Record<string, string>, etag })
  response.writeHead(200, { etag: `"${etag}"` }).end()
}

function sendPublic(object: FakeObject | undefined, response: ServerResponse): void {
  if (object === undefined) response.writeHead(403).end()
  else response.writeHead(200, object.headers).end(object.body)
}

type Refused = [status: number, code: string, message: string, region?: string]

function refusalOf(fake: FakeS3, request: IncomingMessage, body: Buffer): Refused | undefined {
  const { headers } = request
  const [, id, day = '', region = '', signed = '', signature] = OWNER_PATTERN.exec(headers.authorization ?? '') ?? []
  if (id !== S3_KEY.id) return [403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist.']
  if (headers['x-amz-security-token'] !== fake.sessionToken) return [403, 'InvalidToken', 'The token is malformed.']
  if (region !== REGION) {
    return [400, 'AuthorizationHeaderMalformed', `the region '${region}' is wrong; expecting '${REGION}'`, REGION]
  }
  const content = String(headers['x-amz-content-sha256'])
  if (content !== createHash('sha256').update(body).digest('hex')) {
    return [400, 'XAmzContentSHA256Mismatch', 'The provided x-amz-content-sha256 does not match what was computed.']
  }
  if (signature === signatureOf(request, { day, signed, content })) return undefined
  return [403, 'SignatureDoesNotMatch', `The signature does not match. You provided ${S3_KEY.secret}.`]
}

function refusalOfBody({ headers }: IncomingMessage, body: Buffer): Refused | undefined {
  if (headers['content-md5'] === createHash('md5').update(body).digest('base64')) return undefined
  return [400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.']
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function signatureOf(
  { method = '', url = '', headers }: IncomingMessage,
  { day, signed, content }: { day: string; signed: string; content: string },
): string {
  const [path = '', query = ''] = url.split('?')
  // As it was sent: a service need not read a plus as a space.
  const parameters = query.split('&').sort()
  const names = signed.split(';')
  const canonical = [
    method,
    path,
    parameters.join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    content,
  ].join('\n')
  const scope = `${day}/${REGION}/s3/aws4_request`
  const hash = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n')
  const hmac = (key: string | Buffer, part: string) => createHmac('sha256', key).update(part).digest()
  const key = [day, REGION, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${S3_KEY.secret}`)
  return hmac(key, text).toString('hex')
}

function refuse(response: ServerResponse, status: number, code: string, message: string, region?: string): void {
  const where = region === undefined ? '' : `<Region>${region}</Region>`
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message>${where}</Error>`
  response.writeHead(status, { 'content-type': 'application/xml' }).end(text)
}

function listing({ objects, pageSize, encodesKeys }: FakeS3, asked: URLSearchParams): string {
  const prefix = asked.get('prefix') ?? ''
  const isEncoded = encodesKeys && asked.get('encoding-type') === 'url'
  const encode = (key: string) =>
    isEncoded ? encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/') : escaped(key)
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort()
  const start = Number(asked.get('continuation-token') ?? 0)
  const page = keys.slice(start, start + pageSize)
  const isLast = start + pageSize >= keys.length
  const contents = page.map((key) => {
    const { body, etag } = objects.get(key) as FakeObject
    return `<Contents><Key>${encode(key)}</Key><ETag>&quot;${etag}&quot;</ETag><Size>${body.length}</Size></Contents>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${BUCKET}</Name>
${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${!isLast}</IsTruncated>
${isLast ? '' : `<NextContinuationToken>${start + pageSize}</NextContinuationToken>`}${contents.join('')}</ListBucketResult>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
