/** What each schema makes of its records (docs/sources.md), in every format that a file may have. */
import { describe, expect, it } from 'vitest'
import { buildLog, FORMS, having, type LogRecord, RECORDS } from '../../support/schemas.ts'

type Name = keyof typeof RECORDS
const NAMES = Object.keys(RECORDS) as Name[]

/** Where the fields of a record lie: the paths to them. */
const PATHS: Record<string, { model: string[]; time: string[]; prompt: string[]; completion: string[]; id: string[] }> =
  {
    canonical: at('model_permaslug', 'timestamp', 'prompt_tokens', 'completion_tokens', 'request_id'),
    'openrouter-activity': at('model_permaslug', 'created_at', 'tokens_prompt', 'tokens_completion', 'generation_id'),
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
    'langfuse-observations': at(
      'provided_model_name',
      'start_time',
      'usage_details/input',
      'usage_details/output',
      'id',
    ),
    'portkey-logs': at('ai_model', 'created_at', 'req_units', 'res_units', 'id'),
    'otel-genai-spans': at(
      'attributes/gen_ai.response.model',
      'startTimeUnixNano',
      'attributes/gen_ai.usage.input_tokens',
      'attributes/gen_ai.usage.output_tokens',
      'spanId',
    ),
    'cloudflare-ai-gateway-logs': at('model', 'created_at', 'tokens_in', 'tokens_out', 'id'),
  }

function at(model: string, time: string, prompt: string, completion: string, id: string) {
  const path = (text: string) => text.split('/')
  return { model: path(model), time: path(time), prompt: path(prompt), completion: path(completion), id: path(id) }
}

/** A second record of the schema, which the first does not replace. */
function another(name: Name): LogRecord {
  return having(RECORDS[name], PATHS[name]?.id ?? [], 'another')
}

describe.each(NAMES)('%s', (name) => {
  const record: LogRecord = RECORDS[name]
  const { model, time, prompt, completion, id } = PATHS[name] ?? at('', '', '', '', '')

  it.each(FORMS)('is read from %s, a repeated delivery once', async (form) => {
    const { rows, records } = await buildLog(name, [record, record, another(name)], { form })
    expect(rows).toEqual(['2025-06-01 m 20'])
    expect(records).toMatchObject({ read: 3, published: 2, left_out: 0, rejected: {}, duplicates: 1 })
  })

  it('counts a token count of null as 0', async () => {
    const failed = having(having(another(name), prompt, null), completion, null)
    const { records } = await buildLog(name, [record, failed])
    expect(records).toMatchObject({ published: 2, rejected: {} })
  })

  it('rejects token counts that are none', async () => {
    const wrong = ['-1', '1.5', 'many', true, 1e300].map((count, position) =>
      having(having(record, id, `wrong-${position}`), completion, count),
    )
    const { rows, records } = await buildLog(name, [record, ...wrong])
    expect(rows).toEqual(['2025-06-01 m 10'])
    expect(records.rejected).toEqual({ invalid_token_count: wrong.length })
  })

  it('rejects a record without a model, and one whose model is a number', async () => {
    // A span may say only the model that was asked for.
    const silent =
      name === 'otel-genai-spans' ? having(another(name), ['attributes', 'gen_ai.request.model'], null) : another(name)
    const { records } = await buildLog(name, [
      record,
      having(silent, model, null),
      having(having(silent, id, 'third'), model, 5),
    ])
    expect(records.rejected).toEqual({ invalid_model: 2 })
  })

  it('rejects a record without a timestamp, and one whose timestamp is none', async () => {
    const { records } = await buildLog(name, [record, having(record, time, null), having(record, time, 'yesterday')])
    expect(records.rejected).toEqual({ invalid_timestamp: 2 })
  })

  it('rejects lines that are no object, and an object without anything', async () => {
    const odd = [
      '[1, 2]',
      `[${JSON.stringify(record)}]`,
      '"text"',
      '5',
      'null',
      'no JSON',
      '{}',
      '{"error": {"code": 404}}',
    ]
    const { rows, records } = await buildLog(name, `${[JSON.stringify(record), ...odd].join('\n')}\n`)
    expect(rows).toEqual(['2025-06-01 m 10'])
    expect(records.rejected).toEqual({ malformed_record: 6, invalid_timestamp: 2 })
  })

  it('compares names as they are written', async () => {
    const { rows } = await buildLog(name, [having(record, model, ' M'), another(name)])
    expect(rows.toSorted()).toEqual(['2025-06-01  M 10', '2025-06-01 m 10'])
  })
})
