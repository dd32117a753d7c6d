/** What a build reports about how it read a source: tokens it added, keys it ignored, records without ids. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  buildAndListen,
  buildIn,
  newWorkspace,
  releaseFolder,
  runBuild,
  type Workspace,
  writeInput,
} from '../../support/pipeline.ts'
import { type LogRecord, RECORDS, toLines } from '../../support/schemas.ts'

const AS_OF = '2026-06-10T12:00:00Z'
const LATER = '2026-06-10T13:00:00Z'

const ROW = { ...RECORDS['helicone-requests'], request_created_at: '2026-06-01T12:00:00Z', provider: 'OPENAI' }
const LOG = { ...RECORDS['portkey-logs'], created_at: '2026-06-01T12:00:00Z' }
const { id: _, ...LOG_WITHOUT_ID } = LOG

function observation(id: string, usage_details: LogRecord): LogRecord {
  return { ...RECORDS['langfuse-observations'], id, start_time: '2026-06-01 12:00:00', usage_details }
}

/** A source of each schema, called like it, whose files are in a folder of that name. */
async function workspaceOf(logs: Record<string, LogRecord[]>, top: LogRecord = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [schema, records] of Object.entries(logs)) {
    await writeInput(workspace, `${schema}/a.ndjson`, toLines(records))
  }
  const sources = Object.keys(logs).map((schema) => {
    return { name: schema, schema, files: [`${schema}/*.ndjson`], visibility: 'public' }
  })
  await writeInput(workspace, 'sources.json', { sources, ...top })
  return workspace
}

async function buildOutput(workspace: Workspace, asOf: string): Promise<{ stderr: string; stdout: string }> {
  const { code, stderr, stdout } = await runBuild(workspace, { AS_OF: asOf }, ['--json'])
  expect(code, stderr).toBe(0)
  return { stderr, stdout }
}

async function notesOf({ dataDir }: Workspace): Promise<unknown[]> {
  return JSON.parse(await readFile(join(dataDir, 'state/quality.json'), 'utf8')).reading_notes
}

it('reports what was added to counts, which keys were ignored, and records without ids, also if no file is read again', async () => {
  const version = { ...ROW, request_id: 'version', prompt_cache_read_tokens: 150 }
  const long = Array.from('abcdefghijklmno', (letter) => [`some_unknown_key_number_${letter}`, 1])
  const workspace = await workspaceOf({
    'helicone-requests': [
      { ...ROW, request_id: '1', prompt_cache_read_tokens: 400 },
      { ...version, updated_at: '2026-06-01T12:01:00Z' },
      { ...version, updated_at: '2026-06-01T12:02:00Z' },
      { ...ROW, request_id: '2', provider: 'ANTHROPIC', reasoning_tokens: 20 },
      { ...ROW, request_id: '3', request_created_at: '2025-09-07T12:00:00Z', prompt_cache_read_tokens: 7 },
      { ...ROW, request_id: '4' },
    ],
    'langfuse-observations': [
      observation('1', { input: 1, output: 1, secret_widgets: 3 }),
      observation('2', { input: 1, output: 1, images: 3, secret_widgets: 3 }),
      observation('3', { input: 1, output: 1 }),
      observation('4', { input: 1, output: 1, ...Object.fromEntries(long) }),
    ],
    'portkey-logs': [LOG_WITHOUT_ID, LOG],
  })
  const lines = [
    'source "helicone-requests": 720 tokens of 4 records (duplicates included) were added to prompt_tokens and ' +
      'completion_tokens, which do not include them ("outside_from"): "openai" 700, "anthropic" 20\n',
    'source "helicone-requests": 7 tokens of 1 record (duplicates included) were not added to prompt_tokens and ' +
      'completion_tokens, which include them before the date in "outside_from": "openai" 7\n',
    'source "langfuse-observations": 3 records have usage keys that do not count tokens; they were ignored: "images", ' +
      `"secret_widgets", ${Array.from('abcdefgh', (letter) => `"some_unknown_key_number_${letter}"`).join(', ')} and more\n`,
    '  no ids    "portkey-logs": 1 of 2 records have no request_id; one that is delivered twice counts twice\n',
  ]
  for (const [asOf, outcome] of [
    [AS_OF, 'released'],
    [LATER, 'unchanged'],
  ] as const) {
    const { stderr, stdout } = await buildOutput(workspace, asOf)
    for (const line of lines) expect(stderr).toContain(line)
    expect(JSON.parse(stdout)).toMatchObject({
      outcome,
      sources_without_request_id: [{ source: 'portkey-logs', records: 1, accepted_records: 2 }],
    })
  }
  expect(await readFile(join(await releaseFolder(workspace), 'quality.json'), 'utf8')).not.toContain('widgets')
})

it('keeps the notes of files that are not read again, and drops those of replaced files', async () => {
  const workspace = await workspaceOf({
    'helicone-requests': [{ ...ROW, request_id: '1', prompt_cache_read_tokens: 400 }],
  })
  const replace = (tokens: number) => {
    const row = { ...ROW, request_id: '2', prompt_cache_read_tokens: tokens }
    return writeInput(workspace, 'helicone-requests/b.ndjson', toLines([row]))
  }
  for (const [tokens, asOf] of [
    [30, AS_OF],
    [31, LATER],
  ] as const) {
    await replace(tokens)
    await buildIn(workspace, asOf)
    expect(await notesOf(workspace)).toEqual([
      { source: 'helicone-requests', kind: 'outside_added', name: 'openai', records: 2, tokens: `${400 + tokens}` },
    ])
  }
})

describe('ignored keys of Langfuse', () => {
  const withKeys = (count: number, prefix: string) => {
    const names = Array.from({ length: count }, (__, index) => `${prefix}${String.fromCharCode(97 + index)}`)
    return { input: 100, output: 50, ...Object.fromEntries(names.map((name) => [name, 1])) }
  }

  it('are each shortened, and so is their list', async () => {
    const odd = '\\"\n\u{1F600}'.repeat(20)
    const workspace = await workspaceOf({ 'langfuse-observations': [observation('1', withKeys(26, odd))] })
    expect((await buildOutput(workspace, AS_OF)).stderr).toContain(`ignored: ${JSON.stringify(odd.slice(0, 75))}\n`)
  })
})

describe('a source without ids', () => {
  it('is reported, but not if only rejected records have none', async () => {
    const workspace = await workspaceOf({ 'portkey-logs': [LOG_WITHOUT_ID] }, { max_rejected_share: 1 })
    const { stderr, stdout } = await buildOutput(workspace, AS_OF)
    expect(stderr).toContain(
      '  no ids    "portkey-logs": no record has a request_id; one that is delivered twice counts twice\n',
    )
    expect(JSON.parse(stdout).sources_without_request_id).toMatchObject([{ records: 1, accepted_records: 1 }])
    const misdated = { ...LOG_WITHOUT_ID, created_at: '2031-01-01' }
    await writeInput(workspace, 'portkey-logs/a.ndjson', toLines([misdated, LOG]))
    expect((await buildIn(workspace, LATER)).sources_without_request_id).toEqual([])
  })
})

describe('paths of a source that are in none of its records', () => {
  const CALL = { at: '2026-06-01T12:00:00Z', model: 'gpt-4o', usage: { input: 1, output: 2, cache: { read: 3 } } }
  const COLUMNS = {
    timestamp: 'at',
    model_permaslug: ['model', 'old.model'],
    prompt_tokens: ['usage.input', '+usage.cahce.read', '+usage.cache.read'],
    completion_tokens: 'usage.output',
    cost_usd: 'price',
  }

  async function noticesOf(columns: LogRecord, where: LogRecord, ...files: LogRecord[][]): Promise<string[]> {
    const workspace = await newWorkspace()
    for (const [index, records] of files.entries()) await writeInput(workspace, `${index}.ndjson`, toLines(records))
    const source = { name: 'calls', schema: 'canonical', files: ['*.ndjson'], visibility: 'public', columns, where }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    return (await buildAndListen(workspace, AS_OF)).notices
  }

  it('are named, unless a record of any file has them, or an alternative, or they may be missing', async () => {
    const where = { 'kind.of': { not: { equal: 'test' } }, error: { present: false } }
    const without = { ...CALL, usage: { input: 1, output: 2 } }
    expect(await noticesOf(COLUMNS, where, [without, without], [CALL])).toEqual([
      'source "calls": "+usage.cahce.read" is in no record of its 3; check the spelling; "kind.of" is in no record of its 3; ' +
        'check the spelling; "price" is in no record of its 3; check the spelling',
    ])
    const columns = { ...COLUMNS, prompt_tokens: 'usage.input', cost_usd: 'model' }
    expect(await noticesOf(columns, {}, [CALL])).toEqual([])
  })
})

it('names buckets that end after the day on which they begin', async () => {
  const page = (start_time: number, hours: number) => {
    const results = [{ object: 'organization.usage.completions.result', model: 'm', input_tokens: 5, output_tokens: 1 }]
    return { object: 'page', data: [{ object: 'bucket', start_time, end_time: start_time + hours * 3600, results }] }
  }
  const midnight = Date.parse('2026-06-01T00:00:00Z') / 1000
  const workspace = await workspaceOf({
    'openai-usage': [
      page(midnight, 1),
      page(midnight + 3600, 24),
      page(midnight + 172_800, 48),
      page(midnight + 345_600, 24),
    ],
  })
  const { stderr } = await buildOutput(workspace, AS_OF)
  expect(stderr).toContain(
    'source "openai-usage": 12 tokens of 2 records (duplicates included) are of buckets that end',
  )
})
