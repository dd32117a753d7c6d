/** `tokenboard inspect` (docs/sources.md): which schema it guesses for a file. */
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../pipeline/base/errors.ts'
import { describeGiven, type Inspection, inspect } from '../../pipeline/raw/inspect.ts'
import { SCHEMA_NAMES } from '../../pipeline/raw/schemas/index.ts'
import {
  acceptSameRequests,
  buildIn,
  newWorkspace,
  publishedCsv,
  rowsOf,
  runCli,
  snapshotTree,
  type Workspace,
  workspaceOf,
  writeInput,
} from '../support/pipeline.ts'
import { compress } from '../support/records.ts'
import { FORMS, formOf, type LogRecord, RECORDS, toLines, writeLog } from '../support/schemas.ts'

const effects = { now: () => new Date('2026-11-20T00:12:00Z'), signal: new AbortController().signal }

async function inspectFile({ input }: Workspace, name: string): Promise<Inspection> {
  return inspect(await describeGiven(join(input, name)), effects)
}

async function inspectContent(
  name: string,
  content: string | Uint8Array,
): Promise<Inspection & { workspace: Workspace }> {
  const workspace = await newWorkspace()
  await writeInput(workspace, name, content)
  return { ...(await inspectFile(workspace, name)), workspace }
}

/** The rows of a build from sources that were proposed, as public usage. */
async function buildProposed(workspace: Workspace, ...proposed: unknown[]): Promise<string[]> {
  const sources = proposed.map((source) => ({ ...(source as object), visibility: 'public' }))
  await writeInput(workspace, 'sources.json', { sources })
  await acceptSameRequests(
    workspace,
    proposed.map((source) => (source as { name: string }).name),
  )
  await buildIn(workspace, '2025-06-10T12:00:00Z')
  return rowsOf(await publishedCsv(workspace))
}

/** The record of a schema with another model. */
function recordOf(schema: keyof typeof RECORDS, model: string): LogRecord {
  return JSON.parse(JSON.stringify(RECORDS[schema]).replace('"m"', JSON.stringify(model)))
}

const OWN = 'When;Model Name;inputTokens;outputTokens\n2025-06-01T12:00:00Z;m;8;2\n2025-06-01T13:00:00Z;;1;1\n'

describe('inspect', () => {
  it('recognizes every schema and every format, and proposes sources that build', async () => {
    const workspace = await newWorkspace()
    const logs = SCHEMA_NAMES.map((name, index) => {
      const form = formOf(name, index)
      return { name, form, model: `${name} as ${form}`, path: join(workspace.input, `${name}.${form}`) }
    })
    expect(logs.length).toBeGreaterThanOrEqual(FORMS.length)
    for (const { name, form, model, path } of logs) await writeLog(path, [recordOf(name, model)], form)
    const inspections = await Promise.all(logs.map(({ path }) => inspectFile(workspace, basename(path))))
    expect(inspections.map(({ source }) => source)).toMatchObject(
      logs.map(({ name, path }) => ({ name, schema: name, files: [path] })),
    )
    expect(await buildProposed(workspace, ...inspections.map(({ source }) => source))).toEqual(
      logs.map(({ model }) => `2025-06-01 ${model} 10`).toSorted(),
    )
  })

  it.each(['anthropic-usage', 'openai-usage'] as const)(
    'recognizes buckets and results of %s, a line each',
    async (schema) => {
      const { data } = RECORDS[schema]
      const { results, ...times } = data[0] as { results: object[] }
      for (const line of [data[0], { ...times, ...results[0] }]) {
        const found = await inspectContent('usage.ndjson', `${JSON.stringify(line)}\n`)
        expect(found).toMatchObject({ source: { schema } })
        expect(await buildProposed(found.workspace, found.source)).toEqual(['2025-06-01 m 10'])
      }
    },
  )

  it.each([
    ['timestamp', 'prompt_tokens', 'completion_tokens'],
    ['startTime', 'prompt_tokens', 'completion_tokens'],
    ['created_at', 'tokens_in', 'tokens_out'],
    ['created_at', 'tokens_prompt', 'tokens_completion'],
  ])(
    'takes a log with common names for no product, with its ids and its times without an offset: %s',
    async (...names) => {
      const record = `2025-06-01T12:00:00,m,8,2,10,r,0.1,ok\n`
      const header = `${[names[0], 'model', ...names.slice(1)].join()},total_tokens,request_id,cost,status\n`
      const found = await inspectContent('usage.csv', header + record + record)
      expect(found).toMatchObject({ source: { schema: 'canonical' }, lacks_offset: true })
      expect(await buildProposed(found.workspace, found.source)).toEqual(['2025-06-01 m 10'])
    },
  )

  it('recognizes renamed canonical columns', async () => {
    const found = await inspectContent('own.csv.zst', compress('.zst', OWN.replace('When', 'Created-At')))
    const columns = { timestamp: 'Created-At', model_permaslug: 'Model Name', prompt_tokens: 'inputTokens' }
    expect(found).toMatchObject({ source: { schema: 'canonical', columns } })
    expect(found.notes).toEqual([
      '1 of the first 2 records would be rejected',
      'records have no id: duplicates would count again',
    ])
  })

  it('recognizes records in the lists of pages, and notes nothing of records that the schema leaves out', async () => {
    const page = { data: [RECORDS['openrouter-activity-api']], page: 1 }
    const found = await inspectContent('page.json', JSON.stringify(page))
    expect(found.source?.schema).toBe('openrouter-activity-api')
    expect(await buildProposed(found.workspace, found.source)).toEqual(['2025-06-01 m 10'])
    const log = [RECORDS['cloudflare-ai-gateway-logs'], { ...RECORDS['cloudflare-ai-gateway-logs'], cached: true }]
    const leftOut = await inspectContent('logs.ndjson', toLines(log))
    expect(leftOut).toMatchObject({ source: { schema: 'cloudflare-ai-gateway-logs' }, notes: [] })
  })

  it('looks for the model and the counts inside of objects', async () => {
    const usage = { prompt_tokens: 8, completion_tokens: 2, cache_read_tokens: 1 }
    const line = { id: 'r', created: 1748779200, request: { model: 'm' }, response: { usage } }
    const { source, unread, workspace } = await inspectContent('usage.ndjson', toLines([line]))
    expect(unread).toEqual(['response.usage.cache_read_tokens'])
    expect(source).toMatchObject({
      columns: {
        timestamp: 'created',
        model_permaslug: 'request.model',
        prompt_tokens: 'response.usage.prompt_tokens',
        request_id: 'id',
      },
    })
    expect(await buildProposed(workspace, source)).toEqual(['2025-06-01 m 10'])
  })

  it.each([
    ['seconds', 1748779200],
    ['milliseconds', 1748779200123],
  ])('reads large numbers as Unix time in %s', async (time_unit, ts) => {
    const line = { ts, model: 'm', input_tokens: 8, output_tokens: 2 }
    const { source, workspace } = await inspectContent('usage.ndjson', toLines([line]))
    expect(source).toMatchObject({ base_time: '1970-01-01T00:00:00Z', time_unit, columns: { timestamp: 'ts' } })
    expect(await buildProposed(workspace, source)).toEqual(['2025-06-01 m 10'])
  })

  it('proposes placeholders, with notes, for what only the maintainer knows', async () => {
    const lines = [{ timestamp: 0, input_length: 8, output_length: 2 }]
    const { source, notes } = await inspectContent('trace.ndjson', toLines(lines))
    expect(source).toMatchObject({ model: 'author/model', base_time: '2025-01-01T00:00:00Z' })
    expect(notes).toEqual([
      'no column has the model: name it in "model"',
      'timestamps are relative: set "base_time" to their start',
      'records have no id: duplicates would count again',
      '0 to 0 may be seconds or milliseconds: check "time_unit"',
    ])
  })

  it('takes relative times with fractions for seconds', async () => {
    const lines = [0, 86400.5].map((timestamp) => ({ timestamp, model: 'm', input_length: 8, output_length: 2 }))
    const { source, workspace } = await inspectContent('trace.ndjson', toLines(lines))
    expect(source).toMatchObject({ time_unit: 'seconds' })
    expect(await buildProposed(workspace, source)).toEqual(['2025-01-01 m 10', '2025-01-02 m 10'])
  })

  it.each([
    ['weather.csv', 'city,degrees\nOslo,7\n', /nearest schema/],
    ['logs.csv', 'id,created_at,ai_model,req_units\n1,2,3,4\n', /portkey-logs.*res_units/],
    [
      'usage.ndjson',
      '{"timestamp":"soon","model_permaslug":"m","prompt_tokens":1,"completion_tokens":1}\n',
      /none of the first records/,
    ],
    ['lists.ndjson', '[1]\n"text"\n', /nearest schema/],
    ['twice.csv', 'timestamp,timestamp,model_permaslug,prompt_tokens,completion_tokens\n', /two columns/],
  ])('finds no schema for %s, and returns the reason', async (name, content, reason) => {
    const found = await inspectContent(name, content)
    expect(found.source).toBeUndefined()
    expect(found.notes.join()).toMatch(reason)
  })

  it('lists the columns of logs that fit no schema, with a source to fill in', async () => {
    const lines = ['no JSON', '{"at":"2025-06-01T12:00:00Z","llm":null,"input":8,"output":2}', '{"llm":"m"}', '[1]']
    const { notes } = await inspectContent('own.ndjson', lines.join('\n'))
    expect(notes[1]).toBe('its columns: at (2025-06-01T12:00:00Z), llm (m), input (8), output (2)')
    expect(notes[2]).toContain(
      '"columns":{"timestamp":"…","model_permaslug":"…","prompt_tokens":"input","completion_tokens":"output"}',
    )
    await expect(inspectContent('cut.ndjson', '{"timestamp": broken\n')).rejects.toThrow('line 1 is not JSON')
  })

  it('recognizes short names, and adds the cached input that Anthropic counts apart', async () => {
    const short = await inspectContent('own.csv', 'date,model_name,input,output\n2025-06-01,m,8,2\n')
    expect(await buildProposed(short.workspace, short.source)).toEqual(['2025-06-01 m 10'])
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 1, output_tokens: 2 }
    const lines = [
      { ts: '2025-06-01T12:00:00Z', model: 'm', usage },
      { ts: '2025-06-01T12:00:00Z', model: 'm', usage: { input_tokens: 8, output_tokens: 2 } },
    ]
    const { unread, workspace, source } = await inspectContent('usage.ndjson', toLines(lines))
    expect(unread).toEqual([])
    expect(await buildProposed(workspace, source)).toEqual(['2025-06-01 m 20'])
  })

  it('fails for an empty and for an unreadable file, and names it', async () => {
    await expect(inspectContent('none.csv', '')).rejects.toThrow(/none\.csv is empty/)
    const broken = expect(inspectContent('broken.parquet', 'no Parquet')).rejects
    await broken.toThrow(BuildError)
    await broken.toThrow(/^\S*broken\.parquet cannot be read/)
  })
})

describe('tokenboard inspect', () => {
  it('says what is in a file, prints the source to paste, and changes nothing', async () => {
    const workspace = await workspaceOf({ 'own.csv': OWN.replace('When', 'time') })
    const before = await snapshotTree(workspace.root)
    const { code, stdout, stderr } = await runCli(['inspect', 'own.csv'], {}, workspace.input)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^ {2}schema {4}canonical, your own logs$/m)
    expect(stdout).toMatch(/^ {2}records {3}2 read, 1 counted; 1 rejected \(invalid_model\)$/m)
    const entry = JSON.parse(/^\{\n.*?^\}/ms.exec(stdout)?.[0] ?? '')
    expect(entry).toMatchObject({ schema: 'canonical', columns: { timestamp: 'time' } })
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })

  it('exits with code 1 if no schema fits a file that was named', async () => {
    const workspace = await workspaceOf({
      'weather.csv': 'city,degrees\nOslo,7\n',
      'own.csv': OWN.replace('When', 'ts'),
    })
    const { code, stdout, stderr } = await runCli(['inspect', './weather.csv', 'own.csv'], {}, workspace.input)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^not read\n {2}weather\.csv: the nearest schema is/m)
    expect(stdout).toContain('canonical, your own logs')
    expect(stderr).toMatch(/no schema fits weather\.csv\n$/)
  })

  it('reads all files of a folder, and says what is in each source and what fits none', async () => {
    const workspace = await workspaceOf({
      'logs/2025/own.csv': OWN.replace('When', 'ts'),
      'logs/portkey.ndjson': toLines([RECORDS['portkey-logs']]),
      'logs/weather.csv': 'city,degrees\nOslo,7\n',
    })
    const before = await snapshotTree(workspace.root)
    const environment = { DATA_DIR: join(workspace.input, 'data'), AS_OF: '2025-06-10T12:00:00Z' }
    const { code, stdout, stderr } = await runCli(['inspect', 'logs'], environment, workspace.input)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain(
      '2025\n  schema    canonical, your own logs\n  files     1 file, 92 bytes: ../logs/2025/**/*.csv\n',
    )
    expect(stdout).toContain('  ids       2 of 2 records have none: ')
    expect(stdout).toContain(
      '  records   2 read, 1 counted; 1 rejected (invalid_model)\n  dates     1 day, 2025-06-01\n',
    )
    expect(stdout).toMatch(/^ {2}rejected {2}invalid_model, such as logs\/2025\/own\.csv, record 2: \{"ts":/m)
    expect(stdout).toMatch(/^portkey-logs\n {2}schema {4}portkey-logs, Portkey/m)
    expect(stdout).toMatch(/^not read\n {2}logs\/weather\.csv: the nearest schema is/m)
    const { stdout: json } = await runCli(['inspect', '--json', 'logs'], environment, workspace.input)
    expect(JSON.parse(json).sources).toMatchObject([{ entry: { name: '2025' }, reading: { read: 2 } }, {}])
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })

  it.each([['missing.csv'], ['usage.xlsx'], []])('exits with code 2 for the file %s', async (...files) => {
    const workspace = await workspaceOf({ 'usage.xlsx': 'a spreadsheet' })
    const { code, stdout } = await runCli(['inspect', ...files], {}, workspace.input)
    expect(code).toBe(2)
    expect(stdout).toBe('')
  })

  it('escapes control characters of the file', async () => {
    const line = { ...RECORDS.canonical, model_permaslug: 'm\u001b[2J\u202e\u009b', note: 'a\nb' }
    const name = 'o\u009bd\u202ed.ndjson'
    const workspace = await workspaceOf({ [name]: toLines([RECORDS.canonical, line]) })
    const { stdout } = await runCli(['inspect', name], {}, workspace.input)
    expect(stdout).toContain('invalid_model')
    expect(stdout).toContain('o\\u009bd\\u202ed.ndjson"')
    for (const character of ['\u001b', '\u202e', '\u009b']) expect(stdout).not.toContain(character)
  })
})
