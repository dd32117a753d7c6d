/** What a source says of its files beside names: paths, sums, conditions, lists of records, units of time. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readRejects } from '../../../pipeline/rollup/list-rejects.ts'
import { buildIn, newWorkspace, publishedCsv, writeInput } from '../../support/pipeline.ts'

const TIME = '2025-03-01T10:00:00Z'
const NESTED = {
  timestamp: TIME,
  info: { model: 'a/b', 'user.key': 'k' },
  usage: { input: 3, cache: { read: 4 }, output: 5 },
}
const COLUMNS = {
  model_permaslug: 'info.model',
  prompt_tokens: ['usage.input', '+usage.cache.read'],
  completion_tokens: 'usage.output',
}

/** What a build of these files publishes, and how many records it left out and rejected. */
async function built(files: Record<string, string | Uint8Array>, settings: object) {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  const source = { name: 'own', schema: 'canonical', files: Object.keys(files), visibility: 'public', ...settings }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
  const { records } = await buildIn(workspace)
  const [, ...rows] = (await publishedCsv(workspace)).trimEnd().split('\n')
  return { rows, left_out: records.left_out, rejected: records.rejected }
}

const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

describe('paths of a source', () => {
  it('lead into objects of NDJSON, and add up', async () => {
    const { rows } = await built({ 'a.ndjson': lines(NESTED) }, { columns: COLUMNS })
    expect(rows).toEqual(['2025-03-01,a/b,12'])
  })

  it('lead into JSON in a column of CSV', async () => {
    const quoted = (value: unknown) => `"${JSON.stringify(value).replaceAll('"', '""')}"`
    const csv = `timestamp,info,usage\n${TIME},${quoted(NESTED.info)},${quoted(NESTED.usage)}\n`
    expect((await built({ 'a.csv': csv }, { columns: COLUMNS })).rows).toEqual(['2025-03-01,a/b,12'])
  })

  it('are names of columns first, even with dots, brackets and quotes', async () => {
    const csv = `timestamp,"info.model",in[x],it's\n${TIME},a/b,3,4\n`
    const columns = { model_permaslug: 'info.model', prompt_tokens: 'in[x]', completion_tokens: "it's" }
    expect((await built({ 'a.csv': csv }, { columns })).rows).toEqual(['2025-03-01,a/b,7'])
  })

  it('are names of columns first in sums, alternatives and conditions too', async () => {
    const csv = `timestamp,model_permaslug,u.in,u.cache,completion_tokens,k.d\n${TIME},a/b,3,4,5,x\n`
    const columns = { prompt_tokens: ['tokens.in', 'u.in', '+u.cache'] }
    const { rows, left_out } = await built({ 'a.csv': csv }, { columns, where: { 'k.d': { equal: 'X' } } })
    expect({ rows, left_out }).toEqual({ rows: ['2025-03-01,a/b,12'], left_out: 0 })
  })

  it('name columns as the files do, even where the schema calls others so', async () => {
    const record = { timestamp: TIME, model_permaslug: 'x', group: 'a/b', prompt_tokens: 1, completion_tokens: 1 }
    const settings = { columns: { model_permaslug: 'group' }, where: { model_permaslug: { equal: 'x' } } }
    expect((await built({ 'a.ndjson': lines(record) }, settings)).rows).toEqual(['2025-03-01,a/b,2'])
  })

  it('lead to attributes inside of objects', async () => {
    const { info, ...record } = {
      ...NESTED,
      attributes: { in: { 'm.n': 'a/b' } },
      r: { a: [{ key: "it's", value: {} }] },
    }
    const columns = { ...COLUMNS, model_permaslug: 'attributes.in[m.n]' }
    const settings = { columns, where: { "r.a[it's]": { present: false } } }
    expect((await built({ 'a.ndjson': lines(record) }, settings)).rows).toEqual(['2025-03-01,a/b,12'])
  })

  it('do not take text that is not JSON for a count of 0', async () => {
    const columns = { prompt_tokens: ['usage.input', '+usage.cache'], completion_tokens: 'usage.output' }
    const usages = [{ input: 1, output: 1 }, "{'input': 1}", 7, {}, null]
    const records = usages.map((usage) => ({ timestamp: TIME, model_permaslug: 'a/b', usage }))
    const { rows, rejected } = await built({ 'a.ndjson': lines(...records) }, { columns })
    expect({ rows, rejected }).toEqual({ rows: ['2025-03-01,a/b,2'], rejected: { invalid_token_count: 2 } })
  })

  it('lead to a time that counts from base_time', async () => {
    const columns = { ...COLUMNS, timestamp: 'info.at' }
    const record = { ...NESTED, info: { ...NESTED.info, at: 5 } }
    const settings = { columns, base_time: TIME, time_unit: 'seconds' }
    expect((await built({ 'a.ndjson': lines(record) }, settings)).rows).toEqual(['2025-03-01,a/b,12'])
  })

  it('are alternatives for one part of an id', async () => {
    const attributes = { 'gen_ai.response.model': 'a/b', 'gen_ai.usage.input_tokens': 3 }
    const span = { startTimeUnixNano: '1740823200000000000', spanId: 's', attributes }
    const spans = lines({ ...span, a: { b: '1' } }, { ...span, traceId: '1' }, { ...span, traceId: '2' })
    const settings = { schema: 'otel-genai-spans', columns: { traceId: ['a.b', 'traceId'] } }
    expect((await built({ 'a.ndjson': spans }, settings)).rows).toEqual(['2025-03-01,a/b,6'])
  })

  it('reach keys with dots and quotes by a JSON pointer', async () => {
    const record = { timestamp: TIME, model_permaslug: 'a/b', u: { "in'.x": 3 }, completion_tokens: 0 }
    const columns = { prompt_tokens: "/u/in'.x" }
    expect((await built({ 'a.ndjson': lines(record) }, { columns })).rows).toEqual(['2025-03-01,a/b,3'])
  })

  it.each([
    ['s', 1740823200],
    ['ms', 1740823200000],
    ['us', '1740823200000000'],
    ['ns', '1740823200000000000'],
    ['day', '2025-03-01'],
  ])('give Unix time in %s', async (unit, at) => {
    const record = { at, model_permaslug: 'a/b', prompt_tokens: 1, completion_tokens: 1 }
    const columns = { timestamp: { path: 'at', unit } }
    expect((await built({ 'a.ndjson': lines(record) }, { columns })).rows).toEqual(['2025-03-01,a/b,2'])
  })
})

it('give the time of a schema another unit than its own', async () => {
  const at = Date.parse(TIME)
  const attributes = { 'gen_ai.response.model': 'a/b', 'gen_ai.usage.input_tokens': 3 }
  const span = { traceId: '1', spanId: '1', at, attributes }
  const batch = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
  const columns = { startTimeUnixNano: { path: 'at', unit: 'ms' } }
  for (const [schema, record] of [
    ['otlp-batches', batch],
    ['otel-genai-spans', span],
  ])
    expect((await built({ 'a.ndjson': lines(record) }, { schema, columns })).rows).toEqual(['2025-03-01,a/b,3'])
  const result = { model: 'a/b', input_tokens: 3, output_tokens: 1 }
  const buckets = lines({ from: at, results: [result] }, { ...result, start_time: at / 1000 })
  const settings = { schema: 'openai-usage', columns: { 'data[].start_time': { path: 'data[].from', unit: 'ms' } } }
  expect((await built({ 'a.ndjson': buckets }, settings)).rows).toEqual(['2025-03-01,a/b,8'])
})

it('a condition of a schema asks the model that the source names', async () => {
  const call = { TimeGenerated: TIME, CorrelationId: '1', PromptTokens: 5, CompletionTokens: 1, PromptCachedTokens: 4 }
  const settings = { schema: 'azure-apim-llm-logs', model: 'claude-x' }
  expect((await built({ 'a.ndjson': lines(call) }, settings)).rows).toEqual(['2025-03-01,claude-x,10'])
})

it('a failure without a model and tokens is left out, and one with tokens is rejected', async () => {
  const call = {
    request_id: 'a',
    startTime: TIME,
    model: 'a/b',
    prompt_tokens: 3,
    completion_tokens: 1,
    total_tokens: 4,
  }
  const failed = { ...call, request_id: 'b', model: '', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const nameless = { ...call, request_id: 'c', model: '' }
  const files = { 'a.ndjson': lines(call, failed, nameless) }
  expect(await built(files, { schema: 'litellm-spend-logs' })).toEqual({
    rows: ['2025-03-01,a/b,4'],
    left_out: 1,
    rejected: { invalid_model: 1 },
  })
})

it('a bucket of a page without its results makes the page unreadable', async () => {
  const result = { model: 'a/b', input_tokens: 3, output_tokens: 1 }
  const page = {
    data: [
      { start_time: 1740823200, results: [result] },
      { start_time: 1740823200, error: 'timeout' },
    ],
  }
  const build = built({ 'a.ndjson': lines(page) }, { schema: 'openai-usage' })
  await expect(build).rejects.toThrow('unreadable_document')
})

describe('conditions of a source', () => {
  const record = { timestamp: TIME, model_permaslug: 'a/b', prompt_tokens: 1, completion_tokens: 1 }

  it('exclude records that do not fit, and count them', async () => {
    const records = [{ kind: 'llm' }, { kind: 'LLM' }, { kind: "o'tool" }, {}].map((more) => ({ ...record, ...more }))
    const { rows, left_out } = await built({ 'a.ndjson': lines(...records) }, { where: { kind: { in: ['llm'] } } })
    expect({ rows, left_out }).toEqual({ rows: ['2025-03-01,a/b,4'], left_out: 2 })
    const other = await built(
      { 'a.ndjson': lines(...records) },
      { where: { kind: [{ equal: "o'tool" }, { present: false }] } },
    )
    expect(other).toMatchObject({ rows: ['2025-03-01,a/b,4'], left_out: 2 })
    const not = await built({ 'a.ndjson': lines(...records) }, { where: { kind: { not: { equal: 'llm' } } } })
    expect(not).toMatchObject({ rows: ['2025-03-01,a/b,4'], left_out: 2 })
  })

  it('are alternatives in a list, and may ask how a text begins', async () => {
    const records = [{ a: "\u200b It's x" }, { b: 1, c: 2 }, { b: 1 }, { a: 5 }, {}].map((more) => ({
      ...record,
      ...more,
    }))
    const where = [{ a: { begins: "IT'S" } }, { b: { present: true }, c: { present: true } }]
    const found = await built({ 'a.ndjson': lines(...records) }, { where })
    expect(found).toMatchObject({ rows: ['2025-03-01,a/b,4'], left_out: 3 })
  })

  it('compare numbers as text, also with a fraction of 0, and words of any alphabet without regard to case', async () => {
    const records = [{ kind: 2 }, { kind: '2' }, { kind: '2.0' }, { kind: 'ΣΑΣ' }, { kind: 3 }].map((more) => ({
      ...record,
      ...more,
    }))
    const where = { kind: [{ equal: 2 }, { in: ['ΣΑΣ', 4] }] }
    const { rows, left_out } = await built({ 'a.ndjson': lines(...records) }, { where })
    expect({ rows, left_out }).toEqual({ rows: ['2025-03-01,a/b,8'], left_out: 1 })
  })
})

describe('records in lists', () => {
  const page = {
    id: 'page',
    data: [
      {
        start: 1740823200,
        results: [
          { m: 'a/b', i: 1, o: 2 },
          { m: 'a/c', i: 3, o: 4 },
        ],
      },
      { start: 1740909600, results: [{ m: 'a/b', i: 5, o: 6 }] },
      { start: 1740909600, results: [] },
    ],
  }
  const settings = {
    unnest: 'data[].results[]',
    columns: {
      timestamp: { path: 'data[].start', unit: 's' },
      model_permaslug: 'm',
      prompt_tokens: 'i',
      completion_tokens: 'o',
    },
  }
  const rows = ['2025-03-01,a/c,7', '2025-03-01,a/b,3', '2025-03-02,a/b,11']

  it('are read with what stands around them', async () => {
    expect(await built({ 'a.ndjson': lines(page) }, settings)).toMatchObject({ rows, left_out: 0 })
  })

  it('are read from a JSON document, compressed too', async () => {
    const files = { 'a.json': JSON.stringify(page, undefined, 2), 'b.json.gz': gzipSync('{"data": []}') }
    expect((await built(files, settings)).rows).toEqual(rows)
  })

  it('are excluded by what stands around them', async () => {
    const where = { 'data[].kind.name': { equal: 'x' } }
    const [first, ...others] = page.data
    const line = { data: [{ ...first, kind: { name: 'x' } }, ...others] }
    expect(await built({ 'a.ndjson': lines(line) }, { ...settings, where })).toMatchObject({
      rows: ['2025-03-01,a/c,7', '2025-03-01,a/b,3'],
      left_out: 1,
    })
  })

  it('reject a line that has no such list, and elements that are no records', async () => {
    const others = [
      { error: 'x' },
      { data: [{ result: [] }, 3, { results: {} }, { results: null }, { start: 1740823200, results: [7] }] },
    ]
    const text = `${lines(page, ...others)}{"data": [\n`
    const workspace = await newWorkspace()
    await writeInput(workspace, 'a.ndjson', text)
    const source = { name: 'own', schema: 'canonical', files: ['a.ndjson'], visibility: 'public', ...settings }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    const { records: counted } = await buildIn(workspace, undefined, {}, { accept: ['unreadable_document:a.ndjson'] })
    expect(counted.rejected).toEqual({ malformed_record: 1, unreadable_document: 5 })
    const records = (await Array.fromAsync(readRejects(workspace.dataDir))).map(({ record, content }) => [
      record,
      content,
    ])
    const [line, ...elements] = [others[0], { result: [] }, 3, { results: {} }, 7].map((value, index) => [
      index + 4,
      JSON.stringify(value),
    ])
    expect(records).toEqual([line, ...elements, [9, '{"data": [']])
  })

  it.each(['*', 'a"b', 'a\\b', 'a\nb', "it's$é"])('may be called %j', async (list) => {
    const record = { m: 'a/b', i: 1, o: 2, at: TIME }
    const document = { [list]: [record], other: [record] }
    const columns = { ...settings.columns, timestamp: 'at' }
    const { rows } = await built({ 'a.ndjson': lines(document) }, { unnest: `${list}[]`, columns })
    expect(rows).toEqual(['2025-03-01,a/b,3'])
  })

  it('are read from a long list without reading again what is around it for each', async () => {
    const records = Array.from({ length: 16_000 }, () => ({ m: 'a/b', i: 1, o: 2, pad: 'x'.repeat(400) }))
    const columns = { ...settings.columns, timestamp: '$.at' }
    const text = JSON.stringify({ at: TIME, data: records })
    expect((await built({ 'a.json': text }, { unnest: 'data[]', columns })).rows).toEqual(['2025-03-01,a/b,48000'])
  })

  it('may have keys around them that only a JSON pointer reaches', async () => {
    const document = { 'i.d': { at: TIME }, data: [{ m: 'a/b', i: 1, o: 2 }] }
    const columns = { ...settings.columns, timestamp: '$./i.d/at' }
    const { rows } = await built({ 'a.ndjson': lines(document) }, { unnest: 'data[]', columns })
    expect(rows).toEqual(['2025-03-01,a/b,3'])
  })
})

describe('JSON documents', () => {
  const record = { timestamp: TIME, model_permaslug: 'a/b', prompt_tokens: 1, completion_tokens: 1, note: '],[{"\\\n' }

  it.each([
    ['a list', JSON.stringify([record, record], undefined, 1)],
    ['one object after another', `${JSON.stringify(record, undefined, 2)}\n${JSON.stringify(record)}`],
    ['objects on one line', `${JSON.stringify(record)} ${JSON.stringify(record)}`],
    ['objects with nothing between them', JSON.stringify(record).repeat(2)],
  ])('are %s', async (_, text) => {
    expect((await built({ 'a.json': text }, {})).rows).toEqual(['2025-03-01,a/b,4'])
    expect((await built({ 'a.ndjson': text.startsWith('[') ? text : lines(record, record) }, {})).rows).toEqual([
      '2025-03-01,a/b,4',
    ])
  })

  it('number rejected records as they stand in the list', async () => {
    const workspace = await newWorkspace()
    const bad = { ...record, prompt_tokens: -1 }
    await writeInput(workspace, 'a.json', JSON.stringify([record, bad, record], undefined, 1))
    const source = { name: 'own', schema: 'canonical', files: ['a.json'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    await buildIn(workspace)
    const [reject, ...others] = await Array.fromAsync(readRejects(workspace.dataDir))
    expect([reject?.record, JSON.parse(reject?.content as string), others]).toEqual([2, bad, []])
  })

  it('name a file that is cut', async () => {
    const text = JSON.stringify([record]).slice(0, -3)
    await expect(built({ 'a.json': text }, {})).rejects.toThrow('a.json is cut: it ends within a value')
  })
})

describe('wrong paths of a source', () => {
  it.each([
    [{ columns: { timestamp: ['a', '+b'] } }, 'sources[0].columns.timestamp: cannot have these paths'],
    [
      { columns: { prompt_tokens: { path: 'a', unit: 's' } } },
      'sources[0].columns.prompt_tokens: cannot have these paths',
    ],
    [
      { columns: { prompt_tokens: 'data[].a' } },
      'sources[0].unnest: has no list data[], which the path data[].a is in',
    ],
    [{ unnest: '$.data[]' }, 'sources[0].unnest: must be a path of lists, such as data[] or data[].results[]'],
    [
      { columns: { timestamp: { path: 'a', unit: 's' } }, base_time: TIME },
      'sources[0].base_time: has no effect on a timestamp that has a unit of its own; remove it',
    ],
    [{ columns: { timestamp: 5 } }, 'columns.timestamp: must be a name, a path, a list of paths, or a time such as'],
    [{ where: { kind: 'x' } }, 'where.kind: must be one condition or a list of them: {"equal": "ok"}'],
    [
      { where: { 'attributes[gen*]': { equal: 'x' } } },
      'where.attributes[gen*]: ends with a star, so only "present" can be asked',
    ],
    [{ unnest: 'data' }, 'sources[0].unnest: must be a path of lists, such as data[] or data[].results[]'],
    [
      { schema: 'langfuse-observations', columns: { usage_details: 'u.d' } },
      'columns.usage_details: can only be renamed',
    ],
  ])('%j: %s', async (settings, message) => {
    await expect(built({ 'a.ndjson': '' }, settings)).rejects.toThrow(message)
  })

  it('are named where no record has them', async () => {
    const columns = { ...COLUMNS, prompt_tokens: ['usage.inptu', '+usage.cache.read'] }
    const message = 'source "own": no record has "usage.inptu"; map'
    await expect(built({ 'a.ndjson': lines(NESTED) }, { columns })).rejects.toThrow(message)
    const pointed = { ...COLUMNS, prompt_tokens: '/usage/in.put' }
    const noPointed = 'source "own": no record has "/usage/in.put"; map'
    await expect(built({ 'a.ndjson': lines(NESTED) }, { columns: pointed })).rejects.toThrow(noPointed)
    const call = { schemaType: 'ModelInvocationLog', timestamp: TIME, modelId: 'a/b', input: {}, output: {} }
    const noCount = 'source "own": no record has "in.inputTokenCount" or "output.outputTokenCount"; map'
    const settings = { schema: 'bedrock-invocations', columns: { input: 'in' } }
    await expect(built({ 'a.ndjson': lines({ ...call, in: {} }) }, settings)).rejects.toThrow(noCount)
  })

  it.each([
    [{ where: { kind: { equal: 'x' } } }, 'a.csv has no column "kind", which source "own" reads. It has: '],
    [{ columns: { prompt_tokens: ['prompt_tokens', '+cached'] } }, 'a.csv has no column "cached"'],
    [{ columns: { request_id: 'info.id' } }, 'a.csv has no column "info.id" or "info"'],
  ])('are named where a file lacks the column: %j', async (settings, message) => {
    const csv = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'
    await expect(built({ 'a.csv': csv }, settings)).rejects.toThrow(message)
  })
})
