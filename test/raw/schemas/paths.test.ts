/** What a source says of its files beside names: paths, sums, conditions, lists of records, units of time. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { readRejects } from '../../../pipeline/rollup/list-rejects.ts'
import {
  acceptSameRequests,
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  rowsOf,
  workspaceOf,
  writeInput,
} from '../../support/pipeline.ts'

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

const build = async (files: Record<string, string>, settings: object) =>
  buildIn(await workspaceOf(files, { name: 'own', ...settings }, { max_rejected_share: 1 }))

const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

const RECORD = { timestamp: TIME, model_permaslug: 'a/b', prompt_tokens: 1, completion_tokens: 1 }
/** Records of one request of 2 tokens each, with other members. */
const having = (...members: object[]) => members.map((more) => ({ ...RECORD, ...more }))
const ATTRIBUTES = { 'gen_ai.response.model': 'a/b', 'gen_ai.usage.input_tokens': 3 }
const AT_MS = { traceId: '1', spanId: '1', at: Date.parse(TIME), attributes: ATTRIBUTES }
const RESULT = { model: 'a/b', input_tokens: 3, output_tokens: 1 }
const CALL = { startTime: TIME, model: 'a/b', prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
const NO_TOKENS = { model: '', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

const PAGE = {
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
const SHORT = { model_permaslug: 'm', prompt_tokens: 'i', completion_tokens: 'o' }
const IN_LISTS = { unnest: 'data[].results[]', columns: { ...SHORT, timestamp: { path: 'data[].start', unit: 's' } } }
const PAGE_ROWS = ['2025-03-01 a/b 3', '2025-03-01 a/c 7', '2025-03-02 a/b 11']
const NOTED = { ...RECORD, note: '],[{"\\\n' }

/** A source, what its files hold, and what a build counts of it. */
interface Case {
  what: string
  files: Record<string, string | Uint8Array | readonly unknown[]>
  settings?: object
  /** Tokens of model a/b on the first date, or all rows. */
  counts: number | string[]
  left_out?: number
  rejected?: object
}

const CASES: Case[] = [
  // Paths. `mappings.test.ts` has random ones, with sums, alternatives and conditions.
  {
    what: 'paths are names of columns first, even with dots, brackets and quotes',
    files: { csv: `timestamp,"info.model",in[x],it's\n${TIME},a/b,3,4\n` },
    settings: { columns: { model_permaslug: 'info.model', prompt_tokens: 'in[x]', completion_tokens: "it's" } },
    counts: 7,
  },
  {
    what: 'paths are names of columns first in sums, alternatives and conditions too',
    files: { csv: `timestamp,model_permaslug,u.in,u.cache,completion_tokens,k.d\n${TIME},a/b,3,4,5,x\n` },
    settings: { columns: { prompt_tokens: ['tokens.in', 'u.in', '+u.cache'] }, where: { 'k.d': { equal: 'X' } } },
    counts: 12,
  },
  {
    what: 'paths name columns as the files do, even where the schema calls others so',
    files: { ndjson: [{ ...RECORD, model_permaslug: 'x', group: 'a/b' }] },
    settings: { columns: { model_permaslug: 'group' }, where: { model_permaslug: { equal: 'x' } } },
    counts: 2,
  },
  {
    what: 'paths lead to a time that counts from base_time',
    files: { ndjson: [{ ...NESTED, info: { ...NESTED.info, at: 5 } }] },
    settings: { columns: { ...COLUMNS, timestamp: 'info.at' }, base_time: TIME, time_unit: 'seconds' },
    counts: 12,
  },
  {
    what: 'paths reach keys with dots and quotes by a JSON pointer',
    files: { ndjson: having({ u: { "in'.x": 3 } }) },
    settings: { columns: { prompt_tokens: "/u/in'.x" } },
    counts: 4,
  },
  ...Object.entries({
    s: 1740823200,
    ms: 1740823200000,
    us: '1740823200000000',
    ns: '1740823200000000000',
    day: '2025-03-01',
  }).map(([unit, at]) => ({
    what: `paths give Unix time in ${unit}`,
    files: { ndjson: having({ at }) },
    settings: { columns: { timestamp: { path: 'at', unit } } },
    counts: 2,
  })),
  {
    what: 'a failure without a model and tokens is left out, and one with tokens is rejected',
    files: {
      ndjson: [{}, NO_TOKENS, { model: '' }].map((more, id) => ({ request_id: `failure-${id}`, ...CALL, ...more })),
    },
    settings: { schema: 'litellm-spend-logs' },
    counts: 4,
    left_out: 1,
    rejected: { invalid_model: 1 },
  },
  {
    what: 'conditions are alternatives in a list, and may ask how a text begins',
    files: { ndjson: having({ a: "\u200b It's x" }, { b: 1, c: 2 }, { b: 1 }, { a: 5 }, {}) },
    settings: { where: [{ a: { begins: "IT'S" } }, { b: { present: true }, c: { present: true } }] },
    counts: 4,
    left_out: 3,
  },
  {
    what: 'conditions compare numbers as text, also with a fraction of 0, and words without regard to case',
    files: { ndjson: having({ kind: 2 }, { kind: '2' }, { kind: '2.0' }, { kind: 'ΣΑΣ' }, { kind: 3 }) },
    settings: { where: { kind: [{ equal: 2 }, { in: ['ΣΑΣ', 4] }] } },
    counts: 8,
    left_out: 1,
  },
  {
    what: 'records in lists are read with what stands around them',
    files: { ndjson: [PAGE] },
    settings: IN_LISTS,
    counts: PAGE_ROWS,
  },
  {
    what: 'records in lists are read from a JSON document, compressed too',
    files: { json: JSON.stringify(PAGE, undefined, 2), 'json.gz': gzipSync('{"data": []}') },
    settings: IN_LISTS,
    counts: PAGE_ROWS,
  },
  {
    what: 'records in lists are left out by what stands around them',
    files: { ndjson: [{ data: PAGE.data.with(0, { ...PAGE.data[0], kind: { name: 'x' } } as never) }] },
    settings: { ...IN_LISTS, where: { 'data[].kind.name': { equal: 'x' } } },
    counts: PAGE_ROWS.slice(0, 2),
    left_out: 1,
  },
  ...['*', 'a"b', 'a\\b', 'a\nb', "it's$é"].map((list) => ({
    what: `records in a list may be called ${JSON.stringify(list)}`,
    files: { ndjson: [{ [list]: [{ m: 'a/b', i: 1, o: 2, at: TIME }], other: [{ m: 'a/b', i: 1, o: 2, at: TIME }] }] },
    settings: { unnest: `${list}[]`, columns: { ...SHORT, timestamp: 'at' } },
    counts: 3,
  })),
  {
    what: 'records in a long list are read without reading again what is around it for each',
    files: {
      json: JSON.stringify({
        at: TIME,
        data: Array.from({ length: 16_000 }, () => ({ m: 'a/b', i: 1, o: 2, pad: 'x'.repeat(400) })),
      }),
    },
    settings: { unnest: 'data[]', columns: { ...SHORT, timestamp: '$.at' } },
    counts: 48000,
  },
  {
    what: 'records in lists may have keys around them that only a JSON pointer reaches',
    files: { ndjson: [{ 'i.d': { at: TIME }, data: [{ m: 'a/b', i: 1, o: 2 }] }] },
    settings: { unnest: 'data[]', columns: { ...SHORT, timestamp: '$./i.d/at' } },
    counts: 3,
  },
  ...Object.entries({
    'a list': JSON.stringify([NOTED, NOTED], undefined, 1),
    'one object after another': `${JSON.stringify(NOTED, undefined, 2)}\n${JSON.stringify(NOTED)}`,
    'objects on one line': `${JSON.stringify(NOTED)} ${JSON.stringify(NOTED)}`,
    'objects with nothing between them': JSON.stringify(NOTED).repeat(2),
  }).map(([what, json]) => ({ what: `JSON documents are ${what}`, files: { json }, counts: 4 })),
  { what: 'a list may be called NDJSON', files: { ndjson: JSON.stringify([NOTED, NOTED], undefined, 1) }, counts: 4 },
]

describe('one build of many sources', () => {
  /** What is counted of each source, by its name. */
  const found = new Map<string, Pick<Case, 'counts' | 'left_out' | 'rejected'>>()
  /** A text whose models tell the sources apart. */
  const own = (text: string, index: number) => text.replaceAll(/\ba\/([bc])\b/g, `${index}/$1`)

  beforeAll(async () => {
    const workspace = await createWorkspace()
    const sources = CASES.map(({ files, settings }, index) => {
      const names = Object.keys(files).map((ending) => `${index}.${ending}`)
      return { name: `s${index}`, schema: 'canonical', files: names, visibility: 'public', ...settings }
    })
    for (const [index, { files }] of CASES.entries()) {
      for (const [ending, content] of Object.entries(files)) {
        const text = Array.isArray(content) ? lines(...content) : content
        await writeInput(workspace, `${index}.${ending}`, typeof text === 'string' ? own(text, index) : text)
      }
    }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources })
    await acceptSameRequests(
      workspace,
      sources.map(({ name }) => name),
    )
    await buildIn(workspace, undefined, {}, { accept: ['uncounted_source'] })
    const rows = rowsOf(await publishedCsv(workspace))
    const quality = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    type Counted = { source: string; reason: string; records: number }
    const isLeftOut = ({ reason }: Counted) => reason === 'left_out' || reason === 'nothing_used'
    for (const [index] of CASES.entries()) {
      const ofSource = (list: Counted[]) => list.filter(({ source }) => source === `s${index}`)
      const [aside, rejected] = [ofSource(quality.set_aside), ofSource(quality.rejected_in_files)]
      found.set(`s${index}`, {
        counts: rows.filter((row) => row.includes(` ${index}/`)).sort(),
        left_out: aside.filter(isLeftOut).reduce((sum, { records }) => sum + records, 0),
        rejected: Object.fromEntries(rejected.map(({ reason, records }) => [reason, records])),
      })
    }
    return () => removeWorkspace(workspace)
  })

  it.each(CASES.map((each, index) => [each.what, each, index] as const))('%s', (_, each, index) => {
    const { counts, left_out = 0, rejected = {} } = each
    const rows = typeof counts === 'number' ? [`2025-03-01 a/b ${counts}`] : counts
    expect(found.get(`s${index}`)).toEqual({ counts: rows.map((row) => own(row, index)), left_out, rejected })
  })
})

it.each([
  ['otlp-batches', { resourceSpans: [{ scopeSpans: [{ spans: [AT_MS] }] }] }, 'startTimeUnixNano', 'at', 3],
  ['otel-genai-spans', AT_MS, 'startTimeUnixNano', 'at', 3],
  ['openai-usage', { from: AT_MS.at, results: [RESULT] }, 'data[].start_time', 'data[].from', 8],
])('paths give the time of %s another unit', async (schema, record, column, path, tokens) => {
  const single = { ...RESULT, start_time: AT_MS.at / 1000 }
  const text = lines(...(schema === 'openai-usage' ? [record, single] : [record]))
  const workspace = await workspaceOf({ 'a.ndjson': text }, { schema, columns: { [column]: { path, unit: 'ms' } } })
  await buildIn(workspace, undefined, {}, { accept: ['uncounted_source'] })
  expect(rowsOf(await publishedCsv(workspace))).toEqual([`2025-03-01 a/b ${tokens}`])
})

it('a condition of a schema asks the model that the source names', async () => {
  const call = { TimeGenerated: TIME, CorrelationId: '1', PromptTokens: 5, CompletionTokens: 1, PromptCachedTokens: 4 }
  const settings = { schema: 'azure-apim-llm-logs', model: 'claude-x' }
  const workspace = await workspaceOf({ 'a.ndjson': lines(call) }, settings)
  await buildIn(workspace)
  expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-01 claude-x 10'])
})

it('a bucket of a page without its results makes the page unreadable', async () => {
  const page = {
    data: [
      { start_time: 1740823200, results: [RESULT] },
      { start_time: 1740823200, error: 'timeout' },
    ],
  }
  await expect(build({ 'a.ndjson': lines(page) }, { schema: 'openai-usage' })).rejects.toThrow('unreadable_document')
})

it('a line without the list of records is rejected, and elements that are no records', async () => {
  const others = [
    { error: 'x' },
    { data: [{ result: [] }, 3, { results: {} }, { results: null }, { start: 1740823200, results: [7] }] },
  ]
  const text = `${lines(PAGE, ...others)}{"data": [\n`
  const workspace = await workspaceOf({ 'a.ndjson': text }, IN_LISTS, { max_rejected_share: 1 })
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

describe('JSON documents', () => {
  it('number rejected records as they stand in the list', async () => {
    const bad = { ...NOTED, prompt_tokens: -1 }
    const text = JSON.stringify([NOTED, bad, NOTED], undefined, 1)
    const workspace = await workspaceOf({ 'a.json': text }, {}, { max_rejected_share: 1 })
    await buildIn(workspace)
    const [reject, ...others] = await Array.fromAsync(readRejects(workspace.dataDir))
    expect([reject?.record, JSON.parse(reject?.content as string), others]).toEqual([2, bad, []])
  })

  it('name a file that is cut', async () => {
    const text = JSON.stringify([NOTED]).slice(0, -3)
    await expect(build({ 'a.json': text }, {})).rejects.toThrow('a.json is cut: it ends within a value')
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
    await expect(build({ 'a.ndjson': '' }, settings)).rejects.toThrow(message)
  })

  it('are named where no record has them', async () => {
    const columns = { ...COLUMNS, prompt_tokens: ['usage.inptu', '+usage.cache.read'] }
    const message = 'source "own": no record has "usage.inptu"; map'
    await expect(build({ 'a.ndjson': lines(NESTED) }, { columns })).rejects.toThrow(message)
    const pointed = { ...COLUMNS, prompt_tokens: '/usage/in.put' }
    const noPointed = 'source "own": no record has "/usage/in.put"; map'
    await expect(build({ 'a.ndjson': lines(NESTED) }, { columns: pointed })).rejects.toThrow(noPointed)
    const call = { schemaType: 'ModelInvocationLog', timestamp: TIME, modelId: 'a/b', input: {}, output: {} }
    const noCount = 'source "own": no record has "in.inputTokenCount" or "output.outputTokenCount"; map'
    const settings = { schema: 'bedrock-invocations', columns: { input: 'in' } }
    await expect(build({ 'a.ndjson': lines({ ...call, in: {} }) }, settings)).rejects.toThrow(noCount)
  })

  it.each([
    [{ where: { kind: { equal: 'x' } } }, 'a.csv has no column "kind", which source "own" reads. It has: '],
    [{ columns: { prompt_tokens: ['prompt_tokens', '+cached'] } }, 'a.csv has no column "cached"'],
    [{ columns: { request_id: 'info.id' } }, 'a.csv has no column "info.id" or "info"'],
  ])('are named where a file lacks the column: %j', async (settings, message) => {
    const csv = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'
    await expect(build({ 'a.csv': csv }, settings)).rejects.toThrow(message)
  })
})
