/** What the records of each schema mean (docs/sources.md): what is left out, how ids, times and models are put together. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../../pipeline/base/errors.ts'
import { buildIn, newWorkspace, publishedCsv, releaseFolder, rowsOf, writeInput } from '../../support/pipeline.ts'
import { query, sqlText } from '../../support/records.ts'
import {
  type Built,
  buildLog,
  buildLogs,
  FORMS,
  having,
  type LogRecord,
  named,
  RECORDS,
  type SchemaName,
  toCsv,
} from '../../support/schemas.ts'

const KEY_HASH = 'a'.repeat(64)

/** A record with other fields, nested ones by `|`. */
function changed(original: LogRecord, fields: LogRecord): LogRecord {
  return Object.entries(fields).reduce(
    (record: LogRecord, [path, value]) => having(record, path.split('|'), value),
    original,
  )
}

/** The record of a schema with other fields. */
function record(name: SchemaName, fields: LogRecord = {}): LogRecord {
  return changed(RECORDS[name], fields)
}

async function usageOf({ workspace }: Built): Promise<unknown[]> {
  const text = await readFile(join(workspace.dataDir, 'state/usage.ndjson'), 'utf8')
  const [, ...days] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return days.flatMap(({ usage }) => usage)
}

describe('records that are left out', () => {
  /** Others are in the corpus. */
  const LEFT_OUT: [SchemaName, string, LogRecord][] = [
    ['litellm-spend-logs', 'a cache hit as a flag', { cache_hit: true }],
    ['langfuse-observations', 'a span', { type: 'SPAN', provided_model_name: null, usage_details: {} }],
    ['langfuse-observations', 'an event with nonsense for usage', { type: 'EVENT', usage_details: 'none' }],
    ['otel-genai-spans', 'a span of something else', { attributes: { 'http.request.method': 'GET' } }],
    ['otel-genai-spans', 'a span without attributes', { attributes: {} }],
  ]

  it('are neither counted nor rejected', async () => {
    // Each beside a record of its own request that counts: it is no copy of that either.
    const logs = [...Map.groupBy(LEFT_OUT, ([schema]) => schema)].map(([schema, cases]) => ({
      schema,
      log: cases.flatMap(([, what, fields]) => {
        const counted = named(schema, `${schema}: ${what}`)
        return [counted, changed(counted, fields)]
      }),
    }))
    const { rows, records, setAside, rejects } = await buildLogs(logs)
    expect(rows).toEqual(LEFT_OUT.map(([schema, what]) => `2025-06-01 ${schema}: ${what} 10`).toSorted())
    expect(rejects.flat()).toEqual([])
    expect(setAside).toEqual(logs.map(({ log }) => ({ left_out: log.length / 2 })))
    const count = LEFT_OUT.length
    expect(records).toMatchObject({ read: 2 * count, published: count, left_out: count, rejected: {}, duplicates: 0 })
  })

  it('are counted by day in quality.json, and are not rejected', async () => {
    const { workspace } = await buildLog('cloudflare-ai-gateway-logs', [
      record('cloudflare-ai-gateway-logs'),
      record('cloudflare-ai-gateway-logs', { cached: true, tokens_in: 'x' }),
    ])
    const quality = JSON.parse(await readFile(join(await releaseFolder(workspace), 'quality.json'), 'utf8'))
    expect(quality.records).toMatchObject({ published: 1, left_out: 1, rejected: {} })
    expect(quality.days).toEqual([{ date: '2025-06-01', reason: 'left_out', records: 1 }])
    const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    expect(detail.set_aside).toMatchObject([{ source: 'log-0', reason: 'left_out', date: '2025-06-01', records: 1 }])
    expect(detail.rejected_in_files).toEqual([])
  })
})

describe('openrouter-activity', () => {
  it('makes the model of a slug and its variant', async () => {
    const cases = [
      ['free', 'a', 'a:free'],
      ['free', 'b:free', 'b:free'],
      ['beta', 'c:free', 'c:free:beta'],
      ['standard', 'd', 'd'],
      ['', 'e', 'e'],
      [null, 'f', 'f'],
    ]
    const log = cases.map(([variant, slug]) =>
      record('openrouter-activity', { generation_id: slug, variant, model_permaslug: slug }),
    )
    const { rows } = await buildLog('openrouter-activity', log)
    expect(rows).toEqual(cases.map(([, , model]) => `2025-06-01 ${model} 10`))
  })

  it('does not make a model of a variant alone', async () => {
    const log = [record('openrouter-activity'), record('openrouter-activity', { variant: 'free', model_permaslug: '' })]
    expect((await buildLog('openrouter-activity', log)).records.rejected).toEqual({ invalid_model: 1 })
  })

  it('takes a zone that is not written for UTC, and a declared one for what it says', async () => {
    const late = record('openrouter-activity', { created_at: '2025-05-31 23:59:59.900' })
    const settings = { timezone: 'America/New_York' }
    const { rows } = await buildLogs([
      { schema: 'openrouter-activity', log: [{ ...late, model_permaslug: 'without' }] },
      { schema: 'openrouter-activity', log: [{ ...late, model_permaslug: 'declared' }], settings },
    ])
    expect(rows).toEqual(['2025-05-31 without 10', '2025-06-01 declared 10'])
  })
})

describe('openrouter-generation', () => {
  it('is also what is in `data` alone, in every format', async () => {
    const { data } = RECORDS['openrouter-generation']
    const { rows } = await buildLogs(
      FORMS.map((form) => ({ schema: 'openrouter-generation', log: [{ ...data, model: form }], form })),
    )
    expect(rows).toEqual(FORMS.map((form) => `2025-06-01 ${form} 10`))
  })

  it('may have both in one file, and knows a generation again', async () => {
    const log = [record('openrouter-generation'), RECORDS['openrouter-generation'].data]
    expect((await buildLog('openrouter-generation', log)).records).toMatchObject({ published: 1, duplicates: 1 })
  })
})

describe('litellm-spend-logs', () => {
  /** As LiteLLM writes it to a bucket. */
  const PAYLOAD = {
    id: 'chatcmpl-1',
    call_type: 'acompletion',
    status: 'success',
    total_tokens: 10,
    prompt_tokens: 8,
    completion_tokens: 2,
    startTime: 1748779200.123,
    model: 'm',
    response_cost: 0.25,
    metadata: { user_api_key_hash: KEY_HASH },
    cache_hit: null,
  }
  const settings = { base_time: '1970-01-01T00:00:00Z', time_unit: 'seconds' }

  it('knows a standard logging payload again by its id, in another file too', async () => {
    const workspace = await newWorkspace()
    for (const file of ['a.ndjson', 'b.ndjson']) await writeInput(workspace, file, `${JSON.stringify(PAYLOAD)}\n`)
    const source = { name: 'bucket', schema: 'litellm-spend-logs', files: ['*.ndjson'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [{ ...source, ...settings }] })
    const { records } = await buildIn(workspace, '2025-06-10T12:00:00Z')
    expect(records).toMatchObject({ published: 1, duplicates: 1 })
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-06-01 m 10'])
  })

  it('gives what a key spent of a standard logging payload', async () => {
    const built = await buildLog('litellm-spend-logs', [PAYLOAD], { settings })
    expect(await usageOf(built)).toMatchObject([{ api_key_hash: KEY_HASH, cost_usd: '0.25', requests: 1 }])
  })

  it('gives what a key spent, where api_key is the hash of a key', async () => {
    const log = [
      record('litellm-spend-logs', { api_key: KEY_HASH, spend: 0.25 }),
      record('litellm-spend-logs', { request_id: '2', api_key: KEY_HASH, spend: 1e-5 }),
      record('litellm-spend-logs', { request_id: '3', api_key: KEY_HASH.toUpperCase(), spend: 7 }),
      record('litellm-spend-logs', { request_id: '4', api_key: KEY_HASH, spend: 5, cache_hit: 'True' }),
    ]
    expect(await usageOf(await buildLog('litellm-spend-logs', log))).toMatchObject([
      { api_key_hash: KEY_HASH, cost_usd: '0.25001', requests: 2 },
    ])
  })
})

describe('litellm-daily-user-spend', () => {
  const daily = (fields: LogRecord) => record('litellm-daily-user-spend', fields)

  it('lets a later export of a row take the place of an earlier one', async () => {
    const log = [daily({ prompt_tokens: 80 }), daily({ id: 'another', prompt_tokens: 8 })]
    const { rows, records } = await buildLog('litellm-daily-user-spend', log)
    expect(rows).toEqual(['2025-06-01 m 82'])
    expect(records).toMatchObject({ published: 1, duplicates: 1 })
  })

  it('has rows that differ in one column alone', async () => {
    const columns = {
      user_id: 'v',
      date: '2025-06-02',
      api_key: 'other',
      model: 'n',
      custom_llm_provider: 'azure',
      mcp_namespaced_tool_name: 'tool',
      endpoint: '/v1/messages',
    }
    const log = Object.entries(columns).flatMap(([column, value]) => [
      daily({ model: column }),
      daily({ model: column, [column]: value }),
    ])
    const { rows, records } = await buildLog('litellm-daily-user-spend', log)
    expect(rows).toEqual([
      '2025-06-01 api_key 20',
      '2025-06-01 custom_llm_provider 20',
      '2025-06-01 endpoint 20',
      '2025-06-01 mcp_namespaced_tool_name 20',
      '2025-06-01 user_id 20',
      '2025-06-01 date 10',
      '2025-06-01 model 10',
      '2025-06-01 n 10',
      '2025-06-02 date 10',
    ])
    expect(records).toMatchObject({ published: 14, duplicates: 0 })
  })

  it('has two rows where only the place of a separator differs', async () => {
    const log = [
      daily({ user_id: 'a","b', api_key: 'c' }),
      daily({ user_id: 'a', api_key: 'b","c' }),
      daily({ user_id: 'a\u0000b', api_key: '' }),
      daily({ user_id: 'a', api_key: '\u0000b' }),
      daily({ user_id: null, api_key: 'a' }),
      daily({ user_id: 'a', api_key: null }),
    ]
    // Nothing is the same as null.
    const again = [daily({ user_id: null }), daily({ user_id: '' }), daily({ user_id: '', endpoint: null })]
    const { records } = await buildLog('litellm-daily-user-spend', [...log, ...again])
    expect(records).toMatchObject({ published: 7, duplicates: 2 })
  })
})

describe('helicone-requests', () => {
  const version = (fields: LogRecord) => record('helicone-requests', fields)

  it('keeps the version of a request that was updated last, else the one that counts most', async () => {
    const LAST = [
      { prompt_tokens: 50, updated_at: '2025-06-01T12:00:02.000Z' },
      { prompt_tokens: 1, updated_at: '2025-06-01T12:00:09.000Z' },
      { prompt_tokens: 90, updated_at: '2025-06-01T12:00:03.000Z' },
    ]
    const versions: Record<string, LogRecord[]> = {
      'in any order': LAST,
      'in the other order': LAST.toReversed(),
      // The second one is later, though its text comes first.
      'by times and not by texts': [
        { prompt_tokens: 50, updated_at: '2025-06-02T09:00:00.000+09:00' },
        { prompt_tokens: 1, updated_at: '2025-06-02T01:00:00.000Z' },
      ],
      'with a time before those without': [
        { prompt_tokens: 50, updated_at: null },
        { prompt_tokens: 60, updated_at: 'soon' },
        { prompt_tokens: 1 },
      ],
      'of one time': [{ prompt_tokens: 50 }, { prompt_tokens: 60 }],
    }
    const log = Object.entries(versions).flatMap(([model, all]) =>
      all.map((fields) => version({ ...fields, request_id: model, model })),
    )
    const { rows } = await buildLog('helicone-requests', log)
    expect(rows).toEqual([
      '2025-06-01 of one time 62',
      '2025-06-01 by times and not by texts 3',
      '2025-06-01 in any order 3',
      '2025-06-01 in the other order 3',
      '2025-06-01 with a time before those without 3',
    ])
  })

  it('knows a request of the official CSV again by its response_id, and prefers the request_id', async () => {
    const { request_id: _, ...row } = RECORDS['helicone-requests']
    const log = [
      { ...row, response_id: 'a' },
      { ...row, response_id: 'a' },
      { ...row, request_id: 'r', response_id: 'b' },
      { ...row, request_id: 'r', response_id: 'c' },
    ]
    const { rows, records } = await buildLog('helicone-requests', log)
    expect(rows).toEqual(['2025-06-01 m 20'])
    expect(records.duplicates).toBe(2)
  })

  it.each([
    [{ outside_from: { openai: 'soon' } }, 'sources[0].outside_from.openai: must be a date such as 2025-09-08'],
    [{ outside_from: { openai: 'soon' } }, '"soon"'],
    [{ outside_from: { OpenAI: 'always', openai: 'never' } }, 'sources[0].outside_from: names openai twice'],
    [{ audio_inside_from: 'always' }, 'sources[0].audio_inside_from: '],
  ])('refuses %o', async (settings, message) => {
    await expect(buildLog('helicone-requests', [record('helicone-requests')], { settings })).rejects.toThrow(message)
  })

  it('has the only schema with these settings', async () => {
    const settings = { outside_from: { default: 'always' } }
    await expect(buildLog('portkey-logs', [record('portkey-logs')], { settings })).rejects.toThrow(
      'sources[0].outside_from: only applies to schema helicone-requests or helicone-api, not portkey-logs; remove it',
    )
  })
})

describe('langfuse-observations', () => {
  const USAGES: [what: string, usage: unknown, tokens: number][] = [
    [
      'takes the total for the sum of parts that exclude each other',
      { input: 600, input_cached_tokens: 400, output: 150, output_reasoning_tokens: 50, total: 1200 },
      1200,
    ],
    ['takes the total where the parts are something else', { input: 600, output: 1, total: 5 }, 5],
    ['takes parts of any name', { input: 1, cache_read_input_tokens: 2, audio: 4, output: 8 }, 15],
    ['takes a total that stands alone', { total: 900 }, 900],
    ['takes a total beside parts of null', { input: null, output: null, total: 900 }, 900],
    ['reads counts in text', { input: '600', output: '+1' }, 601],
    ['reads an object in text', '{"input": 7}', 7],
  ]

  it('counts its usage by its total, and by its parts where it has none', async () => {
    const log = USAGES.map(([what, usage_details]) => changed(named('langfuse-observations', what), { usage_details }))
    const { rows } = await buildLog('langfuse-observations', log)
    expect(rows.toSorted()).toEqual(USAGES.map(([what, , tokens]) => `2025-06-01 ${what} ${tokens}`).toSorted())
  })

  it('keeps the copy of an observation that was updated last', async () => {
    const log = [
      record('langfuse-observations', { updated_at: '2026-05-04 12:00:03.000000', 'usage_details|total': 3 }),
      record('langfuse-observations', { updated_at: '2026-05-04 12:00:02.000000', 'usage_details|total': 900 }),
      record('langfuse-observations', { 'usage_details|total': 900 }),
    ]
    const { rows, records } = await buildLog('langfuse-observations', log)
    expect(rows).toEqual(['2025-06-01 m 3'])
    expect(records.duplicates).toBe(2)
  })

  const WRONG_USAGES = [
    { input: 5, output: -1 },
    { input: 1.5 },
    { input: 'many' },
    { input: { text: 5 } },
    { input: 5, output: true },
    { total: -1 },
    { input: 2 ** 53 - 1, input_cached_tokens: 1 },
    [1, 2],
    5,
    'input: 5',
  ]

  it('rejects a generation with any other usage', async () => {
    const wrong = WRONG_USAGES.map((usage_details) => record('langfuse-observations', { id: 'wrong', usage_details }))
    const log = [...wrong, record('langfuse-observations')]
    const { rows, records, rejects } = await buildLogs([{ schema: 'langfuse-observations', log }])
    const found = rejects[0]?.map(({ record, reason }) => [WRONG_USAGES[record - 1], reason])
    expect(found).toEqual(WRONG_USAGES.map((usage) => [usage, 'invalid_token_count']))
    expect(rows).toEqual(['2025-06-01 m 10'])
    expect(records.rejected).toEqual({ invalid_token_count: WRONG_USAGES.length })
  })
})

describe('otel-genai-spans', () => {
  const span = (fields: LogRecord) => record('otel-genai-spans', fields)
  const list = (attributes: Record<string, LogRecord>) =>
    Object.entries(attributes).map(([key, value]) => ({ key, value }))
  const OTLP = list({
    'gen_ai.operation.name': { stringValue: 'chat' },
    'gen_ai.request.model': { stringValue: 'asked-for' },
    'gen_ai.response.model': { stringValue: 'm' },
    'gen_ai.usage.input_tokens': { intValue: '8' },
    'gen_ai.usage.output_tokens': { intValue: 2 },
  })

  it('may have its attributes as OTLP lists them, in every format', async () => {
    const agent = { spanId: 'agent', attributes: list({ 'gen_ai.operation.name': { stringValue: 'invoke_agent' } }) }
    const { rows, setAside } = await buildLogs(
      FORMS.map((form) => {
        const attributes = OTLP.map(({ key, value }) =>
          key === 'gen_ai.response.model' ? { key, value: { stringValue: form } } : { key, value },
        )
        return { schema: 'otel-genai-spans', log: [span({ attributes }), span(agent)], form }
      }),
    )
    expect(rows).toEqual(FORMS.map((form) => `2025-06-01 ${form} 10`))
    expect(setAside).toEqual(FORMS.map(() => ({ left_out: 1 })))
  })

  it('passes over what is no attribute in such a list', async () => {
    const attributes = [null, 5, 'text', {}, { key: 'x' }, { value: { intValue: '7' } }, ...OTLP]
    expect((await buildLog('otel-genai-spans', [span({ attributes })])).rows).toEqual(['2025-06-01 m 10'])
  })

  it('takes the model that was asked for where the answer names none', async () => {
    const silent = [null, ''].map((name, id) => span({ spanId: `${id}`, 'attributes|gen_ai.response.model': name }))
    expect((await buildLog('otel-genai-spans', silent)).rows).toEqual(['2025-06-01 asked-for 20'])
  })

  it('knows the older names of the counts, and does not add them to the newer', async () => {
    const older = { 'gen_ai.usage.prompt_tokens': 30, 'gen_ai.usage.completion_tokens': 12 }
    const log = [
      span({ spanId: 'old', attributes: { 'gen_ai.request.model': 'm', ...older } }),
      span({ spanId: 'both', attributes: { ...RECORDS['otel-genai-spans'].attributes, ...older } }),
    ]
    expect((await buildLog('otel-genai-spans', log)).rows).toEqual(['2025-06-01 m 52'])
  })

  it('is one span by trace and span together; without one of them every record counts', async () => {
    const log = [
      span({ traceId: 'a', spanId: 'b' }),
      span({ traceId: 'a', spanId: 'c' }),
      span({ traceId: 'd', spanId: 'b' }),
      span({ traceId: 'd', spanId: 'b' }),
      ...[null, ''].flatMap((none) => [span({ spanId: none }), span({ spanId: none })]),
      span({ traceId: '' }),
      span({ traceId: '' }),
      span({ traceId: 'ef', spanId: 'g' }),
      span({ traceId: 'e', spanId: 'fg' }),
    ]
    expect((await buildLog('otel-genai-spans', log)).records).toMatchObject({ published: 11, duplicates: 1 })
  })

  it('has nanoseconds as text or as a number, which never round into the next day', async () => {
    const line = (model: string, time: string) =>
      JSON.stringify(changed(named('otel-genai-spans', model), { startTimeUnixNano: 'TIME' })).replace('"TIME"', time)
    const lines = [line('text', '"1748735999999999999"'), line('number', '1748735999999999999')]
    const { rows } = await buildLog('otel-genai-spans', `${lines.join('\n')}\n`)
    expect(rows).toEqual(['2025-05-31 number 10', '2025-05-31 text 10'])
  })

  it('may be Parquet with its attributes in a map and its time in an integer', async () => {
    const workspace = await newWorkspace()
    const attributes = "MAP {'gen_ai.response.model': 'm', 'gen_ai.usage.input_tokens': '8'}"
    const select = `SELECT 1748735999999999999 AS "startTimeUnixNano", 't' AS "traceId", 's' AS "spanId", ${attributes} AS attributes`
    await query(`COPY (${select}) TO ${sqlText(join(workspace.input, 'spans.parquet'))} (FORMAT parquet)`)
    const source = { name: 's', schema: 'otel-genai-spans', files: ['spans.parquet'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await buildIn(workspace, '2025-06-10T12:00:00Z')
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-05-31 m 8'])
  })

  it('rejects a span whose attributes are neither', async () => {
    const log = [span({}), span({ spanId: 'x', attributes: 'gen_ai' }), span({ spanId: 'y', attributes: 5 })]
    expect((await buildLog('otel-genai-spans', log)).records.rejected).toEqual({ invalid_model: 2 })
  })

  it('has no use for a base_time', async () => {
    const settings = { base_time: '2025-06-01T00:00:00Z' }
    const failed = expect(buildLog('otel-genai-spans', [span({})], { settings })).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/base_time.*otel-genai-spans/)
  })
})

describe('settings of a source', () => {
  it('`columns` renames the columns of the schema', async () => {
    const { created_at, ...rest } = RECORDS['portkey-logs']
    const settings = { columns: { created_at: 'time_of_generation' } }
    const { rows } = await buildLogs(
      FORMS.map((form) => {
        const log = [{ ...rest, ai_model: form, time_of_generation: created_at }]
        return { schema: 'portkey-logs', log, form, settings }
      }),
    )
    expect(rows).toEqual(FORMS.map((form) => `2025-06-01 ${form} 10`))
  })

  it('`columns` names the nearest column of the schema for one that it does not have', async () => {
    const failed = expect(buildLog('portkey-logs', [], { settings: { columns: { req_unit: 'x' } } })).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/"req_unit".*"req_units".*portkey-logs/)
  })

  it('`model` is for every record of files without a column for it', async () => {
    const schema = 'cloudflare-ai-gateway-logs'
    const { model, ...rest } = RECORDS[schema]
    const { rows } = await buildLogs([
      ...FORMS.map((form) => ({ schema, log: [rest], form, settings: { model: `own of ${form}` } })),
      { schema, log: [{ model, ...rest }], settings: { model: 'own' } },
    ])
    expect(rows).toEqual(['m', ...FORMS.map((form) => `own of ${form}`)].map((name) => `2025-06-01 ${name} 10`))
  })

  it('`base_time` makes numbers timestamps', async () => {
    const log = [record('cloudflare-ai-gateway-logs', { created_at: 1748779200123 })]
    const settings = { base_time: '1970-01-01T00:00:00Z', time_unit: 'milliseconds' }
    expect((await buildLog('cloudflare-ai-gateway-logs', log, { settings })).rows).toEqual(['2025-06-01 m 10'])
  })

  it('a misspelt schema names the nearest one', async () => {
    const failed = expect(buildLog('litellm-spendlogs', [])).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/"litellm-spendlogs".*did you mean "litellm-spend-logs"/)
  })
})

describe('a file without a column that its schema needs', () => {
  it.each<[SchemaName, string]>([
    ['openrouter-activity', 'tokens_completion'],
    ['openrouter-generation', 'data'],
    ['litellm-spend-logs', 'startTime'],
    ['litellm-daily-user-spend', 'user_id'],
    ['helicone-requests', 'request_created_at'],
    ['langfuse-observations', 'type'],
    ['portkey-logs', 'ai_model'],
    ['otel-genai-spans', 'spanId'],
    ['cloudflare-ai-gateway-logs', 'tokens_in'],
  ])('of %s, %s, is named with the schema, the column and what it has', async (name, column) => {
    const { [column]: _, ...rest } = record(name)
    const failed = expect(buildLog(name, toCsv([{ ...rest, unheard_of: 1 }]), { form: 'csv' })).rejects
    await failed.toThrow(BuildError)
    await failed.toThrow(new RegExp(`log-0\\.csv has no column .*"${column}".*${name}.*It has: .*unheard_of`))
  })

  it('may be without a column that a schema can do without', async () => {
    const optional: [SchemaName, string][] = [
      ['openrouter-activity', 'variant'],
      ['openrouter-activity', 'generation_id'],
      ['litellm-spend-logs', 'cache_hit'],
      ['helicone-requests', 'updated_at'],
      ['helicone-requests', 'cache_reference_id'],
      ['portkey-logs', 'cache_status'],
      ['cloudflare-ai-gateway-logs', 'cached'],
    ]
    const models = optional.map(([schema, column]) => `${schema} without ${column}`)
    const { rows } = await buildLogs(
      optional.map(([schema, column], index) => {
        const { [column]: _, ...rest } = named(schema, models[index] ?? '')
        return { schema, log: [rest], form: 'csv' }
      }),
    )
    expect(rows).toEqual(models.toSorted().map((model) => `2025-06-01 ${model} 10`))
  })

  it('is found out in NDJSON when no line has it', async () => {
    const { req_units, res_units, ...rest } = RECORDS['portkey-logs']
    await expect(buildLog('portkey-logs', [rest])).rejects.toThrow(/"req_units" or "res_units".*portkey-logs/s)
  })
})
