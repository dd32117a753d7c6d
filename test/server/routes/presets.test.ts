/** What presets need beyond the exchanges in `test/server/exchanges/presets.http`. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import {
  ListPresetsResponse,
  ListPresetVersionsResponse,
  PresetVersionResponse,
} from '../../../server/schemas/preset.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { PRESETS, presetApp, REQUEST } from '../../support/presets.ts'
import { blockWriters, storeUrl, testStore } from '../../support/store.ts'

const MIB = 1024 * 1024

describe('the body', () => {
  test('is refused with 400 when it is not UTF-8', async () => {
    const { app, ada } = await presetApp()
    const payload = Buffer.from('{"model":"m\xff","messages":[]}', 'latin1')
    const headers = { ...ada.headers, 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, headers, payload })
    expect(assertEnvelope(answer, 400).error.message).toBe('the body must be JSON: it is not UTF-8')
  })

  test('has at most 20,000 keys at all depths, counted before it is parsed', async () => {
    const { ada } = await presetApp()
    const post = (text: string) => ada.post('agent', `{"model":"acme/one","messages":[],"x":${text}}`)
    const refused = 'the body must have at most 20000 keys, at all depths together'
    const keys = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":{}`).join()
    const objects = (count: number) => `[${Array(count).fill('{"k":[]}').join()}]`
    for (const text of [`{${keys(19_997)}}`, objects(19_997), JSON.stringify('":"\\'.repeat(99_999))]) {
      expect((await post(text)).statusCode, text.slice(0, 20)).toBe(200)
    }
    // The last one is no JSON.
    for (const text of [`{${keys(19_998)}}`, objects(19_998), '{"a":'.repeat(20_000)]) {
      expect(assertEnvelope(await post(text), 400).error.message).toBe(refused)
    }
  })

  test('has at most 100,000 lists and objects, counted before it is parsed', async () => {
    const { ada } = await presetApp()
    const lists = (count: number) => ({ ...REQUEST, provider: { x: Array(count).fill([]) } })
    // The body, `messages`, `provider` and `x` count as well.
    expect((await ada.post('agent', lists(99_996))).statusCode).toBe(200)
    const nestings = ['[', '{"":', '[{"":'].map((opening) => opening.repeat((4 * MIB) / opening.length))
    for (const body of [lists(99_997), ...nestings]) {
      const { message } = assertEnvelope(await ada.post('agent', body), 400).error
      expect(message).toContain('must have at most 100000 lists and objects, at all depths together')
    }
  })

  test('has at most 4 MiB, all of which are stored', async () => {
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
    'is answered with 413 or 403 when it is too large, even if the client reads only after writing all (connection: %s)',
    async (connection) => {
      const { app, ada, clientWith } = await presetApp()
      const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
      for (const [client, status] of [
        [ada, 413],
        [await clientWith({}), 403],
      ] as const) {
        const socket = connect(Number(port), '127.0.0.1')
        socket.pause()
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        socket.on('error', reject)
        const head = `POST ${PRESETS}/agent/messages HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\n`
        const fields = `authorization: ${client.headers.authorization}\r\ncontent-type: application/json\r\n`
        const body = `content-length: ${12 * MIB}\r\n\r\n${'x'.repeat(12 * MIB)}`
        // The callback runs when the system has taken all bytes, and fails when the connection was reset before.
        socket.write(head + fields + body, (error) => (error ? reject(error) : resolve()))
        await promise
        socket.end()
        expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .+"code":${status}`, 's'))
      }
    },
  )
})

test('the list of presets does not read the versions', async () => {
  const { ada, store } = await presetApp()
  await ada.create('agent')
  await store.db.schema.dropTable('preset_versions').execute()
  expect((await ada.get()).json().data).toMatchObject([{ slug: 'agent' }])
})

test('pages have 50 presets or versions by default, and at most 100', async () => {
  const { ada } = await presetApp()
  for (let version = 1; version <= 51; version++) await ada.create('agent')
  for (let index = 0; index < 50; index++) await ada.create(`preset-${index}`)
  const presets = async (query: string) => ListPresetsResponse.parse((await ada.get(query)).json()).data
  const versions = async (query: string) => {
    const { data } = ListPresetVersionsResponse.parse((await ada.get(`/agent/versions${query}`)).json())
    return data.map(({ version }) => version)
  }
  const counting = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
  expect(await presets('')).toHaveLength(50)
  expect(await presets('?offset=50')).toMatchObject([{ slug: 'agent' }])
  expect(await presets('?limit=100')).toHaveLength(51)
  expect(await versions('')).toEqual(counting(1, 50))
  expect(await versions('?offset=50')).toEqual([51])
  expect(await versions('?limit=100')).toEqual(counting(1, 51))
  PresetVersionResponse.parse((await ada.get('/agent/versions/1')).json())
})

test('creating a preset is a 409 while another writer holds the store, and succeeds after that', async () => {
  const url = await storeUrl()
  const { ada } = await presetApp({ store: await testStore(url, 50) })
  const release = await blockWriters(url)
  const refused = await ada.post('agent')
  const { error } = assertEnvelope(refused, 409)
  expect(refused.headers['retry-after']).toBe('1')
  expect(error.message).toBe('Resource conflict. Please try again later.')
  assertEnvelope(await ada.get('/agent'), 404)
  await release()
  expect((await ada.create('agent')).designated_version.version).toBe(1)
})
