/** What presets need beyond the exchanges in `test/server/exchanges/presets.http`. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import {
  ListPresetsResponse,
  ListPresetVersionsResponse,
  PresetResponse,
  PresetVersionResponse,
} from '../../../server/schemas/preset.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { PRESETS, type PresetClient, presetApp, REQUEST } from '../../support/presets.ts'
import { blockWriters, storeUrl, testStore } from '../../support/store.ts'

const MIB = 1024 * 1024

describe('the body', () => {
  test('in broken UTF-8 is 400, not another text', async () => {
    const { app, ada } = await presetApp()
    const payload = Buffer.from('{"model":"m\xff","messages":[]}', 'latin1')
    const headers = { ...ada.headers, 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, headers, payload })
    expect(assertEnvelope(answer, 400).error.message).toBe('the body must be JSON: it is not UTF-8')
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
  test('does not touch the versions', async () => {
    const { ada, store } = await presetApp()
    await ada.create('agent')
    await store.db.schema.dropTable('preset_versions').execute()
    expect((await ada.get()).json().data).toMatchObject([{ slug: 'agent' }])
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

test('every answer has the form of its schema', async () => {
  const { ada } = await presetApp()
  await ada.create('agent', { ...REQUEST, system: 'Be brief.' })
  PresetResponse.parse((await ada.post('agent')).json())
  PresetResponse.parse((await ada.get('/agent')).json())
  PresetVersionResponse.parse((await ada.get('/agent/versions/1')).json())
  ListPresetsResponse.parse((await ada.get()).json())
  ListPresetVersionsResponse.parse((await ada.get('/agent/versions')).json())
})

describe('Errors of preset creation', () => {
  test('409: while another writer keeps the store, and the next try succeeds', async () => {
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

  test('500: an unexpected error says nothing about its cause, and leaves no half of a preset', async () => {
    const { app, ada, store, log } = await presetApp()
    await app.ready()
    await store.db.schema.alterTable('preset_versions').renameTo('gone').execute()
    expect(assertEnvelope(await ada.post('agent'), 500).error.message).toBe('Internal Server Error')
    expect(log.text()).toContain('preset_versions')
    assertEnvelope(await ada.get('/agent'), 404)
  })
})

describe('Errors of preset version read', () => {
  test('500: an unexpected error says nothing about its cause', async () => {
    const { app, ada, store } = await presetApp()
    await app.ready()
    await store.db.schema.alterTable('presets').renameTo('gone').execute()
    assertEnvelope(await ada.get('/agent/versions/1'), 500)
  })
})
