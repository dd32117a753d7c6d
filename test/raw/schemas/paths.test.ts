/** What a source says of its files beside names: paths, sums, conditions, lists of records, units of time. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
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

  it('reject a line that has no such list', async () => {
    const { rejected } = await built({ 'a.ndjson': lines(page, { error: 'x' }) }, settings)
    expect(rejected).toEqual({ malformed_record: 1 })
  })
})

describe('JSON documents', () => {
  const record = { timestamp: TIME, model_permaslug: 'a/b', prompt_tokens: 1, completion_tokens: 1, note: '],[{"\\\n' }

  it.each([
    ['a list', JSON.stringify([record, record], undefined, 1)],
    ['one object after another', `${JSON.stringify(record, undefined, 2)}\n${JSON.stringify(record)}`],
  ])('are %s', async (_, text) => {
    expect((await built({ 'a.json': text }, {})).rows).toEqual(['2025-03-01,a/b,4'])
    expect((await built({ 'a.ndjson': text.startsWith('[') ? text : lines(record, record) }, {})).rows).toEqual([
      '2025-03-01,a/b,4',
    ])
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
    [{ unnest: 'data' }, 'sources[0].unnest: must be a path of lists, such as data[] or data[].results[]'],
    [
      { schema: 'langfuse-observations', columns: { usage_details: 'u.d' } },
      'columns.usage_details: can only be renamed',
    ],
  ])('%j: %s', async (settings, message) => {
    await expect(built({ 'a.ndjson': '' }, settings)).rejects.toThrow(message)
  })

  it('are named where a file lacks the column', async () => {
    const built_ = built(
      { 'a.csv': 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n' },
      { where: { kind: { equal: 'x' } } },
    )
    await expect(built_).rejects.toThrow('a.csv has no column "kind"')
  })
})
