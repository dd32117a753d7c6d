/** Raw logs in a named schema: objects in, a file of any format out, and the build of it. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { MAPPINGS } from '../../pipeline/raw/schemas/index.ts'
import { type RejectedRecord, readRejects } from '../../pipeline/rollup/list-rejects.ts'
import {
  acceptSameRequests,
  buildIn,
  newWorkspace,
  publishedCsv,
  rowsOf,
  type Workspace,
  writeInput,
} from './pipeline.ts'
import { query, sqlText } from './records.ts'

export type LogRecord = Record<string, unknown>

/** A complete record of each schema, of model `m` on 2025-06-01 with 8 prompt and 2 completion tokens. */
export const RECORDS = {
  canonical: {
    timestamp: '2025-06-01T12:00:00Z',
    model_permaslug: 'm',
    prompt_tokens: 8,
    completion_tokens: 2,
    request_id: 'r',
  },
  'openrouter-activity': {
    generation_id: 'gen-1',
    created_at: '2025-06-01 12:00:00.123',
    cost_total: 0.001,
    byok_usage_inference: 0,
    tokens_prompt: 8,
    tokens_completion: 2,
    tokens_reasoning: 1,
    tokens_cached: 7,
    model_permaslug: 'm',
    variant: 'standard',
    cancelled: false,
  },
  'openrouter-activity-api': {
    date: '2025-06-01',
    model: 'acme/one',
    model_permaslug: 'm',
    endpoint_id: 'endpoint-1',
    usage: 0.001,
    prompt_tokens: 8,
    completion_tokens: 2,
    reasoning_tokens: 1,
  },
  'openrouter-generation': {
    data: {
      id: 'gen-1',
      created_at: '2025-06-02T01:59:59.999+02:00',
      model: 'm',
      tokens_prompt: 8,
      tokens_completion: 2,
      native_tokens_reasoning: 1,
      total_cost: 0.001,
      is_byok: false,
    },
  },
  'litellm-spend-logs': {
    request_id: 'chatcmpl-1',
    api_key: 'hash',
    spend: 0.001,
    total_tokens: 10,
    prompt_tokens: 8,
    completion_tokens: 2,
    startTime: '2025-06-01 12:00:00.123',
    model: 'm',
    cache_hit: 'False',
    status: 'success',
  },
  'litellm-daily-user-spend': {
    id: 'row-1',
    user_id: 'u',
    date: '2025-06-01',
    api_key: 'hash',
    model: 'm',
    custom_llm_provider: 'openai',
    prompt_tokens: 8,
    completion_tokens: 2,
    cache_read_input_tokens: 7,
  },
  'helicone-requests': {
    request_id: '00000000-0000-4000-8000-000000000001',
    request_created_at: '2025-06-01T12:00:00.123Z',
    status: 200,
    model: 'm',
    prompt_tokens: 8,
    completion_tokens: 2,
    cache_reference_id: '00000000-0000-0000-0000-000000000000',
    updated_at: '2025-06-01T12:00:01.000Z',
  },
  'langfuse-observations': {
    id: 'obs-1',
    type: 'GENERATION',
    start_time: '2025-06-01 12:00:00.123456',
    provided_model_name: 'm',
    usage_details: { input: 5, input_cached_tokens: 3, output: 1, output_reasoning_tokens: 1, total: 10 },
  },
  'langsmith-runs': {
    id: 'run-1',
    run_type: 'llm',
    start_time: '2025-06-01T12:00:00.123456',
    extra: { metadata: { ls_model_name: 'm' } },
    prompt_tokens: 8,
    completion_tokens: 2,
    prompt_token_details: { cache_read: 7 },
    completion_token_details: { reasoning: 1 },
  },
  'portkey-logs': {
    id: 'pk-1',
    created_at: '2025-06-01T12:00:00.123Z',
    ai_model: 'm',
    req_units: 8,
    res_units: 2,
    total_units: 10,
    cache_status: 'MISS',
  },
  'otel-genai-spans': {
    traceId: '0000000000000000000000000000000a',
    spanId: '000000000000000b',
    startTimeUnixNano: '1748779200123456789',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'asked-for',
      'gen_ai.response.model': 'm',
      'gen_ai.usage.input_tokens': 8,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 7,
    },
  },
  'openinference-spans': {
    name: 'chat',
    context: { trace_id: 'trace-1', span_id: 'span-1' },
    span_kind: 'LLM',
    start_time: '2025-06-01T12:00:00.250000+00:00',
    attributes: {
      'llm.model_name': 'm',
      'llm.token_count.prompt': 8,
      'llm.token_count.completion': 2,
      'llm.token_count.prompt_details.cache_read': 7,
    },
  },
  'bifrost-logs': {
    id: 'bifrost-1',
    timestamp: '2025-06-01T12:00:00.123Z',
    object: 'chat.completion',
    model: 'm',
    token_usage: { prompt_tokens: 8, completion_tokens: 2, prompt_tokens_details: { cached_read_tokens: 7 } },
    cost: 0.001,
    status: 'success',
  },
  'langfuse-api': {
    id: 'obs-1',
    type: 'GENERATION',
    startTime: '2025-06-01T12:00:00.123Z',
    model: 'm',
    usageDetails: { input: 8, output: 2 },
    updatedAt: '2025-06-01T12:00:05.000Z',
  },
  'vercel-generation': {
    data: {
      id: 'gen_1',
      created_at: '2025-06-01T12:00:00.120Z',
      model: 'm',
      native_tokens_prompt: 8,
      native_tokens_completion: 2,
      native_tokens_cached: 7,
      native_tokens_cache_creation: 0,
      native_tokens_reasoning: 1,
      total_cost: 0.001,
      is_byok: false,
    },
  },
  'helicone-api': {
    request_id: '00000000-0000-4000-8000-000000000001',
    request_created_at: '2025-06-01 12:00:00.123',
    provider: 'OPENAI',
    request_model: 'm',
    prompt_tokens: 8,
    completion_tokens: 2,
    cache_reference_id: null,
  },
  'otlp-batches': {
    resourceSpans: [
      {
        resource: { attributes: [] },
        scopeSpans: [
          {
            scope: { name: 'openai' },
            spans: [
              {
                traceId: '0000000000000000000000000000000a',
                spanId: '000000000000000b',
                startTimeUnixNano: '1748779200123456789',
                attributes: {
                  'gen_ai.operation.name': 'chat',
                  'gen_ai.response.model': 'm',
                  'gen_ai.usage.input_tokens': 8,
                  'gen_ai.usage.output_tokens': 2,
                },
              },
            ],
          },
        ],
      },
    ],
  },
  'cloudflare-ai-gateway-logs': {
    id: '01JW',
    created_at: '2025-06-01T12:00:00.123Z',
    model: 'm',
    cached: false,
    success: true,
    tokens_in: 8,
    tokens_out: 2,
    cost: 0.001,
  },
  'openai-usage': {
    object: 'page',
    data: [
      {
        object: 'bucket',
        start_time: 1748736000,
        end_time: 1748822400,
        results: [
          {
            object: 'organization.usage.completions.result',
            input_tokens: 8,
            output_tokens: 2,
            input_cached_tokens: 7,
            input_cache_write_tokens: 0,
            input_audio_tokens: 0,
            output_audio_tokens: 0,
            project_id: null,
            user_id: null,
            api_key_id: 'key_1',
            model: 'm',
            batch: null,
            service_tier: null,
          },
        ],
      },
    ],
    has_more: false,
    next_page: null,
  },
  'anthropic-usage': {
    data: [
      {
        starting_at: '2025-06-01T00:00:00Z',
        ending_at: '2025-06-02T00:00:00Z',
        results: [
          {
            account_id: null,
            api_key_id: 'apikey_1',
            cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
            cache_read_input_tokens: 0,
            context_window: null,
            inference_geo: null,
            model: 'm',
            output_tokens: 2,
            server_tool_use: { web_search_requests: 0 },
            service_account_id: null,
            service_tier: null,
            uncached_input_tokens: 8,
            workspace_id: null,
          },
        ],
      },
    ],
    has_more: false,
    next_page: null,
  },
  'bedrock-invocations': {
    schemaType: 'ModelInvocationLog',
    schemaVersion: '1.0',
    timestamp: '2025-06-01T12:00:00Z',
    accountId: '210987654321',
    region: 'eu-central-1',
    requestId: '00000000-0000-4000-8000-000000000001',
    operation: 'Converse',
    modelId: 'm',
    input: { inputContentType: 'application/json', inputTokenCount: 8, cacheReadInputTokenCount: 0 },
    output: { outputContentType: 'application/json', outputTokenCount: 2 },
  },
  'azure-apim-llm-logs': {
    TimeGenerated: '2025-06-01T12:00:00.1234567Z',
    CorrelationId: '00000000-0000-4000-8000-000000000001',
    RequestId: 'chatcmpl-1',
    SequenceNumber: 0,
    ModelName: 'm',
    DeploymentName: '',
    PromptTokens: 8,
    CompletionTokens: 2,
    TotalTokens: 10,
    PromptCachedTokens: 7,
    IsStreamCompletion: true,
  },
  'vertex-ai-logs': {
    endpoint: null,
    logging_time: '2025-06-01 12:00:00.000000 UTC',
    request_id: '7712345678901234567',
    model: 'publishers/google/models/gemini',
    model_version: 'default',
    api_method: 'generateContent',
    full_response: {
      modelVersion: 'm',
      usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2, totalTokenCount: 10 },
    },
  },
  'kong-ai-gateway': {
    request: { id: '0a1b2c3d4e5f60718293a4b5c6d7e8f9', method: 'POST' },
    response: { status: 200 },
    started_at: 1748779200123,
    ai: {
      proxy: {
        meta: { provider_name: 'openai', response_model: 'm' },
        usage: {
          prompt_tokens: 8,
          prompt_tokens_details: { cached_tokens: 7 },
          completion_tokens: 2,
          completion_tokens_details: { reasoning_tokens: 1 },
          total_tokens: 10,
        },
      },
    },
  },
  'new-api-logs': {
    id: 9104,
    created_at: 1748779200,
    type: 2,
    username: 'lea',
    model_name: 'm',
    quota: 5400,
    prompt_tokens: 8,
    completion_tokens: 2,
    channel_id: 4,
    request_id: '20250601120000aaaa',
    other: '{"cache_tokens":7,"model_ratio":1}',
  },
} satisfies Record<string, LogRecord>

export type SchemaName = keyof typeof RECORDS

/** The span in a batch. */
const SPAN = 'resourceSpans/0/scopeSpans/0/spans/0'

/** Where the fields of a record lie: the paths to them. */
export const PATHS = {
  canonical: at('model_permaslug', 'timestamp', 'prompt_tokens', 'completion_tokens', 'request_id'),
  'openrouter-activity': at('model_permaslug', 'created_at', 'tokens_prompt', 'tokens_completion', 'generation_id'),
  'openrouter-activity-api': at('model_permaslug', 'date', 'prompt_tokens', 'completion_tokens', 'endpoint_id'),
  'openrouter-generation': at(
    'data/model',
    'data/created_at',
    'data/tokens_prompt',
    'data/tokens_completion',
    'data/id',
  ),
  'litellm-spend-logs': at('model', 'startTime', 'prompt_tokens', 'completion_tokens', 'request_id'),
  'litellm-daily-user-spend': at('model', 'date', 'prompt_tokens', 'completion_tokens', 'user_id'),
  'helicone-requests': at('model', 'request_created_at', 'prompt_tokens', 'completion_tokens', 'request_id'),
  'langfuse-observations': at('provided_model_name', 'start_time', 'usage_details/input', 'usage_details/output', 'id'),
  'langsmith-runs': at('extra/metadata/ls_model_name', 'start_time', 'prompt_tokens', 'completion_tokens', 'id'),
  'portkey-logs': at('ai_model', 'created_at', 'req_units', 'res_units', 'id'),
  'otel-genai-spans': at(
    'attributes/gen_ai.response.model',
    'startTimeUnixNano',
    'attributes/gen_ai.usage.input_tokens',
    'attributes/gen_ai.usage.output_tokens',
    'spanId',
  ),
  'openinference-spans': at(
    'attributes/llm.model_name',
    'start_time',
    'attributes/llm.token_count.prompt',
    'attributes/llm.token_count.completion',
    'context/span_id',
  ),
  'bifrost-logs': at('model', 'timestamp', 'token_usage/prompt_tokens', 'token_usage/completion_tokens', 'id'),
  'langfuse-api': at('model', 'startTime', 'usageDetails/input', 'usageDetails/output', 'id'),
  'vercel-generation': at(
    'data/model',
    'data/created_at',
    'data/native_tokens_prompt',
    'data/native_tokens_completion',
    'data/id',
  ),
  'helicone-api': at('request_model', 'request_created_at', 'prompt_tokens', 'completion_tokens', 'request_id'),
  'otlp-batches': at(
    `${SPAN}/attributes/gen_ai.response.model`,
    `${SPAN}/startTimeUnixNano`,
    `${SPAN}/attributes/gen_ai.usage.input_tokens`,
    `${SPAN}/attributes/gen_ai.usage.output_tokens`,
    `${SPAN}/spanId`,
  ),
  'cloudflare-ai-gateway-logs': at('model', 'created_at', 'tokens_in', 'tokens_out', 'id'),
  'openai-usage': at(
    'data/0/results/0/model',
    'data/0/start_time',
    'data/0/results/0/input_tokens',
    'data/0/results/0/output_tokens',
    'data/0/results/0/api_key_id',
  ),
  'anthropic-usage': at(
    'data/0/results/0/model',
    'data/0/starting_at',
    'data/0/results/0/uncached_input_tokens',
    'data/0/results/0/output_tokens',
    'data/0/results/0/api_key_id',
  ),
  'bedrock-invocations': at('modelId', 'timestamp', 'input/inputTokenCount', 'output/outputTokenCount', 'requestId'),
  'azure-apim-llm-logs': at('ModelName', 'TimeGenerated', 'PromptTokens', 'CompletionTokens', 'CorrelationId'),
  'vertex-ai-logs': at(
    'full_response/modelVersion',
    'logging_time',
    'full_response/usageMetadata/promptTokenCount',
    'full_response/usageMetadata/candidatesTokenCount',
    'request_id',
  ),
  'kong-ai-gateway': at(
    'ai/proxy/meta/response_model',
    'started_at',
    'ai/proxy/usage/prompt_tokens',
    'ai/proxy/usage/completion_tokens',
    'request/id',
  ),
  'new-api-logs': at('model_name', 'created_at', 'prompt_tokens', 'completion_tokens', 'request_id'),
} satisfies Record<SchemaName, ReturnType<typeof at>>

function at(model: string, time: string, prompt: string, completion: string, id: string) {
  const path = (text: string) => text.split('/')
  return { model: path(model), time: path(time), prompt: path(prompt), completion: path(completion), id: path(id) }
}

/** The record of a schema as that of another model and another request, both of this name. */
export function named(schema: SchemaName, name: string): LogRecord {
  const { model, id } = PATHS[schema]
  return having(having(RECORDS[schema], model, name), id, name)
}

/** The record with another value at a path. */
export function having(record: LogRecord, [key = '', ...rest]: readonly string[], value: unknown): LogRecord {
  const changed = rest.length === 0 ? value : having(record[key] as LogRecord, rest, value)
  if (Array.isArray(record)) return Object.assign([...record], { [key]: changed })
  return { ...record, [key]: changed }
}

/** CSV with nested values as JSON text, NDJSON, Parquet with nested values as structs, and with them as JSON text. */
export const FORMS = ['csv', 'ndjson', 'parquet', 'text.parquet'] as const
export type Form = (typeof FORMS)[number] | 'json'

/** The forms that records of a schema may have: only JSON has lists of them. */
export function formsOf(schema: SchemaName): readonly (typeof FORMS)[number][] {
  const [list = ''] = MAPPINGS[schema].unnest?.split('[]') ?? []
  return list in RECORDS[schema] ? ['ndjson'] : FORMS
}

/** One of these forms, another for each number. */
export function formOf(schema: SchemaName, number: number): Form {
  const forms = formsOf(schema)
  return forms[number % forms.length] ?? 'ndjson'
}

/** Settings that every source of a schema needs. */
export function neededSettings(schema: string): LogRecord {
  return schema === 'vertex-ai-logs' ? { sampling_rate: 1 } : {}
}

export interface Built {
  /** Rows as `date model tokens`. */
  rows: string[]
  records: BuildSummary['records']
  workspace: Workspace
}

/** One of several logs that are built together. A text stands for the whole file. */
export interface Log {
  schema: string
  log: LogRecord[] | string
  form?: Form | undefined
  settings?: LogRecord | undefined
}

export interface BuiltTogether extends Built {
  /** How many records of each log were set aside, by reason. */
  setAside: Record<string, number>[]
  /** The rejected records of each log. */
  rejects: RejectedRecord[][]
}

/** Builds one public source with one file of these records; a text stands for the whole file. */
export function buildLog(
  schema: string,
  log: LogRecord[] | string,
  options: Pick<Log, 'form' | 'settings'> = {},
): Promise<Built> {
  return buildLogs([{ schema, log, ...options }])
}

/** What accepts the unreadable documents of files. */
export function unreadable(files: readonly string[]): string[] {
  return files.map((file) => `unreadable_document:${file}`)
}

/** Builds logs at once, each as a public source of its own: `log-0`, `log-1` and so on, as its file is called. */
export async function buildLogs(logs: Log[], asOf = '2025-06-10T12:00:00Z'): Promise<BuiltTogether> {
  const workspace = await newWorkspace()
  const sources: LogRecord[] = []
  for (const [index, { schema, log, form = 'ndjson', settings }] of logs.entries()) {
    const [name, file] = [`log-${index}`, `log-${index}.${form}`]
    if (typeof log === 'string') await writeInput(workspace, file, log)
    else await writeLog(join(workspace.input, file), log, form)
    sources.push({ name, schema, files: [file], visibility: 'public', ...neededSettings(schema), ...settings })
  }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources })
  const names = sources.map(({ name }) => String(name))
  await acceptSameRequests(workspace, names)
  const { records } = await buildIn(
    workspace,
    asOf,
    {},
    { accept: [...unreadable(await readdir(workspace.input)), 'uncounted_source'] },
  )
  assertCountedOnce(records)
  const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
  const rejects = await Array.fromAsync(readRejects(workspace.dataDir))
  return {
    rows: rowsOf(await publishedCsv(workspace)),
    records,
    workspace,
    setAside: names.map((name) => countByReason(detail.set_aside.filter((entry: SetAside) => entry.source === name))),
    rejects: names.map((name) => rejects.filter(({ source }) => source === name)),
  }
}

/** Every record that was read is published, or excluded for one reason. */
function assertCountedOnce({ read, rejected, withheld, ...others }: BuildSummary['records']): void {
  const counts = [...Object.values(others), ...Object.values(rejected), ...withheld.map((model) => model.records)]
  assert.equal(
    counts.reduce((sum: number, count) => sum + (typeof count === 'number' ? count : 0), 0),
    read,
  )
}

interface SetAside {
  source: string
  reason: string
  records: number
}

function countByReason(entries: SetAside[]): Record<string, number> {
  const byReason = Map.groupBy(entries, ({ reason }) => reason)
  return Object.fromEntries(
    [...byReason].map(([reason, same]) => [reason, same.reduce((sum, { records }) => sum + records, 0)]),
  )
}

export async function writeLog(path: string, log: readonly LogRecord[], form: Form): Promise<void> {
  if (form === 'csv') return writeFile(path, toCsv(log))
  if (form === 'ndjson') return writeFile(path, toLines(log))
  if (form === 'json') return writeFile(path, JSON.stringify(log, undefined, 2))
  const lines = `${path}.ndjson`
  await writeFile(lines, toLines(form === 'parquet' ? log : log.map(flattened)))
  const read = `read_json(${sqlText(lines)}, format = 'newline_delimited', sample_size = -1, convert_strings_to_integers = false)`
  await query(`COPY (FROM ${read}) TO ${sqlText(path)} (FORMAT parquet)`)
}

export function toLines(log: readonly LogRecord[]): string {
  return log.map((record) => `${JSON.stringify(record)}\n`).join('')
}

export function toCsv(log: readonly LogRecord[]): string {
  const names = [...new Set(log.flatMap((record) => Object.keys(record)))]
  const line = (fields: readonly unknown[]) => `${fields.map(csvField).join(',')}\n`
  return line(names) + log.map((record) => line(names.map((name) => flattened(record)[name]))).join('')
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  return `"${String(value).replaceAll('"', '""')}"`
}

/** The record with what is nested in it as JSON text. */
function flattened(record: LogRecord): LogRecord {
  const flat = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, flat(value)]))
}
