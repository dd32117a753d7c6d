/** Time stamps of RFC 3161: an authority signs the hash of our bytes together with the time at which it got it. */
import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type DerReader, readDer, toDer } from '../base/der.ts'
import { BuildError, reasonOfFetch } from '../base/errors.ts'
import { printable, withoutSecrets } from '../base/prose.ts'
import { bodyWithin, loginOf, withoutLogin } from './http-client.ts'

/** Milliseconds without data before the connection counts as dead. An authority only signs a hash. */
const IDLE_MS = 10_000

/** Limit in bytes. A reply has a signature and some certificates: 1 to 10 KiB with the keys in use today. */
const LARGEST_REPLY = 64 * 1024

const LONGEST_TEXT = 300

const REPLY_TYPE = 'application/timestamp-reply'
const SIGNED_DATA = '1.2.840.113549.1.7.2'
const TST_INFO = '1.2.840.113549.1.9.16.1.4'
const SHA_256 = { name: '2.16.840.1.101.3.4.2.1', content: Buffer.from('608648016503040201', 'hex') }

/** PKIStatus; the first two come with a time stamp (RFC 3161 §2.4.2). */
const STATUSES = ['granted', 'granted with changes', 'rejected', 'waiting', 'revocation warning', 'revoked']

/** PKIFailureInfo, by bit. */
const FAILURES: Record<number, string> = {
  0: 'the hash algorithm is not supported',
  2: 'the request is not permitted',
  5: 'the request is malformed',
  14: 'its clock is not available',
  15: 'the policy is not supported',
  16: 'an extension is not supported',
  17: 'more information is not available',
  25: 'a failure of its system',
}

export interface TimeStamp {
  /** ISO 8601 in UTC, with the fraction of a second that the authority wrote. */
  at: string
  /** The object identifier of the policy that the authority followed. */
  policy: string
}

export interface TimeStampOptions {
  signal: AbortSignal
  /** Bytes of a positive INTEGER in its shortest form, which no other request has. */
  nonce?: Uint8Array
  idleMs?: number
}

interface Token extends TimeStamp {
  algorithm: string
  hashed: Buffer
  nonce: Buffer | undefined
  hasCertificates: boolean
}

/**
 * Asks the authority at `url` for a time stamp of `bytes`: it gets their SHA-256, never the bytes. Returns its whole reply
 * (TimeStampResp), which `openssl ts -verify` reads as `-in`. The reply is about these bytes and answers this request. Its
 * signature and the authority's certificates are not checked here (see `readTimeStamp`). Throws `BuildError`, which names
 * the URL without secrets; the error of `signal` if that is aborted. Makes one request and does not retry.
 */
export async function requestTimeStamp(
  url: string,
  bytes: Uint8Array,
  { signal, nonce = newNonce(), idleMs = IDLE_MS }: TimeStampOptions,
): Promise<Buffer> {
  try {
    const reply = await post(new URL(url), toRequest(bytes, nonce), signal, idleMs)
    verifyReply(readToken(reply), bytes, nonce)
    return reply
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof BuildError)) throw error
    const advice = 'try again, or set TSA_URL to another authority'
    throw new BuildError(`${withoutSecrets(url)} gave no time stamp: ${error.message}; ${advice}`)
  }
}

/**
 * When the authority says that it saw `bytes`. Throws `BuildError` if `tsr` is no reply with a time stamp, or if its time
 * stamp is of other bytes. It does not check who signed: for that, trust an authority and run
 * `openssl ts -verify -data site.json -in site.json.tsr -CAfile authority.pem`.
 */
export function readTimeStamp(tsr: Uint8Array, bytes: Uint8Array): TimeStamp {
  const token = readToken(tsr)
  verifyImprint(token, bytes)
  return { at: token.at, policy: token.policy }
}

/** 8 bytes, as some authorities take no more. The highest two bits keep it positive and in its shortest form. */
function newNonce(): Buffer {
  const bytes = randomBytes(8)
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f)
  return bytes
}

/** TimeStampReq (RFC 3161 §2.4.1): version 1, and the reply has to contain the authority's certificates. */
function toRequest(bytes: Uint8Array, nonce: Uint8Array): Buffer {
  const algorithm = toDer('SEQUENCE', toDer('OBJECT IDENTIFIER', SHA_256.content), toDer('NULL'))
  const imprint = toDer('SEQUENCE', algorithm, toDer('OCTET STRING', hash('sha256', bytes, 'buffer')))
  const [version, certReq] = [toDer('INTEGER', Buffer.from([1])), toDer('BOOLEAN', Buffer.from([0xff]))]
  return toDer('SEQUENCE', version, imprint, toDer('INTEGER', nonce), certReq)
}

async function post(url: URL, body: Uint8Array, signal: AbortSignal, idleMs: number): Promise<Buffer> {
  const idle = new AbortController()
  const timer = setTimeout(() => idle.abort(), idleMs)
  try {
    const response = await fetch(withoutLogin(url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/timestamp-query', Accept: REPLY_TYPE, ...loginOf(url) },
      body,
      // A redirect would turn the POST into a GET.
      redirect: 'manual',
      signal: AbortSignal.any([signal, idle.signal]),
    })
    return await collect(response, () => timer.refresh())
  } catch (error) {
    if (error instanceof BuildError) throw error
    throw new BuildError(
      idle.signal.aborted ? `it sent nothing for ${idleMs / 1000} s` : `it cannot be reached: ${reasonOfFetch(error)}`,
    )
  } finally {
    clearTimeout(timer)
  }
}

async function collect(response: Response, onChunk: () => void): Promise<Buffer> {
  const fault = faultOf(response)
  if (fault !== undefined) {
    await response.body?.cancel()
    throw new BuildError(fault)
  }
  const body = await bodyWithin(LARGEST_REPLY, response, onChunk)
  if (body === undefined) throw new BuildError(`its answer is longer than ${LARGEST_REPLY} bytes`)
  return body
}

function faultOf({ status, headers }: Response): string | undefined {
  if (status !== 200) {
    const location = headers.get('location')
    return `it answered ${status}${location === null ? '' : ` and leads to ${withoutSecrets(shown(location))}`}`
  }
  const type = headers.get('content-type') ?? ''
  if (type.split(';')[0]?.trim().toLowerCase() === REPLY_TYPE) return undefined
  return `its answer has the Content-Type "${shown(type)}", not ${REPLY_TYPE}`
}

function verifyReply(token: Token, bytes: Uint8Array, nonce: Uint8Array): void {
  verifyImprint(token, bytes)
  if (!token.nonce?.equals(nonce)) throw new BuildError('its reply answers another request: the nonce differs')
  if (!token.hasCertificates) throw new BuildError('its reply has no certificate, which was requested')
}

function verifyImprint({ algorithm, hashed }: Token, bytes: Uint8Array): void {
  if (algorithm !== SHA_256.name) {
    throw new BuildError(`the time stamp has a hash of the algorithm ${algorithm}, not ${SHA_256.name} (SHA-256)`)
  }
  const [actual, own] = [hashed.toString('hex'), hash('sha256', bytes)]
  if (actual !== own) throw new BuildError(`the time stamp is of other bytes: it has the SHA-256 ${actual}, not ${own}`)
}

/** TimeStampResp (RFC 3161 §2.4.2): a status, then the time stamp as a ContentInfo of CMS. */
function readToken(tsr: Uint8Array): Token {
  return readDer(tsr, 'SEQUENCE', (reply) => {
    reply.within('SEQUENCE', verifyGranted)
    return reply.within('SEQUENCE', (info) => {
      expectIdentifier(info, SIGNED_DATA)
      return info.within('[0]', (explicit) => explicit.within('SEQUENCE', readSignedData))
    })
  })
}

/** PKIStatusInfo. A refusal may have texts and bits that say why. */
function verifyGranted(info: DerReader): void {
  const status = info.content('INTEGER').toString('hex')
  const texts = info.has('SEQUENCE') ? info.within('SEQUENCE', readTexts) : []
  const failures = failuresOf(info.contentIfAny('BIT STRING') ?? Buffer.of())
  if (status === '00' || status === '01') return
  const name = STATUSES[Number.parseInt(status, 16)] ?? `0x${status}`
  throw new BuildError(`the status of the reply is ${shown([name, ...texts, ...failures].join(': '))}`)
}

function readTexts(list: DerReader): string[] {
  const texts: string[] = []
  while (list.has('UTF8String')) texts.push(list.content('UTF8String').toString())
  return texts
}

/** The first byte says how many bits at the end are unused. */
function failuresOf([, ...bytes]: Buffer): string[] {
  return Object.entries(FAILURES)
    .filter(([bit]) => ((bytes[Number(bit) >> 3] ?? 0) & (0x80 >> (Number(bit) & 7))) !== 0)
    .map(([, text]) => text)
}

/** SignedData (RFC 5652 §5.1). Its signature and certificates are for others to check. */
function readSignedData(data: DerReader): Token {
  data.content('INTEGER')
  data.content('SET')
  const info = data.within('SEQUENCE', (content) => {
    expectIdentifier(content, TST_INFO)
    return content.within('[0]', (explicit) =>
      explicit.within('OCTET STRING', (octets) => octets.within('SEQUENCE', readInfo)),
    )
  })
  const hasCertificates = data.contentIfAny('[0]') !== undefined
  data.contentIfAny('[1]')
  data.content('SET')
  return { ...info, hasCertificates }
}

/** TSTInfo (RFC 3161 §2.4.2). */
function readInfo(info: DerReader): Omit<Token, 'hasCertificates'> {
  info.content('INTEGER')
  const policy = info.identifier()
  const imprint = info.within('SEQUENCE', readImprint)
  info.content('INTEGER')
  const at = toInstant(info.content('GeneralizedTime').toString('latin1'))
  info.contentIfAny('SEQUENCE')
  info.contentIfAny('BOOLEAN')
  const nonce = info.contentIfAny('INTEGER')
  info.contentIfAny('[0]')
  info.contentIfAny('[1]')
  return { at, policy, ...imprint, nonce }
}

function readImprint(imprint: DerReader): Pick<Token, 'algorithm' | 'hashed'> {
  const algorithm = imprint.within('SEQUENCE', (identifier) => {
    const name = identifier.identifier()
    identifier.contentIfAny('NULL')
    return name
  })
  return { algorithm, hashed: imprint.content('OCTET STRING') }
}

function expectIdentifier(reader: DerReader, expected: string): void {
  const actual = reader.identifier()
  if (actual !== expected) throw new BuildError(`the reply has the content type ${actual}, not ${expected}`)
}

/** DER has one form: to the second or with a fraction, in UTC. */
function toInstant(text: string): string {
  const form = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d(?:\.\d{0,8}[1-9])?)Z$/
  const instant = text.replace(form, '$1-$2-$3T$4:$5:$6Z')
  if (z.iso.datetime().safeParse(instant).success) return instant
  throw new BuildError(`the time of the time stamp is "${shown(text)}", not an instant in UTC`)
}

function shown(text: string): string {
  return printable(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text)
}
