/** Replies of an authority as OpenSSL made them (test/fixtures/time-stamp), and what they become in the wrong hands. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { mediaType } from '../../pipeline/contract/published-paths.ts'
import { readTimeStamp, requestTimeStamp } from '../../pipeline/publication/time-stamp.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/time-stamp', name))
const SITE = fixture('site.txt')
const GRANTED = fixture('granted.tsr')
const NONCE = Buffer.from('69bf8a5cfbf54e6a', 'hex')
const { signal } = new AbortController()

const TYPE = { 'Content-Type': 'application/timestamp-reply' }
const sends = (reply: Uint8Array) => (response: ServerResponse) => response.writeHead(200, TYPE).end(reply)

/** The reply with the bytes of a field changed. */
function altered(from: string, to: string): Buffer {
  const [before = '', after, ...rest] = GRANTED.toString('hex').split(from)
  if (after === undefined || rest.length > 0) throw new Error(`${from} is not there once`)
  return Buffer.from(before + to + after, 'hex')
}

interface Received {
  headers: IncomingHttpHeaders
  url: string | undefined
  body: Buffer
}

async function startAuthority(answer: (response: ServerResponse) => void) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, url: request.url, body: await buffer(request) })
    answer(response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const stop = () => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  }
  onTestFinished(async () => void (await stop()))
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, received, stop }
}

async function ask(answer: (response: ServerResponse) => void, options = {}) {
  const { address } = await startAuthority(answer)
  return requestTimeStamp(`http://${address}/tsr`, SITE, { signal, nonce: NONCE, ...options })
}

describe('a request', () => {
  it('is the one that OpenSSL makes, and returns the reply as it came', async () => {
    const { address, received } = await startAuthority(sends(GRANTED))
    const url = `http://ada:p%40ss@${address}/tsr?key=k1`
    expect(await requestTimeStamp(url, SITE, { signal, nonce: NONCE })).toEqual(GRANTED)
    const login = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`
    const headers = { 'content-type': 'application/timestamp-query', authorization: login }
    expect(received).toEqual([
      { headers: expect.objectContaining(headers), url: '/tsr?key=k1', body: fixture('granted.tsq') },
    ])
  })

  it('has another nonce each time', async () => {
    const { address, received } = await startAuthority(sends(GRANTED))
    for (let count = 0; count < 2; count += 1) {
      await expect(requestTimeStamp(`http://${address}`, SITE, { signal })).rejects.toThrow('the nonce differs')
    }
    const [first, second] = received.map(({ body }) => body)
    expect(first).toHaveLength(fixture('granted.tsq').length)
    expect(first).not.toEqual(second)
  })

  it('takes a time stamp that is granted with changes', async () => {
    const reply = altered('3003020100', '3003020101')
    expect(await ask(sends(reply))).toEqual(reply)
  })

  it.each([
    ['another request', GRANTED, { nonce: Buffer.from('41'.repeat(8), 'hex') }, 'the nonce differs'],
    ['no particular request', fixture('without-nonce.tsr'), {}, 'the nonce differs'],
    ['a request without certificates', fixture('without-certificates.tsr'), {}, 'its reply has no certificate'],
    ['a request about other bytes', altered('042085b54570', '042085b54571'), {}, 'of other bytes'],
    ['a hash of another algorithm', fixture('sha512.tsr'), {}, 'of the algorithm 2.16.840.1.101.3.4.2.3, not'],
    [
      'a request that it refuses',
      fixture('refused.tsr'),
      {},
      'rejected: Requested policy is not supported.: the policy',
    ],
    ['nothing', Buffer.of(), {}, 'the DER is malformed at byte 0'],
    ['in another language', Buffer.from('<html>'), {}, 'the DER is malformed at byte 0'],
    ['endlessly', Buffer.alloc(65_537), {}, 'longer than 65536 bytes'],
  ])('fails if the authority answers %s', async (_, reply, options, message) => {
    await expect(ask(sends(reply), options)).rejects.toThrow(message)
  })

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['a page', (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(GRANTED), '"text/html", not'],
    ['without a type', (response) => response.writeHead(200).end(GRANTED), 'the Content-Type "", not'],
    ['an error', (response) => response.writeHead(503, TYPE).end(GRANTED), 'it answered 503;'],
    [
      'that it has moved',
      (response) => response.writeHead(301, { Location: 'https://a:b@tsa.example.org/' }).end(),
      'it answered 301 and leads to https:…@tsa.example.org/;',
    ],
    ['and hangs up', (response) => response.destroy(), 'it cannot be reached: other side closed'],
  ])('fails if the authority answers %s', async (_, answer, message) => {
    await expect(ask(answer)).rejects.toThrow(message)
  })

  it('fails if the authority goes silent, before its answer or within it', async () => {
    await expect(ask(() => {}, { idleMs: 50 })).rejects.toThrow('it sent nothing for 0.05 s')
    const begins = (response: ServerResponse) => response.writeHead(200, TYPE).write(GRANTED.subarray(0, 9))
    await expect(ask(begins, { idleMs: 50 })).rejects.toThrow('it sent nothing for 0.05 s')
  })

  it('says which host is down and what to do, without what is secret in the URL', async () => {
    const { address, stop } = await startAuthority(sends(GRANTED))
    await stop()
    const request = requestTimeStamp(`http://ada:secret@${address}/tsr?key=secret`, SITE, { signal })
    await expect(request).rejects.toThrow(
      new BuildError(
        `http:…@${address}/tsr?… gave no time stamp: it cannot be reached: connect ECONNREFUSED ${address}; try again, or set TSA_URL to another authority`,
      ),
    )
  })

  it('ends when it is interrupted', async () => {
    const stop = new AbortController()
    const request = ask(() => stop.abort(new Error('interrupted')), { signal: stop.signal })
    await expect(request).rejects.toThrow('interrupted')
  })
})

describe('a stored reply', () => {
  it('says when, and by which policy', () => {
    expect(readTimeStamp(GRANTED, SITE)).toEqual({ at: '2026-11-24T22:13:40Z', policy: '1.2.3.4.1' })
  })

  it('is served with the media type of a reply', () => {
    expect(mediaType('site.json.tsr')).toBe('application/timestamp-reply')
  })

  it('is not one of other bytes', () => {
    expect(() => readTimeStamp(GRANTED, Buffer.concat([SITE, Buffer.from(' ')]))).toThrow(
      'the time stamp is of other bytes: it has the SHA-256 85b54570',
    )
  })

  it.each([
    [
      'content that is not signed',
      '06092a864886f70d010702',
      '06092a864886f70d010701',
      'the content type 1.2.840.113549.1.7.1',
    ],
    [
      'signed content of another type',
      '09100104a0818f',
      '09100105a0818f',
      'the content type 1.2.840.113549.1.9.16.1.5',
    ],
    [
      'a date that does not exist',
      '20261124221340Z',
      '20261131221340Z',
      'the time of the time stamp is "20261131221340Z"',
    ],
    ['a time of another zone', '20261124221340Z', '2026112422+0100', 'the time of the time stamp is "2026112422+0100"'],
    ['an unknown status', '3003020100', '3003020109', 'the status of the reply is 0x09'],
  ])('is not %s', (_, from, to, message) => {
    const bytes = (text: string) => (/[Z+]/.test(text) ? Buffer.from(text).toString('hex') : text)
    expect(() => readTimeStamp(altered(bytes(from), bytes(to)), SITE)).toThrow(message)
  })

  it('is refused with a BuildError or read, whatever byte is changed, and refused when it is cut or extended', () => {
    const read = (tsr: Uint8Array) => {
      try {
        return readTimeStamp(tsr, SITE)
      } catch (error) {
        expect(error).toBeInstanceOf(BuildError)
        return undefined
      }
    }
    for (const at of GRANTED.keys()) {
      expect(read(GRANTED.subarray(0, at)), `cut at ${at}`).toBeUndefined()
      for (const value of [0x00, 0x30, 0x80, 0x84, 0xff]) read(Buffer.from(GRANTED).fill(value, at, at + 1))
    }
    expect(read(Buffer.concat([GRANTED, Buffer.of(0)]))).toBeUndefined()
  })
})

describe('TSA_URL', () => {
  it('is the address of the authority', () => {
    expect(readPipelineConfig({ TSA_URL: 'https://tsa.example.org/tsr' }).tsaUrl).toBe('https://tsa.example.org/tsr')
  })

  it.each(['tsa.example.org', 'ftp://ada:secret@tsa.example.org'])('is not %s', (TSA_URL) => {
    expect(() => readPipelineConfig({ TSA_URL })).toThrow(/^TSA_URL must be an http\(s\) URL, .*, not "(?!.*secret)/)
  })
})
