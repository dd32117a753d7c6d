/** What a build says of how it read a source: tokens that it added, keys that it ignored, records without ids. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildIn, newWorkspace, releaseFolder, runBuild, type Workspace, writeInput } from '../../support/pipeline.ts'
import { query, sqlText } from '../../support/records.ts'
import { type LogRecord, RECORDS, toLines } from '../../support/schemas.ts'

const AS_OF = '2026-06-10T12:00:00Z'
const LATER = '2026-06-10T13:00:00Z'

async function workspaceOf(schema: string, logs: Record<string, LogRecord[]>): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [file, records] of Object.entries(logs)) await writeInput(workspace, file, toLines(records))
  const source = { name: 'logs', schema, files: ['*.ndjson'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { sources: [source] })
  return workspace
}

function row(id: string, fields: LogRecord): LogRecord {
  return {
    ...RECORDS['helicone-requests'],
    request_id: id,
    request_created_at: '2026-06-01T12:00:00Z',
    provider: 'OPENAI',
    ...fields,
  }
}

function observation(id: string, usage_details: LogRecord): LogRecord {
  return { ...RECORDS['langfuse-observations'], id, start_time: '2026-06-01 12:00:00', usage_details }
}

async function notesOf({ dataDir }: Workspace): Promise<unknown> {
  return JSON.parse(await readFile(join(dataDir, 'state/quality.json'), 'utf8')).reading_notes
}

describe('tokens beside the counts of Helicone', () => {
  it('reports added and unchanged tokens by provider', async () => {
    const early = { request_created_at: '2025-09-07T12:00:00Z', prompt_cache_read_tokens: 7 }
    const workspace = await workspaceOf('helicone-requests', {
      'a.ndjson': [
        row('1', { prompt_cache_read_tokens: 400 }),
        row('2', { provider: 'ANTHROPIC', reasoning_tokens: 20 }),
        row('3', early),
        row('4', {}),
      ],
    })
    const { code, stderr } = await runBuild(workspace, { AS_OF })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(
      'source "logs": 420 tokens of 2 records (duplicates included) were added to prompt_tokens and completion_tokens, ' +
        'which do not include them ("outside_from"): "openai" 400, "anthropic" 20\n',
    )
    expect(stderr).toContain(
      'source "logs": 7 tokens of 1 record (duplicates included) were not added to prompt_tokens and completion_tokens, ' +
        'which include them before the date in "outside_from": "openai" 7\n',
    )
  })

  it('counts every version of a request, and says so', async () => {
    const version = (updated_at: string) => row('1', { prompt_cache_read_tokens: 400, updated_at })
    const workspace = await workspaceOf('helicone-requests', {
      'a.ndjson': [version('2026-06-01T12:01:00Z'), version('2026-06-01T12:02:00Z')],
    })
    const { stderr } = await runBuild(workspace, { AS_OF })
    expect(stderr).toContain('source "logs": 800 tokens of 2 records (duplicates included) were added')
  })

  it('keeps the notes of unread files and drops those of removed files', async () => {
    const workspace = await workspaceOf('helicone-requests', {
      'a.ndjson': [row('1', { prompt_cache_read_tokens: 400 })],
      'b.ndjson': [row('2', { prompt_cache_read_tokens: 30 })],
    })
    const notes = (tokens: string, records: number) => [
      { source: 'logs', kind: 'outside_added', name: 'openai', records, tokens },
    ]
    await buildIn(workspace, AS_OF)
    expect(await notesOf(workspace)).toEqual(notes('430', 2))
    await buildIn(workspace, LATER)
    expect(await notesOf(workspace)).toEqual(notes('430', 2))
    await writeInput(workspace, 'b.ndjson', toLines([row('2', { prompt_cache_read_tokens: 31 })]))
    await buildIn(workspace, '2026-06-10T14:00:00Z')
    expect(await notesOf(workspace)).toEqual(notes('431', 2))
  })
})

describe('keys of Langfuse that are no tokens', () => {
  it('are named and counted, and are never published', async () => {
    const workspace = await workspaceOf('langfuse-observations', {
      'a.ndjson': [
        observation('1', { input: 1, output: 1, secret_widgets: 3 }),
        observation('2', { input: 1, output: 1, images: 3, secret_widgets: 3 }),
        observation('3', { input: 1, output: 1 }),
      ],
    })
    const { code, stderr } = await runBuild(workspace, { AS_OF })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(
      'source "logs": 2 records have usage keys that do not count tokens; they were ignored: "images", "secret_widgets"\n',
    )
    expect(await notesOf(workspace)).toHaveLength(2)
    expect(await readFile(join(await releaseFolder(workspace), 'quality.json'), 'utf8')).not.toContain('widgets')
  })
})

/** The same usage with many keys that count no tokens. */
function withKeys(count: number, prefix: string): LogRecord {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${String.fromCharCode(97 + index)}`)
  return { input: 100, output: 50, ...Object.fromEntries(names.map((name) => [name, 1])) }
}

describe('many long keys of Langfuse that are no tokens', () => {
  const LONG = 'some_unknown_key_number_'

  it('are named by every build, also by one that reads no file again', async () => {
    const workspace = await workspaceOf('langfuse-observations', { 'a.ndjson': [observation('1', withKeys(15, LONG))] })
    const named = Array.from('abcdefghij', (letter) => `"${LONG}${letter}"`).join(', ')
    for (const asOf of [AS_OF, LATER]) {
      const { code, stderr } = await runBuild(workspace, { AS_OF: asOf })
      expect(code, stderr).toBe(0)
      expect(stderr).toContain(
        `source "logs": 1 record has usage keys that do not count tokens; they were ignored: ${named} and more\n`,
      )
    }
  })

  it('are cut, each for itself, to a list that can be read', async () => {
    const odd = '\\"\n\u{1F600}'.repeat(20)
    const workspace = await workspaceOf('langfuse-observations', { 'a.ndjson': [observation('1', withKeys(26, odd))] })
    const { code, stderr } = await runBuild(workspace, { AS_OF })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(`ignored: ${JSON.stringify(odd.slice(0, 75))}\n`)
  })

  it('are let pass where the state has a list that was cut', async () => {
    const workspace = await workspaceOf('langfuse-observations', { 'a.ndjson': [observation('1', withKeys(2, LONG))] })
    await buildIn(workspace, AS_OF)
    await query(`ATTACH ${sqlText(join(workspace.dataDir, 'state/build.duckdb'))} AS cut`)
    await query(`UPDATE cut.state_notes SET name = name[:40]`)
    await query('DETACH cut')
    const { code, stderr } = await runBuild(workspace, { AS_OF: LATER })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(`ignored: "${LONG}a"\n`)
  })
})

describe('a source without ids', () => {
  const { id: _, ...nameless } = RECORDS['portkey-logs']
  const without = (records: number, accepted_records: number) => ({ source: 'logs', records, accepted_records })

  it('is named in the summary, as text and as JSON', async () => {
    const workspace = await workspaceOf('portkey-logs', { 'a.ndjson': [{ ...nameless, created_at: '2026-06-01' }] })
    const { code, stderr, stdout } = await runBuild(workspace, { AS_OF }, ['--json'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(
      '  no ids    "logs": no record has a request_id; one that is delivered twice counts twice\n',
    )
    expect(JSON.parse(stdout).sources_without_request_id).toEqual([without(1, 1)])
  })

  it('is named with the share of its records that have none, and not where all have one or are rejected', async () => {
    const at = { created_at: '2026-06-01T12:00:00Z' }
    const some = await workspaceOf('portkey-logs', {
      'a.ndjson': [
        { ...nameless, ...at },
        { ...RECORDS['portkey-logs'], ...at },
      ],
    })
    const { code, stderr, stdout } = await runBuild(some, { AS_OF }, ['--json'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(
      '  no ids    "logs": 1 of 2 records have no request_id; one that is delivered twice counts twice\n',
    )
    expect(JSON.parse(stdout).sources_without_request_id).toEqual([without(1, 2)])
    await writeInput(some, 'a.ndjson', toLines([{ ...RECORDS['portkey-logs'], ...at }]))
    await writeInput(some, 'b.ndjson', toLines([{ ...nameless, created_at: '2031-01-01' }]))
    const sources = [{ name: 'logs', schema: 'portkey-logs', files: ['*.ndjson'], visibility: 'public' }]
    await writeInput(some, 'sources.json', { sources, on_missing: 'remove', max_rejected_share: 1 })
    expect((await buildIn(some, LATER)).sources_without_request_id).toEqual([])
  })

  it('is none whose records without known ids are those of a file that is gone', async () => {
    const record = { ...RECORDS['portkey-logs'], created_at: '2026-06-01T12:00:00Z' }
    const workspace = await workspaceOf('portkey-logs', {
      'a.ndjson': [record],
      'b.ndjson': [{ ...record, id: 'other' }],
    })
    await buildIn(workspace, AS_OF)
    await rm(join(workspace.input, 'a.ndjson'))
    const sources = [{ name: 'logs', schema: 'portkey-logs', files: ['*.ndjson'], visibility: 'public' }]
    await writeInput(workspace, 'sources.json', { sources, on_missing: 'keep' })
    const { records, sources_without_request_id } = await buildIn(workspace, LATER)
    expect({ published: records.published, sources_without_request_id }).toEqual({
      published: 2,
      sources_without_request_id: [],
    })
  })

  it('is named by a build that reads no file again, and whose release is unchanged', async () => {
    const workspace = await workspaceOf('portkey-logs', { 'a.ndjson': [{ ...nameless, created_at: '2026-06-01' }] })
    await buildIn(workspace, AS_OF)
    const { outcome, sources_without_request_id } = await buildIn(workspace, LATER)
    expect({ outcome, sources_without_request_id }).toEqual({
      outcome: 'unchanged',
      sources_without_request_id: [without(1, 1)],
    })
  })
})
