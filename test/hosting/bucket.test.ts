/** What is said to a bucket, and what its refusals are told as. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readBucketLogin } from '../../pipeline/base/config.ts'
import { Bucket, type Upload } from '../../pipeline/hosting/bucket.ts'
import { readBucketAddress, urlOf } from '../../pipeline/hosting/bucket-address.ts'
import { bodyOf, md5Of } from '../../pipeline/hosting/local-file.ts'
import { BUCKET, type FakeS3, REGION, S3_KEY, startFakeS3 } from '../support/fake-s3.ts'
import { temporaryFolder } from '../support/folder.ts'

interface Opened {
  s3: FakeS3
  bucket: Bucket
  pauses: number[]
  /** The time limits of the tries, in milliseconds. Each ends its try when it is aborted. */
  limits: { ms: number; controller: AbortController }[]
}

async function open(
  address = `s3://${BUCKET}/tokens`,
  { settings = {}, now = new Date() }: { settings?: Record<string, string>; now?: Date } = {},
): Promise<Opened> {
  const s3 = await startFakeS3()
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const login = readBucketLogin({ ...s3.environment, ...settings })
  const limits: Opened['limits'] = []
  const limit = (ms: number) => {
    const controller = new AbortController()
    limits.push({ ms, controller })
    return controller.signal
  }
  const options = { signal: new AbortController().signal, pause, limit, now: () => now }
  return { s3, pauses, limits, bucket: new Bucket(readBucketAddress(address), login, options) }
}

function upload(text: string, changes: Partial<Upload> = {}): Upload {
  const body = Buffer.from(text)
  const [sha256, md5] = [createHash('sha256').update(body).digest('hex'), createHash('md5').update(body).digest()]
  const headers = { type: 'text/csv; charset=utf-8', cache: 'public, max-age=60, must-revalidate' }
  return { bytes: body.length, sha256, md5, ...headers, body: async () => body, ...changes }
}

const ODD = [
  'a b+c/d&e<f>.csv',
  "it's (new)!*.csv",
  'models/über~50%25 $,;=@:.html',
  'x?y#z "q".csv',
  '%2e%2e/x',
  '日本/😀',
]

describe('a bucket', () => {
  it('stores a file with its headers and hash, below the prefix', async () => {
    const { s3, bucket } = await open()
    await bucket.put('daily/2025-03-01.csv', upload('rows\n'))
    expect([...s3.objects.keys()]).toEqual(['tokens/daily/2025-03-01.csv'])
    expect(s3.objects.get('tokens/daily/2025-03-01.csv')?.headers).toEqual({
      'content-type': 'text/csv; charset=utf-8',
      'cache-control': 'public, max-age=60, must-revalidate',
      'x-amz-meta-sha256': upload('rows\n').sha256,
    })
    expect(await bucket.sha256Of('daily/2025-03-01.csv')).toBe(upload('rows\n').sha256)
  })

  it('sends a large file as a stream, again after a failure, and an empty one', async () => {
    const { s3, bucket } = await open()
    const source = join(await temporaryFolder(), 'large')
    const text = 'a line of 16 B.\n'.repeat(2 ** 16 + 1)
    await writeFile(source, text)
    const file = { path: 'large', source, bytes: text.length, sha256: upload(text).sha256 }
    expect(bodyOf(file)).toBeInstanceOf(ReadableStream)
    let tries = 0
    s3.fault = (_, response) => {
      tries += 1
      if (tries === 1) response.destroy()
      return tries === 1
    }
    await bucket.put('large', upload('', { ...file, md5: await md5Of(file), body: () => bodyOf(file) }))
    await bucket.put('empty', upload(''))
    expect(s3.objects.get('tokens/large')?.body.equals(Buffer.from(text))).toBe(true)
    expect(s3.objects.get('tokens/empty')?.body.length).toBe(0)
  })

  it.each([true, false])(
    'signs, lists, reads and deletes keys of any characters (encoding-type known: %s)',
    async (known) => {
      const { s3, bucket } = await open()
      s3.encodesKeys = known
      for (const path of ODD) await bucket.put(path, upload(path))
      expect(new Set(s3.objects.keys())).toEqual(new Set(ODD.map((path) => `tokens/${path}`)))
      expect(new Set((await bucket.list()).keys())).toEqual(new Set(ODD))
      for (const path of ODD) expect((await bucket.read(path))?.toString()).toBe(path)
      for (const path of ODD) await bucket.remove(path)
      expect(s3.objects.size).toBe(0)
    },
  )

  it('is listed page by page, only below the prefix, without folders of consoles', async () => {
    const { s3, bucket } = await open()
    s3.pageSize = 2
    for (const key of ['tokens/a', 'tokens/b', 'tokens/c', 'tokens/', 'tokens/x/', 'tokens-2/d', 'e']) s3.put(key, 'x')
    expect([...(await bucket.list()).keys()]).toEqual(['a', 'b', 'c'])
    expect(s3.requests.length).toBe(3)
    const etag = createHash('md5').update('x').digest('hex')
    expect((await bucket.list()).get('a')).toEqual({ bytes: 1, etag })
  })

  it('has only what is below the prefix, whatever the service lists', async () => {
    const { s3, bucket } = await open()
    s3.fault = (_, response) => {
      const contents = ['tokens/a', 'tokens-2/d', 'e'].map((key) => `<Contents><Key>${key}</Key></Contents>`)
      response.end(`<ListBucketResult>${contents.join('')}</ListBucketResult>`)
      return true
    }
    expect([...(await bucket.list()).keys()]).toEqual(['a'])
  })

  it('signs with a session token', async () => {
    const { s3, bucket } = await open(`s3://${BUCKET}`, { settings: { AWS_SESSION_TOKEN: 'a token' } })
    s3.sessionToken = 'a token'
    expect((await bucket.list()).size).toBe(0)
  })

  it('tries again when the service is busy, when the connection breaks, and when the body arrives damaged', async () => {
    const { s3, bucket, pauses } = await open()
    let tries = 0
    s3.fault = (_, response) => {
      tries += 1
      if (tries === 1) response.writeHead(503, { 'retry-after': '7' }).end('<Error><Code>SlowDown</Code></Error>')
      if (tries === 2) response.destroy()
      if (tries === 3) response.writeHead(400).end('<Error><Code>XAmzContentSHA256Mismatch</Code></Error>')
      return tries <= 3
    }
    await bucket.put('a.csv', upload('rows\n'))
    expect(s3.objects.get('tokens/a.csv')?.body.toString()).toBe('rows\n')
    expect(pauses).toEqual([7000, 2000, 8000])
  })

  it('tries again when no answer comes in time, and gives up after five tries', async () => {
    const { s3, bucket, limits, pauses } = await open()
    let ends = 1
    s3.fault = (_, response) => {
      if (limits.length > ends) return false
      // A body that does not end is no answer.
      response.write('<ListBucketResult>')
      limits.at(-1)?.controller.abort()
      return true
    }
    expect((await bucket.list()).size).toBe(0)
    expect(pauses.length).toBe(1)
    ends = 100
    await expect(bucket.list()).rejects.toThrow(
      `s3://${BUCKET}/tokens cannot be listed: no answer from ${new URL(s3.url).host} within 30 s; it was tried 5 times`,
    )
  })

  it('lets an upload take longer, the longer it is', async () => {
    const { bucket, limits } = await open()
    await bucket.put('a', upload('x'.repeat(2 ** 20)))
    await bucket.read('a')
    await bucket.sha256Of('a')
    await bucket.remove('a')
    expect(limits.map(({ ms }) => ms)).toEqual([30_000 + 2 ** 20 / 32, 30_000, 30_000, 30_000])
  })

  it('gives up after five tries, and says what was answered', async () => {
    const { s3, bucket } = await open()
    s3.fault = (_, response) => {
      response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>')
      return true
    }
    await expect(bucket.put('a.csv', upload('x'))).rejects.toThrow(
      `s3://${BUCKET}/tokens/a.csv cannot be uploaded: answered with 503 SlowDown Please reduce your rate.; it was tried 5 times`,
    )
    expect(s3.requests.length).toBe(5)
  })

  it('refuses bytes that do not have their hashes', async () => {
    const { s3, bucket } = await open()
    await expect(bucket.put('a', upload('x', { sha256: 'ab'.repeat(32) }))).rejects.toThrow('XAmzContentSHA256Mismatch')
    await expect(bucket.put('a', upload('x', { md5: Buffer.alloc(16) }))).rejects.toThrow('BadDigest')
    expect(s3.objects.size).toBe(0)
  })

  it('names the region that it is in', async () => {
    const { bucket } = await open(`s3://${BUCKET}`, { settings: { AWS_REGION: 'us-west-2' } })
    await expect(bucket.list()).rejects.toThrow(`the bucket is in another region: set AWS_REGION=${REGION}`)
  })

  it('names the region of a redirect', async () => {
    const { s3, bucket } = await open()
    s3.fault = (_, response) => {
      response.writeHead(301, { 'x-amz-bucket-region': 'ap-south-1', location: 'http://127.0.0.1:1/' }).end()
      return true
    }
    await expect(bucket.list()).rejects.toThrow('set AWS_REGION=ap-south-1')
  })

  it('says that there is no such bucket, also when an object is asked for', async () => {
    const { s3, bucket } = await open('s3://other')
    const said = `there is no bucket other at ${new URL(s3.url).host}: create it, or correct its name or AWS_ENDPOINT_URL`
    await expect(bucket.list()).rejects.toThrow(said)
    await expect(bucket.read('a')).rejects.toThrow(said)
    await expect(bucket.remove('a')).rejects.toThrow(said)
  })

  it('says which settings a refused key is in, never the secret', async () => {
    const { bucket } = await open(`s3://${BUCKET}`, { settings: { AWS_ACCESS_KEY_ID: 'other' } })
    await expect(bucket.list()).rejects.toThrow('403 InvalidAccessKeyId')
    await expect(bucket.list()).rejects.toThrow('the key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
    const { s3, bucket: own } = await open()
    s3.fault = (_, response) => {
      response.writeHead(403).end(`<Error><Code>AccessDenied</Code><Message>Not ${S3_KEY.secret}!</Message></Error>`)
      return true
    }
    await expect(own.list()).rejects.toThrow('AccessDenied Not …!')
    const { s3: other, bucket: temporary } = await open(`s3://${BUCKET}`, {
      settings: { AWS_SESSION_TOKEN: 'a token' },
    })
    other.fault = (_, response) => {
      response.writeHead(400).end('<Error><Code>ExpiredToken</Code><Message>a token</Message></Error>')
      return true
    }
    await expect(temporary.list()).rejects.toThrow('ExpiredToken …')
  })

  it('says that the clock is wrong', async () => {
    const { s3, bucket } = await open(`s3://${BUCKET}`, { now: new Date('2025-03-10T12:00:00Z') })
    s3.fault = (_, response) => {
      response
        .writeHead(403, { date: 'Tue, 11 Mar 2025 12:00:00 GMT' })
        .end('<Error><Code>RequestTimeTooSkewed</Code></Error>')
      return true
    }
    await expect(bucket.list()).rejects.toThrow(
      'it is Mon, 10 Mar 2025 12:00:00 GMT here and Tue, 11 Mar 2025 12:00:00 GMT there: correct the clock of this machine',
    )
  })

  it.each(['<html>', '<Error/>', '<!DOCTYPE x [<!ENTITY a "b">]><ListBucketResult>&a;</ListBucketResult>', ''])(
    'refuses %j as a listing',
    async (text) => {
      const { s3, bucket } = await open()
      s3.fault = (_, response) => {
        response.end(text)
        return true
      }
      await expect(bucket.list()).rejects.toThrow('does not answer as S3 does')
    },
  )

  it('ends a listing whose pages lead nowhere', async () => {
    const { s3, bucket } = await open()
    s3.fault = (_, response) => {
      const next = '<NextContinuationToken>same</NextContinuationToken>'
      response.end(`<ListBucketResult><IsTruncated>true</IsTruncated>${next}</ListBucketResult>`)
      return true
    }
    await expect(bucket.list()).rejects.toThrow('a page does not say where the next one begins')
  })
})

describe('the address of a bucket', () => {
  it.each([
    ['s3://data', {}, 'https://data.s3.us-east-1.amazonaws.com/a%20b'],
    [
      's3://data.example.org',
      { AWS_DEFAULT_REGION: 'eu-west-1' },
      'https://s3.eu-west-1.amazonaws.com/data.example.org/a%20b',
    ],
    ['s3://data', { AWS_REGION: 'cn-north-1' }, 'https://data.s3.cn-north-1.amazonaws.com.cn/a%20b'],
    ['s3://data', { AWS_ENDPOINT_URL: 'https://a.example/s3/' }, 'https://a.example/s3/data/a%20b'],
    [
      's3://data',
      { AWS_ENDPOINT_URL: 'https://a.example', AWS_ENDPOINT_URL_S3: 'https://b.example' },
      'https://b.example/data/a%20b',
    ],
  ])('%s with %j is %s', (address, settings, url) => {
    const login = readBucketLogin({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', ...settings })
    expect(urlOf(readBucketAddress(address), login, 'a b').href).toBe(url)
  })

  it('has a prefix that ends with a slash', () => {
    expect(readBucketAddress('s3://data/a/b/')).toEqual({ bucket: 'data', prefix: 'a/b/' })
    expect(readBucketAddress('s3://data/')).toEqual({ bucket: 'data', prefix: '' })
  })

  it.each([
    'data',
    's3://',
    's3:///a',
    's3://data/../b',
    's3://data/a//b',
    's3://data?x',
    'https://data',
    's3://key:secret@data',
  ])('%s is none', (text) => {
    expect(() => readBucketAddress(text)).toThrow('does not have the form s3://BUCKET or s3://BUCKET/PREFIX')
    expect(() => readBucketAddress(text)).not.toThrow('secret')
  })

  it('takes no user from the endpoint, and lists all missing settings', () => {
    const login = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_ENDPOINT_URL: 'https://me:pw@a.example' }
    expect(() => urlOf(readBucketAddress('s3://data'), readBucketLogin(login))).toThrow('more than a host and a path')
    expect(() => readBucketLogin({ AWS_ACCESS_KEY_ID: '' })).toThrow(
      /AWS_ACCESS_KEY_ID is missing; it must be the key.*\n.*AWS_SECRET_ACCESS_KEY is missing/,
    )
  })
})
