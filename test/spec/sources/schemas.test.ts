/** What each named schema means by its columns (DESIGN.md §6.1, §6.7, §6.12): its rules, each with its negative. */
import { describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../../pipeline/build.ts'
import { buildIn, newWorkspace, writeInput } from '../../support/pipeline.ts'
import { buildLog, buildLogs } from '../../support/schemas.ts'

type Fields = Record<string, unknown>

type Summary = Pick<BuildSummary, 'records'>

/** What a build makes of these NDJSON records of one public source. */
async function read(schema: string, records: Fields[]): Promise<{ rows: string[]; summary: Summary }> {
  const built = await buildLog(schema, records)
  expectNothingInSilence(built)
  return { rows: built.rows, summary: built }
}

async function rows(schema: string, records: Fields[]): Promise<string[]> {
  return (await read(schema, records)).rows
}

/** Every record that was read is in exactly one account. */
function expectNothingInSilence({ records }: Summary): void {
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
function leftOut({ records }: Summary): unknown {
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

  it('counts a cancelled stream with the tokens it had, and a repeated generation once', async () => {
    const repeated = { generation_id: 'gen-2', model_permaslug: 'acme/repeated' }
    expect(await of({ cancelled: 'true', tokens_completion: '3' }, repeated, repeated)).toEqual([
      '2025-03-02 acme/repeated 15',
      '2025-03-02 acme/one 13',
    ])
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

  /** A call for each way to write whether it was a hit of the cache, of a model that is called so. */
  const written = (hits: unknown[]) =>
    hits.map((hit) => ({
      request_id: JSON.stringify(hit),
      model: `hit: ${JSON.stringify(hit).replaceAll('"', "'")}`,
      cache_hit: hit,
    }))

  it('leaves a hit of the cache out, however it is written, and says so', async () => {
    const { rows: published, summary } = await of({}, ...written(['True', 'true', true]))
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(3)
    expect(summary.records.rejected).toEqual({})
  })

  it('counts what is no hit, however that is written', async () => {
    const { rows: published, summary } = await of(...written(['False', 'false', '', 'None', null, false]))
    expect(published).toEqual([
      "2025-03-02 hit: '' 15",
      "2025-03-02 hit: 'False' 15",
      "2025-03-02 hit: 'None' 15",
      "2025-03-02 hit: 'false' 15",
      '2025-03-02 hit: false 15',
      '2025-03-02 hit: null 15',
    ])
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
    const turnedRound = [later, {}].map((row) => ({ ...row, model: 'acme/turned-round' }))
    expect(await of({}, later, ...turnedRound)).toEqual(['2025-03-02 acme/one 105', '2025-03-02 acme/turned-round 105'])
  })

  it('takes rows for other rows that differ in one column', async () => {
    const columns = ['api_key', 'custom_llm_provider', 'endpoint', 'mcp_namespaced_tool_name', 'user_id']
    const published = await of(
      ...columns.flatMap((column) => ['a', 'b'].map((value) => ({ model: column, [column]: value }))),
    )
    expect(published).toEqual(columns.map((column) => `2025-03-02 ${column} 30`))
  })

  it('is not misled by separators in a value', async () => {
    const separators = [',', '|', ':', '/', ' ', '\u001f', '"', "'", '\\']
    const models = separators.map((separator) => `separator U+00${separator.charCodeAt(0).toString(16)}`)
    const published = await of(
      ...separators.flatMap((separator, index) => [
        { model: models[index], user_id: `a${separator}b`, api_key: 'c' },
        { model: models[index], user_id: 'a', api_key: `b${separator}c` },
      ]),
    )
    expect(published).toEqual(models.toSorted().map((model) => `2025-03-02 ${model} 30`))
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
    const ofNine = { updated_at: '2025-03-05T09:00:00.000+09:00', prompt_tokens: 100 }
    const ofOne = { updated_at: '2025-03-05T01:00:00.000Z', prompt_tokens: 1 }
    const copies: Record<string, Fields[]> = {
      'the last': [{}, updated],
      'the last in the other order': [updated, {}],
      'times and not texts': [ofNine, ofOne],
      'no time is the oldest': [{ updated_at: null, prompt_tokens: 100 }, {}],
      'the greatest of one time': [{}, { prompt_tokens: 11 }],
    }
    const { rows: published } = await of(
      ...Object.entries(copies).flatMap(([name, ofRequest]) =>
        ofRequest.map((copy) => ({ ...copy, request_id: name, model: name })),
      ),
    )
    expect(published).toEqual([
      '2025-03-02 the greatest of one time 16',
      '2025-03-02 no time is the oldest 15',
      '2025-03-02 the last 6',
      '2025-03-02 the last in the other order 6',
      '2025-03-02 times and not texts 6',
    ])
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

  it('sums the exclusive parts of any name and does not add their total, which counts where it is alone', async () => {
    const { rows: published, summary } = await of(
      {},
      {
        id: 'obs-2',
        provided_model_name: 'acme/parts-of-any-name',
        usage_details: { input: 1, input_audio_tokens: 2, cache_creation_input_tokens: 4, output: 8, output_audio: 16 },
      },
      { id: 'obs-3', provided_model_name: 'acme/total-alone', usage_details: { total: 7 } },
      { id: 'obs-4', provided_model_name: 'acme/nothing', usage_details: {} },
      { id: 'obs-5', provided_model_name: 'acme/null', usage_details: null },
      { id: 'obs-6', provided_model_name: 'acme/embedding', type: 'EMBEDDING' },
    )
    expect(published).toEqual([
      '2025-03-02 acme/parts-of-any-name 31',
      '2025-03-02 acme/embedding 15',
      '2025-03-02 acme/one 15',
      '2025-03-02 acme/total-alone 7',
    ])
    expect(summary.records.rejected).toEqual({})
  })

  it('leaves out what is no call of a model, whatever usage it repeats, and does not reject it', async () => {
    const types = ['SPAN', 'EVENT', 'AGENT', 'TOOL', 'CHAIN']
    const { rows: published, summary } = await of(
      {},
      ...types.map((type) => ({ id: type, type, provided_model_name: type })),
      { id: 'obs-2', type: 'SPAN', provided_model_name: null, usage_details: {} },
    )
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({})
    expect(leftOut(summary)).toBe(types.length + 1)
  })

  it('rejects a record of which a part is no count', async () => {
    const parts = [-1, 1.5, 'many', true]
    const { rows: published, summary } = await of(
      {},
      ...parts.map((input) => ({
        id: `part ${input}`,
        provided_model_name: `part ${input}`,
        usage_details: { input, output: 1 },
      })),
    )
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({ invalid_token_count: parts.length })
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

  /** A request for each status of the cache, of a model that is called so. */
  const withStatus = (statuses: (string | null)[]) =>
    statuses.map((cache_status) => ({ id: `${cache_status}`, ai_model: `${cache_status}`, cache_status }))

  it('leaves out what the cache answered', async () => {
    const { rows: published, summary } = await of({}, ...withStatus(['HIT', 'SEMANTIC HIT']))
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(2)
  })

  it('counts what it did not', async () => {
    const statuses = ['DISABLED', 'MISS', 'REFRESH', 'SEMANTIC MISS', null]
    const { rows: published } = await of(...withStatus(statuses))
    expect(published).toEqual(statuses.map((status) => `2025-03-02 ${status} 15`))
  })
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

  it('reads what a span may say in another way', async () => {
    const { 'gen_ai.response.model': _, ...withoutAnswer } = usage
    const older = {
      'gen_ai.request.model': 'acme/older-names',
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 5,
    }
    const listed = Object.entries({ ...usage, 'gen_ai.response.model': 'acme/listed-as-by-otlp' }).map(
      ([key, value]) => ({
        key,
        value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
      }),
    )
    const numbered = { ...usage, 'gen_ai.response.model': 'acme/time-as-a-number' }
    const { rows: published } = await of(
      { ...another(2), attributes: withoutAnswer },
      { ...another(3), attributes: older },
      { ...another(4), attributes: listed },
      { ...another(5), attributes: numbered, startTimeUnixNano: 1_740_916_800_000_000_000 },
    )
    expect(published).toEqual([
      '2025-03-02 acme/asked 15',
      '2025-03-02 acme/listed-as-by-otlp 15',
      '2025-03-02 acme/older-names 15',
      '2025-03-02 acme/time-as-a-number 15',
    ])
  })

  it('cuts nanoseconds off and never rounds into the next day', async () => {
    const { rows: published } = await of(
      { startTimeUnixNano: '1740959999999999999' },
      { ...another(2), startTimeUnixNano: '1740960000000000000' },
    )
    expect(published).toEqual(['2025-03-02 acme/one 15', '2025-03-03 acme/one 15'])
  })

  it('leaves out a span of an agent or a tool, which repeats its children', async () => {
    const names = ['invoke_agent', 'create_agent', 'execute_tool']
    const parents = names.map((name, index) => ({
      ...another(index + 2),
      attributes: { ...usage, 'gen_ai.operation.name': name, 'gen_ai.response.model': name },
    }))
    const { rows: published, summary } = await of({}, ...parents)
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(leftOut(summary)).toBe(names.length)
  })

  it('leaves a span out that is not about a model, without rejecting it', async () => {
    const { rows: published, summary } = await of({}, { ...another(2), attributes: { 'http.request.method': 'POST' } })
    expect(published).toEqual(['2025-03-02 acme/one 15'])
    expect(summary.records.rejected).toEqual({})
    expect(leftOut(summary)).toBe(1)
  })

  it('tells requests by trace and span together, and is not misled by ids that are the same when put together', async () => {
    const alike = { ...usage, 'gen_ai.response.model': 'acme/alike' }
    const spans = [
      ...[{}, {}, another(2), { traceId: '00000000000000000000000000000001' }],
      { traceId: 'ab', spanId: 'c', attributes: alike },
      { traceId: 'a', spanId: 'bc', attributes: alike },
    ]
    expect((await of(...spans)).rows).toEqual(['2025-03-02 acme/one 45', '2025-03-02 acme/alike 30'])
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

  /** Builds one source for each schema with these lines made of its record, whose model is called as the schema. */
  async function buildEach(linesOf: (record: string) => string[]) {
    const logs = SCHEMAS.map(([schema, record]) => {
      const lines = linesOf(JSON.stringify(record).replace('"a"', JSON.stringify(schema)))
      return { schema, log: lines.map((line) => `${line}\n`).join('') }
    })
    const built = await buildLogs(logs)
    expectNothingInSilence(built)
    return built
  }

  const names = SCHEMAS.map(([schema]) => schema).toSorted()

  it('keeps account of lines that are no record', async () => {
    const built = await buildEach((record) => [record, '[1]', '"text"', '7', 'null', '{"broken', record])
    expect(built.rows).toEqual(names.map((schema) => `2025-03-02 ${schema} 2`))
    expect(built.setAside).toEqual(names.map(() => ({ duplicate: 1, malformed_record: 5 })))
    expect(built.records).toMatchObject({ read: 7 * names.length, published: names.length, duplicates: names.length })
  })

  it('takes the same id of another UTC date for another request', async () => {
    const { rows: published } = await buildEach((record) => {
      const next = record.replace('2025-03-02', '2025-03-03').replace('1740916800', '1741003200')
      expect(next).not.toBe(record)
      return [record, next, next]
    })
    expect(published).toEqual(
      ['2025-03-02', '2025-03-03'].flatMap((date) => names.map((schema) => `${date} ${schema} 2`)),
    )
  })

  it('is named where a name is misspelt', async () => {
    const workspace = await newWorkspace()
    const source = { name: 'wild', schema: 'helicone-request', files: ['a.ndjson'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await expect(buildIn(workspace)).rejects.toThrow(/helicone-requests/)
  })
})
