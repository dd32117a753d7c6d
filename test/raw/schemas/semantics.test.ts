/** What the corpus of the schemas cannot say: settings that are refused, missing columns, types of Parquet, private files. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../../pipeline/base/errors.ts'
import { readSources } from '../../../pipeline/raw/sources.ts'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  writeInput,
  writeSource,
} from '../../support/pipeline.ts'
import { query, sqlText } from '../../support/records.ts'
import {
  buildLog,
  buildLogs,
  having,
  type LogRecord,
  named,
  RECORDS,
  type SchemaName,
  toCsv,
} from '../../support/schemas.ts'
import { readUsageOf } from '../../support/usage.ts'

it('counts excluded records by day in quality.json without rejecting them', async () => {
  const schema = 'cloudflare-ai-gateway-logs'
  const hit = { ...RECORDS[schema], cached: true, tokens_in: 'x' }
  const { workspace } = await buildLog(schema, [RECORDS[schema], hit])
  const quality = JSON.parse(await readFile(join(await releaseFolder(workspace), 'quality.json'), 'utf8'))
  expect(quality.records).toMatchObject({ published: 1, left_out: 1, rejected: {} })
  expect(quality.days).toEqual([{ date: '2025-06-01', reason: 'left_out', records: 1 }])
  const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
  expect(detail.set_aside).toMatchObject([{ source: 'log-0', reason: 'left_out', date: '2025-06-01', records: 1 }])
  expect(detail.rejected_in_files).toEqual([])
})

it('sums what a key spent from the table of LiteLLM and from its payloads, if the key is a hash', async () => {
  const schema = 'litellm-spend-logs'
  const [tableKey, payloadKey] = ['a'.repeat(64), 'b'.repeat(64)]
  const row = (fields: LogRecord) => ({ ...RECORDS[schema], ...fields })
  const payload = {
    id: 'chatcmpl-1',
    prompt_tokens: 8,
    completion_tokens: 2,
    startTime: 1748779200.123,
    model: 'm',
    response_cost: 0.25,
    metadata: { user_api_key_hash: payloadKey },
  }
  const { workspace } = await buildLogs([
    {
      schema,
      log: [
        row({ api_key: tableKey, spend: 0.25 }),
        row({ request_id: '2', api_key: tableKey, spend: 1e-5 }),
        row({ request_id: '3', api_key: tableKey.toUpperCase(), spend: 7 }),
        row({ request_id: '4', api_key: tableKey, spend: 5, cache_hit: 'True' }),
      ],
    },
    { schema, log: [payload], settings: { base_time: '1970-01-01T00:00:00Z', time_unit: 'seconds' } },
  ])
  expect((await readUsageOf(workspace)).rows).toMatchObject([
    { api_key_hash: tableKey, cost_usd: '0.25001', requests: 2 },
    { api_key_hash: payloadKey, cost_usd: '0.25', requests: 1 },
  ])
})

it('reads nanoseconds as text, number and Parquet integer without rounding them, and attributes from a map', async () => {
  const workspace = await newWorkspace()
  const nanoseconds = '1748735999999999999'
  const line = (model: string, time: string) =>
    JSON.stringify(having(named('otel-genai-spans', model), ['startTimeUnixNano'], 'TIME')).replace('"TIME"', time)
  await writeInput(workspace, 'a.ndjson', `${line('text', `"${nanoseconds}"`)}\n${line('number', nanoseconds)}\n`)
  const attributes = "MAP {'gen_ai.response.model': 'map', 'gen_ai.usage.input_tokens': '8'}"
  const select = `SELECT ${nanoseconds} AS "startTimeUnixNano", 't' AS "traceId", 's' AS "spanId", ${attributes} AS attributes`
  await query(`COPY (${select}) TO ${sqlText(join(workspace.input, 'b.parquet'))} (FORMAT parquet)`)
  await writeSource(workspace, ['a.ndjson', 'b.parquet'], { schema: 'otel-genai-spans' })
  await buildIn(workspace, '2025-06-10T12:00:00Z')
  const rows = rowsOf(await publishedCsv(workspace))
  expect(rows).toEqual(['2025-05-31 number 10', '2025-05-31 text 10', '2025-05-31 map 8'])
})

describe('the sources file', () => {
  it.each<[string, LogRecord, RegExp]>([
    [
      'helicone-requests',
      { outside_from: { openai: 'soon' } },
      /sources\[0\]\.outside_from\.openai: must be a date such as 2025-09-08.*"soon"/,
    ],
    [
      'helicone-requests',
      { outside_from: { OpenAI: 'always', openai: 'never' } },
      /sources\[0\]\.outside_from: names openai twice/,
    ],
    ['helicone-requests', { audio_inside_from: 'always' }, /sources\[0\]\.audio_inside_from: /],
    [
      'portkey-logs',
      { outside_from: { default: 'always' } },
      /sources\[0\]\.outside_from: only applies to schema helicone-requests or helicone-api, not portkey-logs; remove it/,
    ],
    ['vertex-ai-logs', {}, /sources\[0\]\.sampling_rate: must be 1 with schema vertex-ai-logs/],
    ['vertex-ai-logs', { sampling_rate: 0.1 }, /sources\[0\]\.sampling_rate: must be 1 with schema vertex-ai-logs/],
    ['portkey-logs', { sampling_rate: 1 }, /sources\[0\]\.sampling_rate: has no effect with schema portkey-logs/],
    ['portkey-logs', { columns: { req_unit: 'x' } }, /"req_unit".*"req_units".*portkey-logs/],
    ['otel-genai-spans', { base_time: '2025-06-01T00:00:00Z' }, /base_time.*otel-genai-spans/],
    ['litellm-spendlogs', {}, /"litellm-spendlogs".*did you mean "litellm-spend-logs"/],
  ])('refuses schema %s with %o', async (schema, settings, message) => {
    const workspace = await newWorkspace()
    await writeSource(workspace, ['*'], { schema, ...settings })
    const failed = readSources(workspace.sources)
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow(message)
  })
})

describe('a build of a file without a column that its schema needs', () => {
  it.each<[SchemaName, string]>([
    ['openrouter-generation', 'data'],
    ['litellm-spend-logs', 'startTime'],
    ['otel-genai-spans', 'spanId'],
  ])('fails, and names %s, %s and the columns of the file', async (name, column) => {
    const { [column]: _, ...rest }: LogRecord = RECORDS[name]
    const failed = buildLog(name, toCsv([{ ...rest, unheard_of: 1 }]), { form: 'csv' })
    await expect(failed).rejects.toThrow(BuildError)
    await expect(failed).rejects.toThrow(
      new RegExp(`log-0\\.csv has no column .*"${column}".*${name}.*It has: .*unheard_of`),
    )
  })

  it('fails for NDJSON when no line has the column', async () => {
    const { req_units, res_units, ...rest } = RECORDS['portkey-logs']
    await expect(buildLog('portkey-logs', [rest])).rejects.toThrow(/"req_units" or "res_units".*portkey-logs/s)
  })
})
