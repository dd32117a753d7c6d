/** SPECIFICATION.md on presets: resources, states, endpoints 1 and 2, authentication, errors; with API.md's decisions. */
import { describe, expect, test } from 'vitest'
import { NOW } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { OTHER_WORKSPACE, PRESETS, presetApp, REQUEST, THIRD_WORKSPACE } from '../support/presets.ts'
import { blockWriters, storeUrl, testStore } from '../support/store.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const LATER = new Date(NOW.getTime() + 1500)

describe('Resources: Preset, with its designated version', () => {
  test('has each field of the table and no other', async () => {
    const { ada } = await presetApp()
    const answer = await ada.post('support-agent', { ...REQUEST, max_tokens: 1024, system: 'Be brief.' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    const { data, ...rest } = answer.json()
    expect(rest).toEqual({})
    expect(data).toEqual({
      id: expect.stringMatching(UUID),
      slug: 'support-agent',
      name: 'support-agent',
      description: null,
      status: 'active',
      status_updated_at: null,
      workspace_id: '00000000-0000-4000-8000-000000000000',
      creator_user_id: 'user_ada',
      designated_version_id: expect.stringMatching(UUID),
      designated_version: {
        id: data.designated_version_id,
        preset_id: data.id,
        version: 1,
        config: { model: 'acme/one', max_tokens: 1024 },
        system_prompt: 'Be brief.',
        creator_id: 'user_ada',
        created_at: '2025-02-10T09:30:00.000Z',
        updated_at: '2025-02-10T09:30:00.000Z',
      },
      created_at: '2025-02-10T09:30:00.000Z',
      updated_at: '2025-02-10T09:30:00.000Z',
    })
  })

  test('belongs to the workspace and the user of the key', async () => {
    const { clientWith } = await presetApp()
    const bob = await clientWith({ userId: 'user_bob', workspaceId: OTHER_WORKSPACE, isManagement: true })
    const preset = await bob.create('agent')
    expect(preset).toMatchObject({ workspace_id: OTHER_WORKSPACE, creator_user_id: 'user_bob' })
    expect(preset.designated_version.creator_id).toBe('user_bob')
  })

  test('keeps its creator when another user adds a version, which has its own', async () => {
    const { ada, clientWith } = await presetApp()
    const bob = await clientWith({ userId: 'user_bob', isManagement: true })
    await ada.create('agent')
    const preset = await bob.create('agent')
    expect([preset.creator_user_id, preset.designated_version.creator_id]).toEqual(['user_ada', 'user_bob'])
  })
})

describe('Resources: PresetVersion', () => {
  test('has each field of the table and no other', async () => {
    const { ada } = await presetApp()
    const { id, designated_version_id } = await ada.create('agent', { ...REQUEST, temperature: 0.5 })
    expect((await ada.get('/agent/versions/1')).json()).toEqual({
      data: {
        id: designated_version_id,
        preset_id: id,
        version: 1,
        config: { model: 'acme/one', temperature: 0.5 },
        system_prompt: null,
        creator_id: 'user_ada',
        created_at: '2025-02-10T09:30:00.000Z',
        updated_at: '2025-02-10T09:30:00.000Z',
      },
    })
  })

  test('decision: system_prompt is null and present without a system text, and empty where that is', async () => {
    const { ada } = await presetApp()
    expect((await ada.create('agent')).designated_version.system_prompt).toBeNull()
    expect((await ada.create('agent', { ...REQUEST, system: '' })).designated_version.system_prompt).toBe('')
    const { data } = (await ada.get('/agent/versions/1')).json()
    expect(data).toHaveProperty('system_prompt', null)
  })
})

describe('States: no preset with the slug', () => {
  test('a request makes an active preset with version 1, which is designated', async () => {
    const { ada } = await presetApp()
    assertEnvelope(await ada.get('/agent'), 404)
    const preset = await ada.create('agent')
    expect(preset).toMatchObject({ status: 'active', designated_version: { version: 1 } })
    expect((await ada.get('/agent')).json()).toEqual({ data: preset })
  })

  test.each([
    ['400', { model: 'acme/one' }, {}],
    ['415', REQUEST, { 'content-type': 'text/plain' }],
  ])('a request that is %s makes none', async (status, body, headers) => {
    const { ada } = await presetApp()
    assertEnvelope(await ada.post('agent', body, headers), Number(status))
    assertEnvelope(await ada.get('/agent'), 404)
    expect((await ada.get()).json()).toEqual({ data: [], total_count: 0 })
  })
})

describe('States: preset exists', () => {
  test('a request makes the next version of the same preset, which is designated', async () => {
    const times = [NOW, LATER]
    const { ada } = await presetApp({ clock: () => times[0] ?? NOW })
    const first = await ada.create('agent', { ...REQUEST, max_tokens: 1 })
    times.shift()
    const second = await ada.create('agent', { ...REQUEST, max_tokens: 2 })
    expect(second).toEqual({
      ...first,
      designated_version_id: expect.stringMatching(UUID),
      designated_version: {
        id: second.designated_version_id,
        preset_id: first.id,
        version: 2,
        config: { model: 'acme/one', max_tokens: 2 },
        system_prompt: null,
        creator_id: 'user_ada',
        created_at: LATER.toISOString(),
        updated_at: LATER.toISOString(),
      },
      updated_at: LATER.toISOString(),
    })
    expect(second.designated_version_id).not.toBe(first.designated_version_id)
    expect((await ada.get('/agent')).json()).toEqual({ data: second })
  })

  test('the versions before it stay as they were', async () => {
    const { ada } = await presetApp()
    const first = await ada.create('agent', { ...REQUEST, max_tokens: 1 })
    await ada.create('agent', { ...REQUEST, max_tokens: 2 })
    expect((await ada.get('/agent/versions/1')).json()).toEqual({ data: first.designated_version })
  })

  test('decision: identical bodies make versions too, and versions do not inherit', async () => {
    const { ada } = await presetApp()
    const body = { ...REQUEST, temperature: 1, system: 'Be brief.' }
    for (const version of [1, 2, 3]) expect((await ada.create('agent', body)).designated_version.version).toBe(version)
    const { designated_version } = await ada.create('agent', { model: 'acme/two', messages: [] })
    expect(designated_version).toMatchObject({ version: 4, config: { model: 'acme/two' }, system_prompt: null })
    expect(designated_version.config).not.toHaveProperty('temperature')
  })

  test.each([
    ['400', { model: 'acme/one' }, {}],
    ['413', { ...REQUEST, padding: 'x'.repeat(4 * 1024 * 1024) }, {}],
    ['415', REQUEST, { 'content-type': 'text/plain' }],
  ])('a request that is %s changes nothing, and takes no number', async (status, body, headers) => {
    const { ada } = await presetApp()
    const before = await ada.create('agent')
    assertEnvelope(await ada.post('agent', body, headers), Number(status))
    expect((await ada.get('/agent')).json()).toEqual({ data: before })
    expect((await ada.create('agent')).designated_version.version).toBe(2)
  })

  test('slugs that differ, if by case alone, are different presets', async () => {
    const { ada } = await presetApp()
    const ids = [await ada.create('agent'), await ada.create('Agent'), await ada.create('agent.')].map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    assertEnvelope(await ada.get('/AGENT'), 404)
  })
})

describe('Endpoint 1, rule 1: only fields that overlap with the configuration are stored', () => {
  const STORED = {
    model: 'acme/one',
    models: ['acme/one', 'acme/two'],
    max_tokens: 1024,
    temperature: 0.2,
    top_p: 0.9,
    top_k: 40,
    stop_sequences: ['END'],
    service_tier: 'auto',
    speed: 'fast',
    cache_control: { type: 'ephemeral', ttl: '1h' },
    context_management: { edits: [{ type: 'compact_20260112', instructions: null }] },
    output_config: { effort: 'high' },
    thinking: { type: 'enabled', budget_tokens: 2000 },
    tools: [{ name: 'look_up', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'look_up' },
    plugins: [{ id: 'moderation' }],
    provider: { order: ['acme'] },
    route: 'fallback',
    stop_server_tools_when: [{ type: 'step_count_is', step_count: 3 }],
  }

  test.each(Object.entries(STORED))('%s is stored as it was sent', async (key, value) => {
    const { ada } = await presetApp()
    const { designated_version } = await ada.create('agent', { ...REQUEST, [key]: value })
    expect(designated_version.config).toEqual({ model: 'acme/one', [key]: value })
    expect((await ada.get('/agent/versions/1')).json().data.config).toEqual(designated_version.config)
  })

  test('fallbacks is stored as it was sent', async () => {
    const { ada } = await presetApp()
    const fallbacks = [{ model: 'acme/two' }]
    const { designated_version } = await ada.create('agent', { ...REQUEST, fallbacks })
    expect(designated_version.config).toEqual({ model: 'acme/one', fallbacks })
  })

  test.each([
    ['messages', [{ role: 'user', content: 'Hello' }]],
    ['stream', true],
    ['prompt', 42],
    ['input', { any: 'thing' }],
    ['metadata', { user_id: 'u' }],
    ['user', 'u'],
    ['session_id', 's'],
    ['trace', { trace_id: 't' }],
    ['no_such_field', [null]],
  ])('%s is silently ignored, not rejected', async (key, value) => {
    const { ada } = await presetApp()
    const { designated_version } = await ada.create('agent', { ...REQUEST, [key]: value })
    expect(designated_version).toMatchObject({ config: { model: 'acme/one' }, system_prompt: null })
    expect(Object.keys(designated_version.config)).toEqual(['model'])
  })

  test('decision: names, unknown nested keys, explicit nulls, their order and any characters are kept', async () => {
    const { ada } = await presetApp()
    const config =
      '{"temperature":1e-7,"provider":{"zebra":null,"apple":[1.50,"\\u0000\\ud800 é😀"],"__proto__":{"constructor":1}},' +
      '"fallbacks":null,"model":"acme/one"}'
    await ada.create('agent', `${config.slice(0, -1)},"messages":[]}`)
    const { body } = await ada.get('/agent/versions/1')
    expect(body).toContain(`"config":${JSON.stringify(JSON.parse(config))},`)
    expect(body).toContain('"__proto__":{"constructor":1}')
  })
})

describe('Endpoint 1, rule 2: model and max_tokens go into config, system becomes system_prompt', () => {
  test.each([
    ['a string, as it is', ' Be\tbrief.\u0000\ud800 ', ' Be\tbrief.\u0000\ud800 '],
    [
      'text blocks, joined by a blank line',
      [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
      'One.\n\nTwo.',
    ],
  ])('%s', async (_name, system, expected) => {
    const { ada } = await presetApp()
    const { designated_version } = await ada.create('agent', { ...REQUEST, max_tokens: 7, system })
    expect(designated_version).toMatchObject({
      config: { model: 'acme/one', max_tokens: 7 },
      system_prompt: expected,
    })
    expect(designated_version.config).not.toHaveProperty('system')
    expect((await ada.get('/agent/versions/1')).json().data.system_prompt).toBe(expected)
  })
})

describe('Endpoint 2: reads one version of a preset', () => {
  test('any version by its number, and none that is not there', async () => {
    const { ada } = await presetApp()
    for (const max_tokens of [1, 2, 3]) await ada.create('agent', { ...REQUEST, max_tokens })
    for (const version of [1, 2, 3]) {
      const { data } = (await ada.get(`/agent/versions/${version}`)).json()
      expect(data).toMatchObject({ version, config: { max_tokens: version } })
    }
    assertEnvelope(await ada.get('/agent/versions/4'), 404)
    assertEnvelope(await ada.get('/nothing/versions/1'), 404)
  })

  test('is for any key of the workspace', async () => {
    const { ada, clientWith } = await presetApp()
    const preset = await ada.create('agent')
    const reader = await clientWith({ userId: 'user_eve' })
    expect((await reader.get('/agent/versions/1')).json()).toEqual({ data: preset.designated_version })
  })
})

describe('Authentication', () => {
  test('3: creating needs a management key; with another the result is 403, and nothing is made', async () => {
    const { ada, clientWith } = await presetApp()
    const reader = await clientWith({ userId: 'user_eve' })
    const { error, user_id } = assertEnvelope(await reader.post('agent'), 403)
    expect(error.message).toBe('Only management keys can perform this operation')
    expect(user_id).toBe('user_eve')
    assertEnvelope(await ada.get('/agent'), 404)
  })
})

describe('Errors of preset creation', () => {
  test('400: a malformed body, with the field that is wrong', async () => {
    const { ada } = await presetApp()
    const { error } = assertEnvelope(await ada.post('agent', { ...REQUEST, max_tokens: 'many' }), 400)
    expect(error.metadata?.issues).toEqual([{ path: 'max_tokens', message: 'must be an integer' }])
  })

  test('401: without a key, and with an unknown one', async () => {
    const { app, ada } = await presetApp()
    assertEnvelope(await app.inject({ method: 'POST', url: `${PRESETS}/agent/messages`, payload: REQUEST }), 401)
    assertEnvelope(await ada.post('agent', REQUEST, { authorization: 'Bearer sk-tb-v1-unknown' }), 401)
  })

  test('403: with a key that is no management key', async () => {
    const { clientWith } = await presetApp()
    assertEnvelope(await (await clientWith({ isManagement: false })).post('agent'), 403)
  })

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
  test('400: a version that is no number', async () => {
    const { ada } = await presetApp()
    await ada.create('agent')
    const { error } = assertEnvelope(await ada.get('/agent/versions/latest'), 400)
    expect(error.metadata?.issues).toMatchObject([{ path: 'version' }])
  })

  test('401: without a key', async () => {
    const { app } = await presetApp()
    assertEnvelope(await app.inject(`${PRESETS}/agent/versions/1`), 401)
  })

  test('404: no such preset, no such version', async () => {
    const { ada } = await presetApp()
    expect(assertEnvelope(await ada.get('/agent/versions/1'), 404).error.message).toBe('Resource not found')
    await ada.create('agent')
    expect((await ada.get('/agent/versions/1')).statusCode).toBe(200)
    assertEnvelope(await ada.get('/agent/versions/2'), 404)
  })

  test('500: an unexpected error says nothing about its cause', async () => {
    const { app, ada, store } = await presetApp()
    await app.ready()
    await store.db.schema.alterTable('presets').renameTo('gone').execute()
    assertEnvelope(await ada.get('/agent/versions/1'), 500)
  })
})

describe('Limits: session_id', () => {
  test('decision: the header x-session-id has at most 256 characters too', async () => {
    const { ada } = await presetApp()
    expect((await ada.post('agent', REQUEST, { 'x-session-id': 'x'.repeat(256) })).statusCode).toBe(200)
    const { error } = assertEnvelope(await ada.post('agent', REQUEST, { 'x-session-id': 'x'.repeat(257) }), 400)
    expect(error.metadata?.issues).toMatchObject([{ path: 'x-session-id' }])
  })
})

describe('Decision: presets are scoped to the workspace of the key', () => {
  test('another workspace sees none of them, and makes its own under the same slug', async () => {
    const { ada, clientWith } = await presetApp()
    const bob = await clientWith({ workspaceId: OTHER_WORKSPACE, isManagement: true })
    const preset = await ada.create('agent', { ...REQUEST, max_tokens: 1 })
    for (const path of ['/agent', '/agent/versions', '/agent/versions/1']) assertEnvelope(await bob.get(path), 404)
    expect((await bob.get()).json()).toEqual({ data: [], total_count: 0 })

    const other = await bob.create('agent', { ...REQUEST, max_tokens: 2 })
    expect(other.designated_version.version).toBe(1)
    expect(other.id).not.toBe(preset.id)
    expect((await ada.get('/agent')).json()).toEqual({ data: preset })
    expect((await bob.get('/agent')).json()).toEqual({ data: other })
  })

  test('nobody gets an answer that was kept for another workspace', async () => {
    const { ada, clientWith } = await presetApp()
    const bob = await clientWith({ workspaceId: OTHER_WORKSPACE, isManagement: true })
    const eve = await clientWith({ workspaceId: THIRD_WORKSPACE })
    const ofAda = await ada.create('agent', { ...REQUEST, max_tokens: 1 })
    const ofBob = await bob.create('agent', { ...REQUEST, max_tokens: 2 })
    // From here on nothing is written, so the second round is answered from memory.
    for (const _round of ['read', 'kept']) {
      expect((await ada.get('/agent')).json()).toEqual({ data: ofAda })
      expect((await bob.get('/agent')).json()).toEqual({ data: ofBob })
      expect((await ada.get('/agent/versions/1')).json()).toEqual({ data: ofAda.designated_version })
      expect((await bob.get('/agent/versions/1')).json()).toEqual({ data: ofBob.designated_version })
      for (const path of ['/agent', '/agent/versions/1']) assertEnvelope(await eve.get(path), 404)
    }
  })
})
