/** Pages and batches: what holds no records stops the build, and a last page that is not the last one is told of. */
import { describe, expect, it } from 'vitest'
import { BlockedError } from '../../pipeline/base/errors.ts'
import type { BuildOptions } from '../../pipeline/build.ts'
import { atMinute } from '../support/gateway.ts'
import {
  buildIn,
  publishedCsv,
  rowsOf,
  type Workspace,
  workspaceOf as workspaceWith,
  writeInput,
} from '../support/pipeline.ts'
import { compress } from '../support/records.ts'

const TIME = '2025-03-02T12:00:00Z'

const observation = (id: string) => ({
  ...{ id, type: 'GENERATION', startTime: TIME, model: 'a/b' },
  usageDetails: { input: 2, output: 1, total: 3 },
})
const pageOf = (id: string, more: object = {}) => JSON.stringify({ data: [observation(id)], ...more })

const ATTRIBUTES = [
  ['gen_ai.response.model', { stringValue: 'a/b' }],
  ['gen_ai.usage.input_tokens', { intValue: '2' }],
  ['gen_ai.usage.output_tokens', { intValue: '1' }],
].map(([key, value]) => ({ key, value }))
const batchOf = (spanId: string) => {
  const time = `${BigInt(Date.parse(TIME)) * 1_000_000n}`
  const span = { traceId: 't', spanId, startTimeUnixNano: time, endTimeUnixNano: time, attributes: ATTRIBUTES }
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
}

function workspaceOf(schema: string, files: Record<string, string>): Promise<Workspace> {
  const contents = Object.entries(files).map(([name, content]) => [name, compress(name, content)] as const)
  return workspaceWith(Object.fromEntries(contents), { schema, files: ['*/*'] })
}

let minute = 0

async function built(workspace: Workspace, options: BuildOptions = {}) {
  const notices: string[] = []
  const report = (event: { kind: string; message?: string }) => {
    if (event.kind === 'notice' && event.message?.startsWith('source "s": the last')) notices.push(event.message)
  }
  const { records, warnings } = await buildIn(workspace, atMinute(minute++), { report }, options)
  return { rows: rowsOf(await publishedCsv(workspace)), rejected: records.rejected, notices, warnings }
}

/** The files with unreadable documents for which a build stops. */
async function refused(workspace: Workspace, options: BuildOptions = {}): Promise<string[]> {
  const error: unknown = await built(workspace, options).catch((reason: unknown) => reason)
  if (!(error instanceof BlockedError)) throw error
  expect(error.checks).toEqual(['unreadable_document'])
  return [...error.message.matchAll(/^ {2}source "s": (.*)$/gm)].map(([, file = '']) => file)
}

describe('a document without records', () => {
  const good = { 'p/good.json': pageOf('1'), 'p/empty-list.json': '{"data": []}', 'p/no-pages.json': '[]' }

  it('stops the build until it is accepted by its file', async () => {
    const broken = {
      'p/bracket.json': `${pageOf('4')}]`,
      'p/cut.json': pageOf('4').slice(0, -9),
      'p/error-as-list.json': '{"data": {"error": "rate limited"}}',
      'p/error.json': '{"error": {"message": "rate limited"}}',
      "p/it's nothing.json": '',
      'p/line.jsonl': `${pageOf('2')}\n{"data"\n${pageOf('3')}\n`,
      'p/null-as-list.json': '{"data": null}',
      'p/null.json': 'null',
      'p/text.json': 'Too Many Requests',
    }
    const workspace = await workspaceOf('langfuse-api', { ...good, ...broken })
    expect(await refused(workspace)).toEqual(Object.keys(broken).map((file) => `${file}, 1`))
    const [first = '', ...others] = Object.keys(broken).map((file) => `unreadable_document:${file}`)
    expect(await refused(workspace, { accept: others })).toEqual(['p/bracket.json, 1'])
    const { rows, rejected, warnings } = await built(workspace, { accept: [first, ...others] })
    expect([rows, rejected]).toEqual([['2025-03-02 a/b 9'], { unreadable_document: 9 }])
    expect(warnings.map(({ check }) => check)).toEqual(others.concat(first).map(() => 'unreadable_document'))
    const more = { 'p/more.json': pageOf('5'), 'p/text.json': 'Too Many Requests\nRetry later' }
    for (const [name, content] of Object.entries(more)) await writeInput(workspace, name, content)
    expect(await refused(workspace)).toEqual(['p/text.json, 2'])
    await expect(built(workspace, { accept: ['unreadable_document'] })).rejects.toThrow('as unreadable_document:FILE')
  })

  const bucket = { object: 'bucket', start_time: 1740873600, end_time: 1740960000 }
  const results = [{ object: 'organization.usage.completions.result', model: 'a/b', input_tokens: 3 }]
  const report = { starting_at: '2025-03-02T00:00:00Z', ending_at: '2025-03-03T00:00:00Z' }
  const attempt = { timestamp: TIME, id: '1', model: 'a/b', prompt_tokens: 3, completion_tokens: 0 }
  const activity = {
    ...{ date: '2025-03-02', model_permaslug: 'a/b', endpoint_id: 'e' },
    prompt_tokens: 3,
    completion_tokens: 0,
  }
  it.each<[string, object, object]>([
    ['bifrost-logs', attempt, { timestamp: TIME, status: 500, error: 'Internal Server Error' }],
    ['openrouter-activity-api', activity, { date: '2025-03-02', error: { code: 500 } }],
    ['openai-usage', { ...bucket, results }, bucket],
    ['openai-usage', { ...bucket, results }, { ...bucket, model: 'a/b', input_tokens: 3, results: 'error' }],
    ['anthropic-usage', { ...report, results: [{ model: 'a/b', uncached_input_tokens: 3, output_tokens: 0 }] }, report],
  ])(
    'is a line with a time, but neither a model nor a count, or with a broken list: %s (%#)',
    async (schema, good, bad) => {
      const text = [good, bad].map((line) => `${JSON.stringify(line)}\n`).join('')
      expect(await refused(await workspaceOf(schema, { 'p/a.jsonl': text }))).toEqual(['p/a.jsonl, 1'])
    },
  )

  it('is a line or a batch of OTLP too, but no last line that is cut, of which every build tells', async () => {
    const cut = [batchOf('1'), batchOf('2'), batchOf('3').slice(0, 90)].join('\n')
    const workspace = await workspaceOf('otlp-batches', { 'a/a.jsonl': cut, 'a/b.jsonl.gz': cut, 'a/c.json': '' })
    for (const _ of ['new', 'known']) {
      const { rows, notices } = await built(workspace)
      expect([rows, notices]).toEqual([
        ['2025-03-02 a/b 6'],
        [
          'source "s": the last line is not read, for it has no line end: it is cut, or still being written: a/a.jsonl, a/b.jsonl.gz',
        ],
      ])
    }
    await writeInput(workspace, 'a/a.jsonl', `${batchOf('4')}\n{\n${cut}`)
    await writeInput(workspace, 'a/error.jsonl', `${batchOf('5')}\n{"error": "x"}`)
    await writeInput(workspace, 'a/inner.jsonl', '{"resourceSpans": [{"scopeSpans": {"error": "x"}}]}\n')
    expect(await refused(workspace)).toEqual(['a/a.jsonl, 1', 'a/error.jsonl, 1', 'a/inner.jsonl, 1'])
  })
})

describe('the last page of a folder', () => {
  const kinds = {
    flag: [{ has_more: true }, { has_more: false }],
    name: [{ next_page: 'x' }, { next_page: null }],
    next: [{ next_cursor: 'x' }, { next_cursor: null }],
    number: [{ meta: { page: 1, totalPages: 2 } }, { meta: { page: 2, totalPages: 2 } }],
    cursor: [{ cursors: { next: 'x' } }, { cursors: { next: null } }],
    'cursor-in-meta': [{ meta: { cursor: 'x' } }, { meta: {} }],
  }
  const record = { ...observation('own'), metadata: { has_more: true, cursors: { next: 'x' } } }

  it('is told of while it says that more pages follow', async () => {
    const own = JSON.stringify({ data: [record] })
    const pages = Object.entries(kinds).flatMap(([kind, [first]]) => [[`${kind}/page-9.json`, pageOf(kind, first)]])
    const workspace = await workspaceOf('langfuse-api', { ...Object.fromEntries(pages), 'own/page.json': own })
    const names = Object.keys(kinds).map((kind) => `${kind}/page-9.json`)
    const { notices } = await built(workspace)
    expect(notices).toEqual([
      `source "s": the last page says that more pages follow (has_more, next_page, totalPages or cursors); fetch them too: ${names.toSorted().join(', ')}`,
    ])
    const order = ['flag', 'name', 'next'] as const
    for (const kind of order)
      await writeInput(workspace, `${kind}/page-10.json`, `${pageOf(`${kind} 10`, kinds[kind][1])}\n`)
    const [first, last] = kinds.number.map((more, index) => pageOf(`number ${index}`, more))
    await writeInput(workspace, 'number/page-9.json', `[${first},\n${last}\n]\n`)
    await writeInput(workspace, 'cursor/page-10.jsonl', `${last}\n${pageOf('cursor 10', kinds.cursor[0])}\n\n`)
    expect((await built(workspace)).notices).toEqual([
      expect.stringMatching(/: cursor-in-meta\/page-9\.json, cursor\/page-10\.jsonl$/),
    ])
  })
})
