/** What each named schema means by its columns (DESIGN.md §6.1, §6.7, §6.12): one test for each rule, and its negative. */
import { describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../../pipeline/build.ts'
import { buildIn, newWorkspace, publishedCsv, rowsOf, writeInput } from '../../support/pipeline.ts'

type Fields = Record<string, unknown>

/** What a build makes of these NDJSON records of one public source, beside one that can always be published. */
async function read(
  schema: string,
  records: Fields[],
  settings: Fields = {},
): Promise<{ rows: string[]; summary: BuildSummary }> {
  const workspace = await newWorkspace()
  const source = { name: 'wild', schema, files: ['wild.ndjson'], visibility: 'public', ...settings }
  const beside = { name: 'beside', schema: 'canonical', files: ['beside.csv'], visibility: 'public' }
  await writeInput(workspace, 'wild.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  await writeInput(
    workspace,
    'beside.csv',
    'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-01-01T00:00:00Z,beside,1,0\n',
  )
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source, beside] })
  const summary = await buildIn(workspace)
  expectNothingInSilence(summary)
  const rows = rowsOf(await publishedCsv(workspace)).filter((row) => row !== '2025-01-01 beside 1')
  return { rows, summary }
}

async function rows(schema: string, records: Fields[], settings: Fields = {}): Promise<string[]> {
  return (await read(schema, records, settings)).rows
}

/** Every record that was read is in exactly one account. */
function expectNothingInSilence({ records }: BuildSummary): void {
  const { read: all, rejected, withheld, ...others } = records
  const counts: unknown[] = [
    ...Object.values(others),
    ...Object.values(rejected),
    ...withheld.map((model) => model.records),
  ]
  const numbers = counts.filter((count) => typeof count === 'number')
  expect(numbers.reduce((sum, count) => sum + count, 0)).toBe(all)
}

/** How many records were left out because their schema says that no provider served them. */
function leftOut({ records }: BuildSummary): unknown {
  return Object.entries(records).find(([name]) => name.startsWith('left'))?.[1]
}

describe('openrouter-activity', () => {
  const one = {
    generation_id: 'gen-1',
    created_at: '2025-03-02 12:00:00.000',
    tokens_prompt: '10',
    tokens_completion: '5',
    tokens_reasoning: '4',
    tokens_cached: '8',
    model_permaslug: 'acme/one',
    variant: 'standard',
    cancelled: 'false',
  }
  const of = (...records: Fields[]) =>
    rows(
      'openrouter-activity',
      records.map((record) => ({ ...one, ...record })),
    )

  it('adds prompt and completion, and neither cached nor reasoning tokens', async () => {
    expect(await of({})).toEqual(['2025-03-02 acme/one 15'])
  })

  it('counts a cancelled stream with the tokens it had', async () => {
    expect(await of({ cancelled: 'true', tokens_completion: '3' })).toEqual(['2025-03-02 acme/one 13'])
  })

  it('makes a variant a model of its own, written once', async () => {
    expect(
      await of(
        { generation_id: 'a', variant: 'free', tokens_prompt: '1' },
        { generation_id: 'b', variant: 'free', model_permaslug: 'acme/one:free', tokens_prompt: '1' },
        { generation_id: 'c', variant: '' },
        { generation_id: 'd', variant: 'standard' },
      ),
    ).toEqual(['2025-03-02 acme/one 30', '2025-03-02 acme/one:free 12'])
  })

  it('takes a repeated generation once', async () => {
    expect(await of({}, {})).toEqual(['2025-03-02 acme/one 15'])
  })

  it('reads times without a zone as UTC, to either side of midnight', async () => {
    expect(
      await of(
        { generation_id: 'a', created_at: '2025-03-02 23:59:59.999' },
        { generation_id: 'b', created_at: '2025-03-03 00:00:00.000' },
      ),
    ).toEqual(['2025-03-02 acme/one 15', '2025-03-03 acme/one 15'])
  })
})

describe('openrouter-generation', () => {
  const data = {
    id: 'gen-1',
    created_at: '2025-03-03T01:00:00.000+02:00',
    model: 'acme/one',
    tokens_prompt: 10,
    tokens_completion: 5,
    native_tokens_prompt: 1000,
    native_tokens_completion: 1000,
    native_tokens_reasoning: 3,
    cancelled: true,
  }

  it('reads what stands below `data`, with offsets, and counts no native tokens', async () => {
    expect(await rows('openrouter-generation', [{ data }])).toEqual(['2025-03-02 acme/one 15'])
  })

  it('reads the object itself where there is no `data`, as one request with its copy', async () => {
    expect(await rows('openrouter-generation', [data, { data }])).toEqual(['2025-03-02 acme/one 15'])
  })

  it('takes null tokens for none', async () => {
    expect(
      await rows('openrouter-generation', [
        { data },
        { data: { ...data, id: 'gen-2', tokens_prompt: null, tokens_completion: null } },
      ]),
    ).toEqual(['2025-03-02 acme/one 15'])
  })
})

describe('litellm-spend-logs', () => {
  const one = {
    request_id: 'r1',
    startTime: '2025-03-02 12:00:00.000',
    model: 'acme/one',
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    cache_hit: 'False',
    api_key: 'hash',
    spend: 0.1,
    status: 'success',
  }
  const of = (...records: Fields[]) =>
    read(
      'litellm-spend-logs',
      records.map((record) => ({ ...one, ...record })),
    )

  it.each(['True', 'true', true])('leaves a hit of the cache out, written %j, and says so', async (hit) => {
    const { rows: published, summary } = await of({}, { request_id: 'r2', cache_hit: hit })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(1)
    expect(summary.records.rejected).toEqual({})
  })

  it.each(['False', 'false', '', 'None', null, false])('counts what is no hit, written %j', async (hit) => {
    const { rows: published, summary } = await of({}, { request_id: 'r2', cache_hit: hit })
    expect(published).toEqual(['2025-03-02 acme/one 30'])
    expect(leftOut(summary)).toBe(0)
  })

  it('counts a failed call with the tokens it had', async () => {
    const { rows: published } = await of({ status: 'failure', completion_tokens: 0 })
    expect(published).toEqual(['2025-03-02 acme/one 10'])
  })
})

describe('litellm-daily-user-spend', () => {
  const one = {
    id: '00000000-0000-4000-8000-000000000000',
    user_id: 'u',
    date: '2025-03-02',
    api_key: 'k',
    model: 'acme/one',
    model_group: 'acme/one',
    custom_llm_provider: 'acme',
    prompt_tokens: 10,
    completion_tokens: 5,
    cache_read_input_tokens: 9,
    spend: 0.1,
  }
  const of = (...records: Fields[]) =>
    rows(
      'litellm-daily-user-spend',
      records.map((record) => ({ ...one, ...record })),
    )

  it('takes of a row that was exported twice the greater counts, in either order', async () => {
    const later = { prompt_tokens: 100, id: '00000000-0000-4000-8000-000000000009' }
    expect(await of({}, later)).toEqual(['2025-03-02 acme/one 105'])
    expect(await of(later, {})).toEqual(['2025-03-02 acme/one 105'])
  })

  it.each(['user_id', 'api_key', 'custom_llm_provider', 'mcp_namespaced_tool_name', 'endpoint'])(
    'takes rows of another %s for other rows',
    async (column) => {
      expect(await of({ [column]: 'a' }, { [column]: 'b' })).toEqual(['2025-03-02 acme/one 30'])
    },
  )

  it('is not misled by separators in a value', async () => {
    for (const separator of [',', '|', ':', '/', ' ', '\u001f', '"', "'", '\\']) {
      const left = { user_id: `a${separator}b`, api_key: 'c' }
      const right = { user_id: 'a', api_key: `b${separator}c` }
      expect(await of(left, right), JSON.stringify(separator)).toEqual(['2025-03-02 acme/one 30'])
    }
  })

  it('keeps the models and the dates of a user apart', async () => {
    expect(await of({}, { model: 'acme/two' }, { date: '2025-03-03' })).toEqual([
      '2025-03-02 acme/one 15',
      '2025-03-02 acme/two 15',
      '2025-03-03 acme/one 15',
    ])
  })
})

describe('helicone-requests', () => {
  const one = {
    request_id: '00000000-0000-4000-8000-000000000001',
    request_created_at: '2025-03-02T12:00:00.000Z',
    model: 'acme/one',
    status: 200,
    prompt_tokens: 10,
    completion_tokens: 5,
    updated_at: '2025-03-02T12:00:00.000Z',
  }
  const other = { request_id: '00000000-0000-4000-8000-000000000002' }
  const of = (...records: Fields[]) =>
    read(
      'helicone-requests',
      records.map((record) => ({ ...one, ...record })),
    )

  it('takes of copies the one that was updated last, before any other rule', async () => {
    const updated = {
      updated_at: '2025-03-05T00:00:00.000Z',
      prompt_tokens: 1,
      request_created_at: '2025-03-02T11:00:00.000Z',
    }
    for (const copies of [
      [{}, updated],
      [updated, {}],
    ])
      expect((await of(...copies)).rows).toEqual(['2025-03-02 acme/one 6'])
  })

  it('compares the times of updates as times, not as texts', async () => {
    const earlier = { updated_at: '2025-03-05T09:00:00.000+09:00', prompt_tokens: 100 }
    const later = { updated_at: '2025-03-05T01:00:00.000Z', prompt_tokens: 1 }
    expect((await of(earlier, later)).rows).toEqual(['2025-03-02 acme/one 6'])
  })

  it('takes a copy without a time of update for the oldest', async () => {
    expect((await of({ updated_at: null, prompt_tokens: 100 }, {})).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it('goes by the other rules where the updates are of one time', async () => {
    expect((await of({}, { prompt_tokens: 11 })).rows).toEqual(['2025-03-02 acme/one 16'])
  })

  it('takes the null tokens of a failed call for none', async () => {
    const { rows: published, summary } = await of(
      {},
      { ...other, status: 500, prompt_tokens: null, completion_tokens: null },
    )
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({})
  })

  it('counts a cancelled stream with the tokens it had', async () => {
    expect((await of({ status: -3, completion_tokens: 2 })).rows).toEqual(['2025-03-02 acme/one 12'])
  })

  it('leaves out what the cache answered: a request that refers to the one it repeats', async () => {
    const hit = { ...other, cache_reference_id: one.request_id }
    const { rows: published, summary } = await of({}, hit)
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(1)
  })

  it('counts a request that refers to no other: the reference is of zeros, null or absent', async () => {
    const zeros = { ...other, cache_reference_id: '00000000-0000-0000-0000-000000000000' }
    expect((await of({ cache_reference_id: null }, zeros)).rows).toEqual(['2025-03-02 acme/one 30'])
  })
})

describe('langfuse-observations', () => {
  const one = {
    id: 'obs-1',
    type: 'GENERATION',
    start_time: '2025-03-02 12:00:00.000000',
    provided_model_name: 'acme/one',
    usage_details: { input: 6, input_cached_tokens: 4, output: 3, output_reasoning_tokens: 2, total: 15 },
  }
  const of = (...records: Fields[]) =>
    read(
      'langfuse-observations',
      records.map((record) => ({ ...one, ...record })),
    )

  it('sums the exclusive parts and does not add their total', async () => {
    expect((await of({})).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it('sums parts of any name', async () => {
    const usage_details = {
      input: 1,
      input_audio_tokens: 2,
      cache_creation_input_tokens: 4,
      output: 8,
      output_audio: 16,
    }
    expect((await of({ usage_details })).rows).toEqual(['2025-03-02 acme/one 31'])
  })

  it('takes the total where there are no parts, and nothing where there is nothing', async () => {
    const { rows: published, summary } = await of(
      { usage_details: { total: 7 } },
      { id: 'obs-2', usage_details: {} },
      { id: 'obs-3', usage_details: null },
    )
    expect(published).toEqual(['2025-03-02 acme/one 7'])
    expect(summary.records.rejected).toEqual({})
  })

  it.each(['SPAN', 'EVENT', 'AGENT', 'TOOL', 'CHAIN'])('leaves a %s out, whatever usage it repeats', async (type) => {
    const { rows: published, summary } = await of({}, { id: 'obs-2', type })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(1)
  })

  it('leaves a span out that has no model and no usage, without rejecting it', async () => {
    const { summary } = await of({}, { id: 'obs-2', type: 'SPAN', provided_model_name: null, usage_details: {} })
    expect(summary.records.rejected).toEqual({})
  })

  it('counts an embedding', async () => {
    expect((await of({ type: 'EMBEDDING' })).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it.each([-1, 1.5, 'many', true])('rejects a record whose part is %j', async (input) => {
    const { rows: published, summary } = await of({}, { id: 'obs-2', usage_details: { input, output: 1 } })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({ invalid_token_count: 1 })
  })
})

describe('portkey-logs', () => {
  const one = {
    id: 'pk-1',
    created_at: '2025-03-02T12:00:00.000Z',
    ai_model: 'acme/one',
    req_units: 10,
    res_units: 5,
    total_units: 15,
    response_status_code: 200,
  }
  const of = (...records: Fields[]) =>
    read(
      'portkey-logs',
      records.map((record) => ({ ...one, ...record })),
    )

  it('adds the units of request and response', async () => {
    expect((await of({})).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it.each(['HIT', 'SEMANTIC HIT'])('leaves out what the cache answered: %s', async (cache_status) => {
    const { rows: published, summary } = await of({}, { id: 'pk-2', cache_status })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(1)
  })

  it.each(['MISS', 'SEMANTIC MISS', 'DISABLED', 'REFRESH', null])(
    'counts what it did not: %j',
    async (cache_status) => {
      expect((await of({}, { id: 'pk-2', cache_status })).rows).toEqual(['2025-03-02 acme/one 30'])
    },
  )
})

describe('otel-genai-spans', () => {
  const span = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    startTimeUnixNano: '1740916800000000000',
  }
  const usage = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'acme/asked',
    'gen_ai.response.model': 'acme/one',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.cache_read.input_tokens': 9,
  }
  const another = (number: number) => ({ spanId: `b7ad6b716920333${number}` })
  const of = (...records: Fields[]) =>
    read(
      'otel-genai-spans',
      records.map((record) => ({ ...span, attributes: usage, ...record })),
    )

  it('adds input and output, has the cache inside, and prefers the model that answered', async () => {
    expect((await of({})).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it('takes the model that was asked for where none answered', async () => {
    const { 'gen_ai.response.model': _, ...attributes } = usage
    expect((await of({ attributes })).rows).toEqual(['2025-03-02 acme/asked 15'])
  })

  it('reads the older names of the counts', async () => {
    const attributes = {
      'gen_ai.request.model': 'acme/one',
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 5,
    }
    expect((await of({ attributes })).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it('reads attributes as the list that OTLP writes', async () => {
    const attributes = Object.entries(usage).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    }))
    expect((await of({ attributes })).rows).toEqual(['2025-03-02 acme/one 15'])
  })

  it('cuts nanoseconds off and never rounds into the next day', async () => {
    expect((await of({ startTimeUnixNano: '1740959999999999999' })).rows).toEqual(['2025-03-02 acme/one 15'])
    expect((await of({ startTimeUnixNano: '1740960000000000000' })).rows).toEqual(['2025-03-03 acme/one 15'])
  })

  it('reads the time as a number too', async () => {
    const { rows: published } = await of({ startTimeUnixNano: 1_740_916_800_000_000_000 })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
  })

  it.each(['invoke_agent', 'create_agent', 'execute_tool'])(
    'leaves a span of %s out, which repeats its children',
    async (name) => {
      const parent = { ...another(2), attributes: { ...usage, 'gen_ai.operation.name': name } }
      const { rows: published, summary } = await of({}, parent)
      expect(published).toEqual(['2025-03-02 acme/one 15'])
      expect(leftOut(summary)).toBe(1)
    },
  )

  it('leaves a span out that is not about a model, without rejecting it', async () => {
    const { rows: published, summary } = await of({}, { ...another(2), attributes: { 'http.request.method': 'POST' } })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({})
    expect(leftOut(summary)).toBe(1)
  })

  it('tells requests by trace and span together', async () => {
    const copies = [{}, {}, another(2), { traceId: '00000000000000000000000000000001' }]
    expect((await of(...copies)).rows).toEqual(['2025-03-02 acme/one 45'])
  })

  it('is not misled by ids that are the same when put together', async () => {
    expect((await of({ traceId: 'ab', spanId: 'c' }, { traceId: 'a', spanId: 'bc' })).rows).toEqual([
      '2025-03-02 acme/one 30',
    ])
  })
})

describe('cloudflare-ai-gateway-logs', () => {
  const one = {
    id: '01JW1',
    created_at: '2025-03-02T12:00:00.000Z',
    model: 'acme/one',
    tokens_in: 10,
    tokens_out: 5,
    cached: false,
    success: true,
    status_code: 200,
  }
  const of = (...records: Fields[]) =>
    read(
      'cloudflare-ai-gateway-logs',
      records.map((record) => ({ ...one, ...record })),
    )

  it('leaves out what the cache answered', async () => {
    const { rows: published, summary } = await of({}, { id: '01JW2', cached: true })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(1)
  })

  it('counts a failed call with the tokens it had', async () => {
    expect((await of({ success: false, status_code: 500 })).rows).toEqual(['2025-03-02 acme/one 15'])
  })
})

describe('every named schema', () => {
  const SCHEMAS: [schema: string, record: Fields][] = [
    [
      'openrouter-generation',
      { data: { id: 'x', created_at: '2025-03-02T12:00:00Z', model: 'a', tokens_prompt: 1, tokens_completion: 1 } },
    ],
    [
      'litellm-spend-logs',
      { request_id: 'x', startTime: '2025-03-02 12:00:00', model: 'a', prompt_tokens: 1, completion_tokens: 1 },
    ],
    [
      'helicone-requests',
      {
        request_id: 'x',
        request_created_at: '2025-03-02T12:00:00Z',
        model: 'a',
        prompt_tokens: 1,
        completion_tokens: 1,
      },
    ],
    [
      'langfuse-observations',
      {
        id: 'x',
        type: 'GENERATION',
        start_time: '2025-03-02 12:00:00',
        provided_model_name: 'a',
        usage_details: { input: 1, output: 1 },
      },
    ],
    ['portkey-logs', { id: 'x', created_at: '2025-03-02T12:00:00Z', ai_model: 'a', req_units: 1, res_units: 1 }],
    [
      'otel-genai-spans',
      {
        traceId: 'x',
        spanId: 'y',
        startTimeUnixNano: '1740916800000000000',
        attributes: { 'gen_ai.request.model': 'a', 'gen_ai.usage.input_tokens': 1, 'gen_ai.usage.output_tokens': 1 },
      },
    ],
    [
      'cloudflare-ai-gateway-logs',
      { id: 'x', created_at: '2025-03-02T12:00:00Z', model: 'a', tokens_in: 1, tokens_out: 1 },
    ],
  ]

  it.each(SCHEMAS)('%s keeps account of lines that are no record', async (schema, record) => {
    const workspace = await newWorkspace()
    const lines = [JSON.stringify(record), '[1]', '"text"', '7', 'null', '{"broken', JSON.stringify(record)]
    await writeInput(workspace, 'wild.ndjson', lines.map((line) => `${line}\n`).join(''))
    await writeInput(workspace, 'sources.json', {
      max_rejected_share: 1,
      sources: [{ name: 'wild', schema, files: ['wild.ndjson'], visibility: 'public' }],
    })
    const summary = await buildIn(workspace)
    expectNothingInSilence(summary)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-02 a 2'])
    expect(summary.records).toMatchObject({ read: 7, published: 1, duplicates: 1 })
  })

  it.each(SCHEMAS)('%s takes the same id of another UTC date for another request', async (schema, record) => {
    const text = JSON.stringify(record)
    const next = text.replace('2025-03-02', '2025-03-03').replace('1740916800', '1741003200')
    expect(next).not.toBe(text)
    const published = await rows(schema, [JSON.parse(text), JSON.parse(next), JSON.parse(next)])
    expect(published).toEqual(['2025-03-02 a 2', '2025-03-03 a 2'])
  })

  it('is named where a name is misspelt', async () => {
    const workspace = await newWorkspace()
    const source = { name: 'wild', schema: 'helicone-request', files: ['a.ndjson'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await expect(buildIn(workspace)).rejects.toThrow(/helicone-requests/)
  })
})
