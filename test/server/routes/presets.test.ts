import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  ListPresetsResponse,
  ListPresetVersionsResponse,
  PresetResponse,
  PresetVersionResponse,
} from '../../../server/schemas/preset.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { PRESETS, type PresetClient, presetApp, REQUEST } from '../../support/presets.ts'

const MIB = 1024 * 1024

describe('the slug', () => {
  test.each(['a', '7', 'Agent-7.v2_x~y', 'x'.repeat(128), 'a..', 'messages', 'versions'])('%s is one', async (slug) => {
    const { ada } = await presetApp()
    expect((await ada.create(slug)).slug).toBe(slug)
    expect((await ada.get(`/${slug}`)).statusCode).toBe(200)
    expect((await ada.get(`/${slug}/versions`)).statusCode).toBe(200)
    expect((await ada.get(`/${slug}/versions/1`)).statusCode).toBe(200)
  })

  test.each([
    ['', 'must not be empty'],
    ['-a', 'must begin with a letter or digit'],
    ['.a', 'must begin with a letter or digit'],
    ['_a', 'must begin with a letter or digit'],
    ['~a', 'must begin with a letter or digit'],
    ['x'.repeat(129), 'at most 128 characters'],
    ['a%2Fb', 'letters, digits or . _ ~ -'],
    ['a%20', 'letters, digits or . _ ~ -'],
    ['a%0A', 'letters, digits or . _ ~ -'],
    ['a%00', 'letters, digits or . _ ~ -'],
    ['a%252Fb', 'letters, digits or . _ ~ -'],
    ['%C3%A9', 'must begin with a letter or digit'],
    ['a+b', 'letters, digits or . _ ~ -'],
    ['a:b', 'letters, digits or . _ ~ -'],
  ])('"%s" is none', async (slug, message) => {
    const { ada } = await presetApp()
    for (const answer of [await ada.post(slug), await ada.get(`/${slug}/versions/1`), await ada.get(`/${slug}`)]) {
      const { error } = assertEnvelope(answer, 400)
      expect(error.metadata?.issues).toMatchObject([{ path: 'slug', message: expect.stringContaining(message) }])
    }
  })

  test('is percent-decoded', async () => {
    const { ada } = await presetApp()
    expect((await ada.create('%61%7Eb%2e')).slug).toBe('a~b.')
    expect((await ada.get('/a~b.')).statusCode).toBe(200)
  })

  test.each(['%', '%zz', '%C3%28', 'a%'])('%s is no percent-encoding', async (slug) => {
    const { ada } = await presetApp()
    assertEnvelope(await ada.post(slug), 400)
    assertEnvelope(await ada.get(`/${slug}/versions/1`), 400)
  })
})

describe('the number of a version', () => {
  test.each([
    '',
    '0',
    '01',
    '-1',
    '+1',
    '%2B1',
    '1.0',
    '1e0',
    ' 1',
    '1%20',
    '0x1',
    'one',
    '2147483648',
    '9'.repeat(400),
  ])('"%s" is none', async (version) => {
    const { ada } = await presetApp()
    await ada.create('agent')
    const { error } = assertEnvelope(await ada.get(`/agent/versions/${version}`), 400)
    expect(error.metadata?.issues).toMatchObject([{ path: 'version' }])
  })

  test('2147483647 is one, if of no version', async () => {
    const { ada } = await presetApp()
    await ada.create('agent')
    assertEnvelope(await ada.get('/agent/versions/2147483647'), 404)
  })
})

describe('order of checks', () => {
  test('401, 403, 413, 415, 400: each comes before those after it', async () => {
    const { ada, clientWith } = await presetApp()
    const reader = await clientWith({})
    const unknown = { authorization: 'Bearer unknown' }
    const ofText = { 'content-type': 'text/plain' }
    const tooLarge = 'x'.repeat(4 * MIB + 1)
    const wrong = { slug: '-', session: { 'x-session-id': 'x'.repeat(257) } }
    assertEnvelope(await ada.post(wrong.slug, tooLarge, { ...wrong.session, ...ofText, ...unknown }), 401)
    assertEnvelope(await reader.post(wrong.slug, tooLarge, { ...wrong.session, ...ofText }), 403)
    assertEnvelope(await ada.post(wrong.slug, tooLarge, { ...wrong.session, ...ofText }), 413)
    assertEnvelope(await ada.post(wrong.slug, tooLarge, wrong.session), 413)
    assertEnvelope(await ada.post(wrong.slug, '{', { ...wrong.session, ...ofText }), 415)
    assertEnvelope(await ada.post(wrong.slug, REQUEST, wrong.session), 400)
    assertEnvelope(await ada.post('agent', REQUEST, wrong.session), 400)
    assertEnvelope(await ada.post(wrong.slug), 400)
    expect((await ada.post('agent')).statusCode).toBe(200)
  })

  test('401 and 400 come before 404', async () => {
    const { app, ada } = await presetApp()
    assertEnvelope(await app.inject(`${PRESETS}/nothing/versions/x`), 401)
    assertEnvelope(await ada.get('/nothing/versions/x'), 400)
    assertEnvelope(await ada.get('/nothing/versions?limit=0'), 400)
    assertEnvelope(await ada.get('/nothing/versions/1'), 404)
    assertEnvelope(await ada.get('/nothing/versions'), 404)
  })

  test.each([
    ['GET', '/agent/messages', 'POST, OPTIONS'],
    ['GET', '//messages', 'POST, OPTIONS'],
    ['HEAD', '/agent/messages', 'POST, OPTIONS'],
    ['PUT', '/agent/messages', 'POST, OPTIONS'],
    ['POST', '', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/agent', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/agent', 'GET, HEAD, OPTIONS'],
    ['POST', '/agent/versions', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/agent/versions/1', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s is 405, before 401', async (method, path, allow) => {
    const { app } = await presetApp()
    const answer = await app.inject({ method, url: PRESETS + path })
    if (method === 'HEAD') expect(answer.statusCode).toBe(405)
    else assertEnvelope(answer, 405)
    expect(answer.headers.allow).toBe(allow)
  })

  test.each(['/agent/', '/agent/messages/', '/agent/versions/1/', '/agent/nothing', '/a/b/c/d'])(
    '%s is no path of the API',
    async (path) => {
      const { ada } = await presetApp()
      await ada.create('agent')
      assertEnvelope(await ada.get(path), 404)
    },
  )
})

describe('the body', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'may be %s',
    async (contentType) => {
      const { ada } = await presetApp()
      expect((await ada.post('agent', REQUEST, { 'content-type': contentType })).statusCode).toBe(200)
    },
  )

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])('may not be %s', async (contentType) => {
    const { ada } = await presetApp()
    assertEnvelope(await ada.post('agent', REQUEST, { 'content-type': contentType }), 415)
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['gzip', Buffer.from],
    ['identity, gzip', gzipSync],
  ] as const)('may not be compressed: %s', async (coding, compress) => {
    const { app, ada } = await presetApp()
    const headers = { ...ada.headers, 'content-type': 'application/json', 'content-encoding': coding }
    const payload = compress(JSON.stringify(REQUEST))
    assertEnvelope(await app.inject({ method: 'POST', url: `${PRESETS}/a/messages`, headers, payload }), 415)
    assertEnvelope(await ada.get('/a'), 404)
  })

  test('may say that it is not compressed', async () => {
    const { ada } = await presetApp()
    expect((await ada.post('agent', REQUEST, { 'content-encoding': 'Identity' })).statusCode).toBe(200)
  })

  test('may not be without a type', async () => {
    const { app, ada } = await presetApp()
    const payload = Buffer.from(JSON.stringify(REQUEST))
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/a/messages`, headers: ada.headers, payload })
    assertEnvelope(answer, 415)
  })

  test.each([
    ['nothing', ''],
    ['half of an object', '{"model":'],
    ['two values', '{}{}'],
    ['a bare word', 'model'],
    ['a comment', '{} // x'],
    ['NaN', '{"model":"m","messages":[],"temperature":NaN}'],
  ])('of %s is 400', async (_name, body) => {
    const { ada } = await presetApp()
    const { error } = assertEnvelope(await ada.post('agent', body), 400)
    expect(error.message).toMatch(/^the body must be JSON: /)
  })

  test('in broken UTF-8 is 400, not another text', async () => {
    const { app, ada } = await presetApp()
    const payload = Buffer.from('{"model":"m\xff","messages":[]}', 'latin1')
    const headers = { ...ada.headers, 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, headers, payload })
    expect(assertEnvelope(answer, 400).error.message).toBe('the body must be JSON: it is not UTF-8')
  })

  test.each(['null', '[]', '"text"', '1', 'true'])('%s is no object', async (body) => {
    const { ada } = await presetApp()
    expect(assertEnvelope(await ada.post('agent', body), 400).error.message).toBe('the body must be an object')
  })

  test('that is missing is 400', async () => {
    const { app, ada } = await presetApp()
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, headers: ada.headers })
    expect(assertEnvelope(answer, 400).error.message).toBe('the body is required')
  })

  test('has at most 4 MiB, and all of them may be stored', async () => {
    const { ada } = await presetApp()
    const padding = (bytes: number) => {
      const empty = JSON.stringify({ ...REQUEST, provider: { padding: '' } })
      return { ...REQUEST, provider: { padding: 'x'.repeat(bytes - empty.length) } }
    }
    const largest = padding(4 * MIB)
    expect(JSON.stringify(largest)).toHaveLength(4 * MIB)
    await ada.create('agent', largest)
    const { config } = (await ada.get('/agent/versions/1')).json().data
    expect(config.provider.padding).toBe(largest.provider.padding)
    assertEnvelope(await ada.post('agent', padding(4 * MIB + 1)), 413)
  })

  test.each(['close', 'keep-alive'])(
    'that is too large is answered also when the client reads after it wrote all (connection: %s)',
    async (connection) => {
      const { app, ada, clientWith } = await presetApp()
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      const post = async (client: PresetClient) => {
        const bytes = 12 * MIB
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        const head = [
          `POST ${PRESETS}/agent/messages HTTP/1.1`,
          'host: x',
          `connection: ${connection}`,
          `authorization: ${client.headers.authorization}`,
          'content-type: application/json',
          `content-length: ${bytes}`,
        ].join('\r\n')
        socket.pause()
        // The callback runs when all was handed to the system, and fails when the connection was reset before.
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        socket.on('error', reject)
        socket.write(`${head}\r\n\r\n${'x'.repeat(bytes)}`, (error) => (error ? reject(error) : resolve()))
        await promise
        socket.end()
        return await text(socket)
      }
      expect(await post(ada)).toMatch(/^HTTP\/1\.1 413 .+"code":413/s)
      expect(await post(await clientWith({}))).toMatch(/^HTTP\/1\.1 403 .+"code":403/s)
    },
  )
})

describe('GET /presets', () => {
  test('lists presets without their versions, those updated last first', async () => {
    const { ada } = await presetApp()
    const { designated_version: _a, ...a } = await ada.create('a')
    const { designated_version: _b, ...b } = await ada.create('b')
    await ada.create('c')
    const { designated_version: _c, ...c } = await ada.create('c')
    expect((await ada.get()).json()).toEqual({ data: [c, b, a], total_count: 3 })
    const { designated_version: _d, ...updated } = await ada.create('a')
    expect((await ada.get()).json().data).toEqual([updated, c, b])
  })

  test('is empty where there are none', async () => {
    const { ada } = await presetApp()
    expect((await ada.get()).json()).toEqual({ data: [], total_count: 0 })
  })

  test('does not touch the versions', async () => {
    const { ada, store } = await presetApp()
    await ada.create('agent')
    await store.db.schema.dropTable('preset_versions').execute()
    expect((await ada.get()).json().data).toMatchObject([{ slug: 'agent' }])
  })

  test('pages of any size make up the whole', async () => {
    const { ada } = await presetApp()
    const slugs = Array.from({ length: 7 }, (_, index) => `preset-${index}`)
    for (const slug of slugs) await ada.create(slug)
    for (const limit of [1, 2, 3, 7, 100]) {
      const paged: string[] = []
      for (let offset = 0; offset < slugs.length; offset += limit) {
        const { data, total_count } = (await ada.get(`?limit=${limit}&offset=${offset}`)).json()
        expect(total_count).toBe(7)
        paged.push(...data.map(({ slug }: { slug: string }) => slug))
      }
      expect(paged).toEqual(slugs.toReversed())
    }
  })

  test('has 50 on a page unless told otherwise', async () => {
    const { ada } = await presetApp()
    for (let index = 0; index < 51; index++) await ada.create(`preset-${index}`)
    const { data, total_count } = (await ada.get()).json()
    expect([data.length, total_count]).toEqual([50, 51])
    expect((await ada.get('?offset=50')).json().data).toMatchObject([{ slug: 'preset-0' }])
    expect((await ada.get('?limit=100')).json().data).toHaveLength(51)
  })
})

describe('GET /presets/{slug}/versions', () => {
  test('lists the versions in ascending order, with what they hold', async () => {
    const { ada } = await presetApp()
    const versions = []
    for (const system of ['one', undefined, 'three']) {
      versions.push((await ada.create('agent', { ...REQUEST, system })).designated_version)
    }
    await ada.create('other')
    const answer = await ada.get('/agent/versions')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual({ data: versions, total_count: 3 })
    expect((await ada.get('/agent/versions?offset=1&limit=1')).json()).toEqual({ data: [versions[1]], total_count: 3 })
    expect((await ada.get('/agent/versions?offset=3')).json()).toEqual({ data: [], total_count: 3 })
  })

  test('has 50 on a page unless told otherwise, and 100 at most', async () => {
    const { ada } = await presetApp()
    for (let version = 1; version <= 101; version++) await ada.create('agent')
    const numbers = async (query: string) =>
      ListPresetVersionsResponse.parse((await ada.get(`/agent/versions${query}`)).json()).data.map(
        ({ version }) => version,
      )
    const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
    expect(await numbers('')).toEqual(range(1, 50))
    expect(await numbers('?offset=50')).toEqual(range(51, 100))
    expect(await numbers('?limit=100')).toEqual(range(1, 100))
    expect(await numbers('?limit=100&offset=100')).toEqual([101])
  })
})

describe.each(['', '/agent/versions'])('paging of %s', (path) => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=%2B1', 'limit'],
    [`limit=${'9'.repeat(400)}`, 'limit'],
    ['limit=1&limit=1', 'limit'],
    ['offset=', 'offset'],
    ['offset=-1', 'offset'],
    ['offset=1.5', 'offset'],
    ['offset=x', 'offset'],
    ['offset=0&offset=0', 'offset'],
  ])('%s is 400', async (query, parameter) => {
    const { ada } = await presetApp()
    await ada.create('agent')
    const { error } = assertEnvelope(await ada.get(`${path}?${query}`), 400)
    expect(error.metadata?.issues).toMatchObject([{ path: parameter }])
  })

  test.each(['limit=1', 'limit=100', 'offset=0', 'limit=007', 'other=1&other=2'])('%s is fine', async (query) => {
    const { ada } = await presetApp()
    await ada.create('agent')
    const { data, total_count } = (await ada.get(`${path}?${query}`)).json()
    expect([data.length, total_count]).toEqual([1, 1])
  })

  test.each(['1', '2147483648', '9007199254740993', '9'.repeat(400)])('offset=%s skips all', async (offset) => {
    const { ada } = await presetApp()
    await ada.create('agent')
    expect((await ada.get(`${path}?offset=${offset}`)).json()).toEqual({ data: [], total_count: 1 })
  })
})

test('every answer has the form of its schema', async () => {
  const { ada } = await presetApp()
  await ada.create('agent', { ...REQUEST, system: 'Be brief.' })
  PresetResponse.parse((await ada.post('agent')).json())
  PresetResponse.parse((await ada.get('/agent')).json())
  PresetVersionResponse.parse((await ada.get('/agent/versions/1')).json())
  ListPresetsResponse.parse((await ada.get()).json())
  ListPresetVersionsResponse.parse((await ada.get('/agent/versions')).json())
})

test.each(['', '/agent', '/agent/versions', '/agent/versions/1'])('HEAD %s is GET without its body', async (path) => {
  const { app, ada } = await presetApp()
  await ada.create('agent')
  const answer = await app.inject({ method: 'HEAD', url: PRESETS + path, headers: ada.headers })
  expect([answer.statusCode, answer.body]).toEqual([200, ''])
  assertEnvelope(await app.inject(PRESETS + path), 401)
})
