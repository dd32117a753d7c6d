/** `tokenboard inspect` (docs/sources.md): what it makes of files that nobody has described. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { type Inspection, inspect } from '../../pipeline/raw/inspect.ts'
import { SCHEMA_NAMES } from '../../pipeline/raw/schemas/index.ts'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  rowsOf,
  runCli,
  snapshotTree,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { compress } from '../support/records.ts'
import { formsOf, type LogRecord, RECORDS, toLines, writeLog } from '../support/schemas.ts'

const effects = { now: () => new Date('2026-11-20T00:12:00Z'), signal: new AbortController().signal }

/** What a file of these contents seems to be. */
async function inspectContent(
  name: string,
  content: string | Uint8Array,
): Promise<Inspection & { workspace: Workspace }> {
  const workspace = await newWorkspace()
  await writeInput(workspace, name, content)
  const [inspection] = await inspect([join(workspace.input, name)], effects)
  if (inspection === undefined) throw new Error('nothing was inspected')
  return { ...inspection, workspace }
}

/** The rows of a build from sources that were proposed, as public usage. */
async function buildProposed(workspace: Workspace, ...proposed: unknown[]): Promise<string[]> {
  const sources = proposed.map((source) => ({ ...(source as object), visibility: 'public' }))
  await writeInput(workspace, 'sources.json', { sources })
  await buildIn(workspace, '2025-06-10T12:00:00Z')
  return rowsOf(await publishedCsv(workspace))
}

/** The record of a schema with another model. */
function recordOf(schema: keyof typeof RECORDS, model: string): LogRecord {
  return JSON.parse(JSON.stringify(RECORDS[schema]).replace('"m"', JSON.stringify(model)))
}

const OWN = 'When;Model Name;inputTokens;outputTokens\n2025-06-01T12:00:00Z;m;8;2\n2025-06-01T13:00:00Z;;1;1\n'

describe('inspect', () => {
  it('knows files of every schema in every format, and proposes sources that build', async () => {
    const workspace = await newWorkspace()
    const logs = SCHEMA_NAMES.flatMap((name) =>
      formsOf(name).map((form) => ({ name, form, model: `${name} as ${form}` })),
    )
    const pathOf = ({ name, form }: { name: string; form: string }) => join(workspace.input, `${name}.${form}`)
    for (const log of logs) await writeLog(pathOf(log), [recordOf(log.name, log.model)], log.form)
    const inspections = await inspect(logs.map(pathOf), effects)
    expect(inspections).toMatchObject(
      logs.map(({ name, form, model }) => ({
        schema: name,
        records: [
          {
            date: '2025-06-01',
            model,
            prompt_tokens: '8',
            completion_tokens: '2',
            has_request_id: true,
            reject_reason: null,
          },
        ],
        source: { name, schema: name, files: [pathOf({ name, form })] },
      })),
    )
    // One format of each is enough for a build.
    const built = SCHEMA_NAMES.flatMap((name, index) => {
      const ofName = logs.filter((log) => log.name === name)
      return ofName[index % ofName.length] ?? []
    })
    const proposed = built.map((log) => inspections[logs.indexOf(log)]?.source)
    expect(await buildProposed(workspace, ...proposed)).toEqual(
      built.map(({ model }) => `2025-06-01 ${model} 10`).toSorted(),
    )
  })

  it('knows records in the lists of pages', async () => {
    const content = JSON.stringify({ data: [RECORDS['openrouter-activity-api']], page: 1 })
    const found = await inspectContent('page.json', Buffer.from(content))
    expect(found).toMatchObject({ schema: 'openrouter-activity-api', records: [{ model: 'm', reject_reason: null }] })
    expect(found.columns).toContainEqual({ name: 'date', sample: '2025-06-01' })
  })

  it.each(['', '.gz', '.zst'])('knows columns by other names, as canonical ones renamed, in .csv%s', async (ending) => {
    const content = OWN.replace('When', 'Created-At')
    const found = await inspectContent(`own.csv${ending}`, compress(ending, content))
    expect(found).toMatchObject({
      schema: 'canonical',
      columns: [
        { name: 'Created-At', sample: '2025-06-01T12:00:00Z' },
        { name: 'Model Name', sample: 'm' },
        { name: 'inputTokens', sample: '8' },
        { name: 'outputTokens', sample: '2' },
      ],
      source: {
        columns: {
          timestamp: 'Created-At',
          model_permaslug: 'Model Name',
          prompt_tokens: 'inputTokens',
          completion_tokens: 'outputTokens',
        },
      },
    })
    expect(found.records.map(({ reject_reason }) => reject_reason)).toEqual([null, 'invalid_model'])
    expect(found.notes).toEqual([
      '1 of the first 2 records would be rejected',
      'records have no id: duplicates would count again',
    ])
  })

  it('shows ten records in the order of the file, of more', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => ({ ...RECORDS.canonical, prompt_tokens: index }))
    const { records } = await inspectContent('usage.ndjson', toLines(lines))
    expect(records.map(({ prompt_tokens }) => prompt_tokens)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ])
  })

  it('shows keys that only some lines have, and a value where the first has none', async () => {
    const lines = [
      RECORDS.canonical,
      { ...RECORDS.canonical, note: null },
      { ...RECORDS.canonical, note: { a: 1 } },
      [1],
    ]
    const { columns } = await inspectContent(
      'usage.jsonl',
      `no JSON\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
    )
    expect(columns.at(-1)).toEqual({ name: 'note', sample: '{"a":1}' })
  })

  it('shows what a schema leaves out as such', async () => {
    const log = [RECORDS['cloudflare-ai-gateway-logs'], { ...RECORDS['cloudflare-ai-gateway-logs'], cached: true }]
    const { records, notes } = await inspectContent('logs.ndjson', toLines(log))
    expect(records.map(({ reject_reason }) => reject_reason)).toEqual([null, 'left_out'])
    expect(notes).toEqual([])
  })

  it.each<[string, number, string]>([
    ['seconds', 1748779200, '1970-01-01T00:00:00Z'],
    ['milliseconds', 1748779200123, '1970-01-01T00:00:00Z'],
  ])('takes large numbers for Unix time in %s', async (time_unit, ts, base_time) => {
    const line = { ts, model: 'm', input_tokens: 8, output_tokens: 2 }
    const found = await inspectContent('usage.ndjson', toLines([line]))
    expect(found.source).toMatchObject({ base_time, time_unit, columns: { timestamp: 'ts' } })
    expect(await buildProposed(found.workspace, found.source)).toEqual(['2025-06-01 m 10'])
  })

  it('says what only the maintainer knows', async () => {
    const lines = [{ timestamp: 0, input_length: 8, output_length: 2 }]
    const { source, notes } = await inspectContent('trace.ndjson', toLines(lines))
    expect(source).toMatchObject({ model: 'author/model', base_time: '2025-01-01T00:00:00Z' })
    expect(notes).toEqual([
      'no column has the model: name it in "model"',
      'timestamps are relative: set "base_time" to their start',
      'records have no id: duplicates would count again',
    ])
  })

  it.each([
    ['weather.csv', 'city,degrees\nOslo,7\n', ['city', 'degrees'], /nearest schema/],
    [
      'logs.csv',
      'id,created_at,ai_model,req_units\n1,2,3,4\n',
      ['id', 'created_at', 'ai_model', 'req_units'],
      /portkey-logs.*res_units/,
    ],
    [
      'usage.ndjson',
      '{"timestamp":"soon","model_permaslug":"m","prompt_tokens":1,"completion_tokens":1}\n',
      ['timestamp', 'model_permaslug', 'prompt_tokens', 'completion_tokens'],
      /none of the first records/,
    ],
    ['lists.ndjson', '[1]\n"text"\n', [], /nearest schema/],
    [
      'twice.csv',
      'timestamp,timestamp,model_permaslug,prompt_tokens,completion_tokens\n',
      ['timestamp', 'timestamp', 'model_permaslug', 'prompt_tokens', 'completion_tokens'],
      /two columns/,
    ],
  ])('fits no schema to %s, and says why', async (name, content, columns, reason) => {
    const found = await inspectContent(name, content)
    expect(found).toMatchObject({ schema: undefined, records: [], source: undefined })
    expect(found.columns.map((column) => column.name)).toEqual(columns)
    expect(found.notes.join()).toMatch(reason)
  })

  it('names a file that is empty, and one that cannot be read, without the name of a link', async () => {
    await expect(inspectContent('none.csv', '')).rejects.toThrow(/none\.csv is empty/)
    const broken = expect(inspectContent('broken.parquet', 'no Parquet')).rejects
    await broken.toThrow(BuildError)
    await broken.toThrow(/^\S*broken\.parquet cannot be read/)
  })

  it('refuses a file that is missing or of another ending before it reads any', async () => {
    const workspace = await newWorkspace()
    await writeInput(workspace, 'good.csv', OWN)
    await writeInput(workspace, 'usage.xlsx', 'a spreadsheet')
    const good = join(workspace.input, 'good.csv')
    for (const name of ['missing.csv', 'usage.xlsx', '']) {
      await expect(inspect([good, join(workspace.input, name)], effects), name).rejects.toThrow(CliError)
    }
  })
})

describe('tokenboard inspect', () => {
  async function workspaceWith(files: Record<string, string>): Promise<Workspace> {
    const workspace = await newWorkspace()
    for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
    return workspace
  }

  it('prints columns, records and the source to paste, and touches nothing', async () => {
    const workspace = await workspaceWith({ 'own.csv': OWN.replace('When', 'time') })
    const before = await snapshotTree(workspace.root)
    const { code, stdout, stderr } = await runCli(['inspect', 'own.csv'], {}, workspace.input)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^own\.csv: csv, schema canonical$/m)
    expect(stdout).toMatch(/^ {2}inputTokens +8$/m)
    expect(stdout).toMatch(/^ {2}2025-06-01 +m +8 +2 +no$/m)
    const entry = JSON.parse(/^\{\n.*?^\}/ms.exec(stdout)?.[0] ?? '')
    expect(entry).toMatchObject({ schema: 'canonical', files: [join(workspace.input, 'own.csv')] })
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })

  it('prints one object for several files with --json', async () => {
    const workspace = await workspaceWith({
      'a.csv': OWN.replace('When', 'ts'),
      'b.ndjson': toLines([RECORDS['portkey-logs']]),
    })
    const { code, stdout } = await runCli(['inspect', '--json', 'a.csv', 'b.ndjson'], {}, workspace.input)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).files).toMatchObject([
      { file: 'a.csv', schema: 'canonical' },
      { file: 'b.ndjson', schema: 'portkey-logs' },
    ])
  })

  it('ends with 1 where no schema fits, and shows the columns all the same', async () => {
    const workspace = await workspaceWith({
      'weather.csv': 'city,degrees\nOslo,7\n',
      'own.csv': OWN.replace('When', 'ts'),
    })
    const { code, stdout, stderr } = await runCli(['inspect', 'weather.csv', 'own.csv'], {}, workspace.input)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ {2}city +Oslo$/m)
    expect(stdout).toContain('own.csv: csv, schema canonical')
    expect(stderr).toMatch(/no schema fits weather\.csv\n$/)
  })

  it.each([['missing.csv'], ['usage.xlsx'], []])('ends with 2 for %s', async (...files) => {
    const workspace = await workspaceWith({ 'usage.xlsx': 'a spreadsheet' })
    const { code, stdout } = await runCli(['inspect', ...files], {}, workspace.input)
    expect(code).toBe(2)
    expect(stdout).toBe('')
  })

  it('prints no character of a file that would move the cursor', async () => {
    const line = { ...RECORDS.canonical, model_permaslug: 'm\u001b[2J\u202e\u009b', note: 'a\nb' }
    const workspace = await workspaceWith({ 'odd.ndjson': toLines([RECORDS.canonical, line]) })
    const { stdout } = await runCli(['inspect', 'odd.ndjson'], {}, workspace.input)
    expect(stdout).toContain('invalid_model')
    for (const character of ['\u001b', '\u202e', '\u009b']) expect(stdout).not.toContain(character)
    expect(stdout).toMatch(/^ {2}note +a\\nb$/m)
  })
})
