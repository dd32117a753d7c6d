/** What a version of the official SDK must do against a server that listens: every answer passes its validation. */
import { readFile } from 'node:fs/promises'
import type * as sdkModule from '@openrouter/sdk'
import type { MessagesRequest } from '@openrouter/sdk/models'
import type * as errorsModule from '@openrouter/sdk/models/errors'
import { describe, expect, test } from 'vitest'
import { parseCatalogue } from '../../server/schemas/embeddings-catalogue.ts'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { startForClients } from '../clients/server.ts'
import { someModels } from '../support/embeddings-models.ts'
import { inSnakeCase } from './types.ts'

/** A version of the SDK. The methods that are used here have the same types in all versions. */
export interface Sdk {
  sdk: typeof sdkModule
  errors: typeof errorsModule
}

const MODELS = 12

const shipped = parseCatalogue(await readFile(new URL('../../data/embeddings-models.json', import.meta.url), 'utf8'))

/** A server on a port of its own with a release and a catalogue, and clients of it with keys of three kinds. */
async function start({ OpenRouter }: typeof sdkModule, settings: Record<string, string> = {}) {
  const details = { userId: 'user_ada', limitUsd: '25.5', limitReset: 'monthly' } as const
  const { url, key, store, createKey } = await startForClients(details, settings)
  const catalogue = embeddingsCatalogue(store)
  await catalogue.replaceAll(someModels(MODELS))
  const clientWith = (apiKey: string) => new OpenRouter({ apiKey, serverURL: url, retryConfig: { strategy: 'none' } })
  return {
    catalogue,
    manager: clientWith(key),
    reader: clientWith(await createKey(details)),
    stranger: clientWith('sk-tb-v1-unknown'),
    anonymous: clientWith(''),
  }
}

/** Answers of one page, of all pages of a list. */
async function allPages<Page>(pages: Promise<AsyncIterable<Page>>): Promise<Page[]> {
  return await Array.fromAsync(await pages)
}

function datesOf({ data }: { data: readonly { date: string }[] }): string[] {
  return [...new Set(data.map(({ date }) => date))]
}

async function caught(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (answer) => expect.fail(`it was answered: ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  )
}

/** Tests of the calls. `load` is called when the first of them runs. */
export function testCalls({ sdk, errors }: Sdk): void {
  test('creates a preset and its next version from messages, and reads a version', async () => {
    const { manager, reader } = await start(sdk)
    const create = (maxTokens: number) =>
      manager.presets.createPresetsMessages({
        slug: 'support-agent',
        messagesRequest: {
          model: 'acme/one',
          messages: [{ role: 'user', content: 'What is a preset?' }],
          maxTokens,
          system: 'Be brief.',
        },
      })
    const { data } = await create(1024)
    expect(data).toMatchObject({
      slug: 'support-agent',
      name: 'support-agent',
      description: null,
      status: 'active',
      statusUpdatedAt: null,
      creatorUserId: 'user_ada',
      designatedVersion: {
        version: 1,
        presetId: data.id,
        config: { model: 'acme/one', max_tokens: 1024 },
        systemPrompt: 'Be brief.',
        creatorId: 'user_ada',
      },
    })
    expect(data.designatedVersionId).toBe(data.designatedVersion?.id)
    expect((await create(2048)).data.designatedVersion?.version).toBe(2)
    const first = await reader.presets.getVersion({ slug: 'support-agent', version: '1' })
    expect(first.data).toEqual(data.designatedVersion)
  })

  test('creates a preset from all that it can say, and the configuration is kept', async () => {
    const { manager } = await start(sdk)
    const { data } = await manager.presets.createPresetsMessages({ slug: 'full', messagesRequest: FULL_REQUEST })
    expect(data.designatedVersion?.config).toEqual(FULL_CONFIG)
    expect(data.designatedVersion?.systemPrompt).toBe('Be brief.\n\nBe kind.')
  })

  test('creates versions from a chat completion and a responses request', async () => {
    const { manager } = await start(sdk)
    const chat = await manager.presets.createPresetsChatCompletions({
      slug: 'agent',
      chatRequest: {
        model: 'acme/one',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
          { role: 'user', content: [{ type: 'image_url', imageUrl: { url: 'https://example.org/a.png' } }] },
          {
            role: 'assistant',
            toolCalls: [{ id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } }],
          },
          { role: 'tool', toolCallId: 'call_1', content: 'Friday' },
        ],
        maxCompletionTokens: 1024,
        logitBias: { '50256': -100 },
        responseFormat: { type: 'json_schema', jsonSchema: { name: 'answer', schema: { type: 'object' } } },
        tools: [{ type: 'function', function: { name: 'clock' } }, { type: 'openrouter:datetime' }],
        toolChoice: 'auto',
        provider: { sort: 'price' },
      },
    })
    expect(chat.data.designatedVersion).toMatchObject({
      version: 1,
      systemPrompt: 'Be brief.\n\nBe kind.',
      config: {
        model: 'acme/one',
        max_completion_tokens: 1024,
        logit_bias: { '50256': -100 },
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
        tools: [{ type: 'function', function: { name: 'clock' } }, { type: 'openrouter:datetime' }],
        tool_choice: 'auto',
        provider: { sort: 'price' },
      },
    })
    const responses = await manager.presets.createPresetsResponses({
      slug: 'agent',
      responsesRequest: {
        model: 'acme/two',
        instructions: 'Be exact.',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'Which day is it?' }] },
          { type: 'function_call', callId: 'call_1', name: 'clock', arguments: '{}', id: 'item_1' },
          { type: 'function_call_output', callId: 'call_1', output: 'Friday' },
        ],
        maxOutputTokens: 2048,
        text: { verbosity: 'low' },
        tools: [{ type: 'function', name: 'clock', parameters: { type: 'object' } }],
      },
    })
    const { config, ...version } = responses.data.designatedVersion ?? {}
    expect(version).toMatchObject({ version: 2, systemPrompt: 'Be exact.' })
    // The SDK adds defaults.
    expect(config).toMatchObject({
      model: 'acme/two',
      max_output_tokens: 2048,
      text: { verbosity: 'low' },
      tools: [{ type: 'function', name: 'clock', parameters: { type: 'object' } }],
    })
  })

  test('lists presets, gets one and lists its versions', async () => {
    const { manager, reader } = await start(sdk)
    for (const slug of ['a', 'b', 'a', 'a']) {
      await manager.presets.createPresetsMessages({ slug, messagesRequest: { model: 'acme/one', messages: [] } })
    }
    const lists = await allPages(reader.presets.list())
    expect(lists.map(({ result }) => [result.totalCount, result.data.map(({ slug }) => slug).toSorted()])).toEqual([
      [2, ['a', 'b']],
    ])
    expect((await reader.presets.get({ slug: 'a' })).data.designatedVersion?.version).toBe(3)
    const pages = await allPages(reader.presets.listVersions({ slug: 'a', limit: 2 }))
    expect(pages.map(({ result }) => result.data.map((version) => version?.version))).toEqual([[1, 2], [3]])
  })

  test('reads the current key', async () => {
    const { manager, reader } = await start(sdk)
    const { data } = await reader.apiKeys.getCurrentKeyMetadata()
    expect(data).toMatchObject({
      label: expect.stringMatching(/^sk-tb-v1-\w{3}\.\.\.\w{3}$/),
      creatorUserId: 'user_ada',
      limit: 25.5,
      limitRemaining: 25.5,
      limitReset: 'monthly',
      isManagementKey: false,
      usage: 0,
      byokUsageMonthly: 0,
      // 1.2.126 does not read it.
      ...('freeModelDailyRequests' in data && { freeModelDailyRequests: { limit: -1, remaining: -1, used: 0 } }),
      rateLimit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    })
    expect((await manager.apiKeys.getCurrentKeyMetadata()).data.isManagementKey).toBe(true)
  })

  test('lists embeddings models, whole and in pages, and reads every entry of the shipped catalogue', async () => {
    const { reader, catalogue } = await start(sdk)
    const whole = await allPages(reader.embeddings.listModels())
    expect(whole.map(({ result }) => [result.totalCount, result.data.length, result.links.next])).toEqual([
      [MODELS, MODELS, null],
    ])
    const pages = await allPages(reader.embeddings.listModels({ limit: 5 }))
    expect(pages.map(({ result }) => result.data.length)).toEqual([5, 5, 2])
    expect(pages[0]?.result.links.next).toBe('/api/v1/embeddings/models?offset=5&limit=5')
    await catalogue.replaceAll(shipped)
    const [page] = await allPages(reader.embeddings.listModels())
    expect(page?.result.data.map(({ id }) => id).toSorted()).toEqual(shipped.map(({ id }) => id).toSorted())
    for (const { links, ...model } of page?.result.data ?? []) {
      const [, author = '', slug = ''] = /\/models\/(.+)\/(.+)\/endpoints$/.exec(links.details) ?? []
      const { data } = await reader.endpoints.list({ author, slug })
      expect(data).toMatchObject({ name: model.name, created: model.created, endpoints: [] })
    }
  })

  test('reads the daily rankings, of the default window and of another', async () => {
    const { reader } = await start(sdk)
    const { data, meta } = await reader.datasets.getRankingsDaily()
    expect(meta).toEqual({
      asOf: '2025-02-10T00:12:00Z',
      startDate: '2025-01-10',
      endDate: '2025-02-09',
      version: 'v1',
    })
    expect(data).toHaveLength(31 * 51)
    expect(data[0]).toEqual({ date: '2025-01-10', modelPermaslug: 'vendor/model-0', totalTokens: '50009' })
    const day = await reader.datasets.getRankingsDaily({ startDate: '2025-02-01', endDate: '2025-02-01' })
    expect(day.data.map(({ modelPermaslug }) => modelPermaslug).at(-1)).toBe('other')
  })

  test('reads weeks and months', async () => {
    const { reader } = await start(sdk)
    const dates = { startDate: '2025-01-08', endDate: '2025-01-14' }
    const weeks = await reader.datasets.getRankingsDaily({ ...dates, period: 'week' })
    expect(weeks.meta).toMatchObject({ startDate: '2025-01-06', endDate: '2025-01-19' })
    expect(datesOf(weeks)).toEqual(['2025-01-06', '2025-01-13'])
    // Its tokens of a date are 50000 and the days since the first date.
    const tokens = String(7 * 50_000 + 5 + 6 + 7 + 8 + 9 + 10 + 11)
    expect(weeks.data[0]).toEqual({ date: '2025-01-06', modelPermaslug: 'vendor/model-0', totalTokens: tokens })
    const months = await reader.datasets.getRankingsDaily({ ...dates, period: 'month' })
    expect(datesOf(months)).toEqual(['2025-01-01'])
    const days = await reader.datasets.getRankingsDaily({ ...dates, period: 'day' })
    expect(days).toEqual(await reader.datasets.getRankingsDaily(dates))
  })

  describe('gets its typed error for', () => {
    test('400, 401, 403 and 404', async () => {
      const { reader, stranger, anonymous } = await start(sdk)
      const malformed = [
        reader.presets.getVersion({ slug: 'agent', version: 'latest' }),
        reader.embeddings.listModels({ limit: 1001 }),
        reader.datasets.getRankingsDaily({ endDate: '2024-12-31' }),
      ]
      for (const error of await Promise.all(malformed.map(caught))) {
        expect(error).toBeInstanceOf(errors.BadRequestResponseError)
        expect(error).toMatchObject({ statusCode: 400, error: { code: 400 }, userId: 'user_ada' })
      }
      // An unknown key, and none.
      for (const client of [stranger, anonymous]) {
        const calls = [
          client.apiKeys.getCurrentKeyMetadata(),
          client.presets.getVersion({ slug: 'agent', version: '1' }),
          client.datasets.getRankingsDaily(),
        ]
        for (const error of await Promise.all(calls.map(caught))) {
          expect(error).toBeInstanceOf(errors.UnauthorizedResponseError)
          expect(error).toMatchObject({ statusCode: 401, error: { code: 401 } })
        }
      }
      const request = { slug: 'agent', messagesRequest: { model: 'acme/one', messages: [] } }
      const forbidden = await caught(reader.presets.createPresetsMessages(request))
      expect(forbidden).toBeInstanceOf(errors.ForbiddenResponseError)
      const onlyManagement = 'Only management keys can perform this operation'
      expect(forbidden).toMatchObject({ error: { code: 403, message: onlyManagement } })
      const missing = await caught(reader.presets.getVersion({ slug: 'agent', version: '7' }))
      expect(missing).toBeInstanceOf(errors.NotFoundResponseError)
      expect(missing).toMatchObject({ error: { code: 404, message: 'Resource not found' } })
    })

    test('429: too many requests, with the time to wait', async () => {
      const { reader } = await start(sdk, { RATE_LIMIT_PER_MINUTE: '1' })
      await reader.datasets.getRankingsDaily()
      const error = await caught(reader.datasets.getRankingsDaily())
      expect(error).toBeInstanceOf(errors.TooManyRequestsResponseError)
      expect(error).toMatchObject({ error: { code: 429, message: 'Rate limit exceeded' } })
      const { headers } = error as errorsModule.TooManyRequestsResponseError
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    })
  })
}

/** A request with every key that both versions of the SDK know, in the words of the SDK. */
const FULL_REQUEST: MessagesRequest = {
  model: 'acme/one',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Which day is it?', cacheControl: { type: 'ephemeral' } }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'clock', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', toolUseId: 'call_1', content: 'Friday' }] },
    { role: 'assistant', content: 'Friday.' },
  ],
  maxTokens: 4096,
  system: [
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be kind.' },
  ],
  temperature: 0.2,
  topP: 0.9,
  topK: 40,
  stopSequences: ['END'],
  stream: true,
  metadata: { userId: 'someone' },
  user: 'someone',
  sessionId: 'session-1',
  serviceTier: 'auto',
  speed: 'fast',
  cacheControl: { type: 'ephemeral', ttl: '1h' },
  fallbacks: [{ model: 'acme/two' }, { model: 'acme/three' }],
  contextManagement: {
    edits: [
      { type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 }, clearToolInputs: true },
      { type: 'clear_thinking_20251015', keep: 'all' },
      { type: 'compact_20260112', pauseAfterCompaction: false, trigger: { type: 'input_tokens', value: 100_000 } },
    ],
  },
  outputConfig: { effort: 'high', taskBudget: { type: 'tokens', total: 20_000, remaining: 0 } },
  thinking: { type: 'enabled', budgetTokens: 1024, display: 'omitted' },
  toolChoice: { type: 'auto', disableParallelToolUse: true },
  tools: [
    { type: 'custom', name: 'clock', inputSchema: { type: 'object', properties: {}, required: [] } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250124', name: 'str_replace_editor' },
    { type: 'web_search_20250305', name: 'web_search', maxUses: 3, allowedDomains: ['example.org'] },
    { type: 'openrouter:datetime', parameters: { timezone: 'UTC' } },
  ],
  plugins: [
    { id: 'auto-router', allowedModels: ['acme/*'], costTier: 'low' },
    { id: 'web', maxResults: 3, engine: 'exa' },
    { id: 'response-healing', enabled: false },
    { id: 'file-parser', pdf: { engine: 'native' } },
    { id: 'pareto-router', minCodingScore: 0.66 },
    { id: 'moderation' },
  ],
  provider: { order: ['acme'], allowFallbacks: false, sort: 'price', maxPrice: { prompt: '1' } },
  stopServerToolsWhen: [{ type: 'step_count_is', stepCount: 5 }],
  trace: { traceId: 'trace-1' },
}

/** What belongs to one request. */
const NOT_STORED = ['messages', 'system', 'stream', 'metadata', 'user', 'sessionId', 'trace']

/** What a preset keeps of it, in the words of the API. */
const FULL_CONFIG = inWordsOfTheApi(
  Object.fromEntries(Object.entries(FULL_REQUEST).filter(([key]) => !NOT_STORED.includes(key))),
)

function inWordsOfTheApi(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inWordsOfTheApi)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [inSnakeCase(key), inWordsOfTheApi(part)]))
}
