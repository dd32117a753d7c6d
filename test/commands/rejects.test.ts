/** `tokenboard rejects`: the records that the last build rejected. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  runCli,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const GOOD = '2025-03-02T12:00:00Z,acme/one,1,2'
const SECOND = '{"model_permaslug": "acme/\\u001b[31mred", "note": "\u001b]0;title\u0007 \u202e"}'

async function writeSources(workspace: Workspace, settings: Record<string, unknown> = {}): Promise<void> {
  await writeInput(workspace, 'a.csv', `${HEADER}\n${GOOD}\nsoon,a,1,1\n${GOOD}\nlater,a,1,1\nx\n`)
  await writeInput(workspace, 'b.ndjson', `\n${SECOND}\n`)
  const source = { name: 'csv', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
  const sources = [source, { ...source, name: 'json', files: ['b.ndjson'] }]
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources, ...settings })
}

const run = ({ dataDir }: Workspace, ...args: string[]) => runCli(['rejects', ...args], { DATA_DIR: dataDir })

describe('tokenboard rejects', () => {
  let workspace: Workspace

  beforeAll(async () => {
    workspace = await createWorkspace()
    await writeSources(workspace)
    await buildIn(workspace, undefined, {}, { accept: ['uncounted_source'] })
    return () => removeWorkspace(workspace)
  })

  it.each([
    [
      ['--source', 'csv'],
      ['a.csv:2', 'a.csv:4', 'a.csv:5'],
    ],
    [['--file', 'b.ndjson'], ['b.ndjson:2']],
    [['--reason', 'invalid_timestamp', '--limit', '1'], ['a.csv:2']],
    [
      ['--limit', '9'],
      ['a.csv:2', 'a.csv:4', 'a.csv:5', 'b.ndjson:2'],
    ],
  ])('with %j prints the places %j and the records', async (args, places) => {
    const { code, stdout, stderr } = await run(workspace, ...args)
    if (args.includes('1')) expect(stderr).toContain('1 of 2 rejected records; --limit shows more')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split('  ')[1]).toSorted()).toEqual(places)
    expect(lines.map((line) => line.split('  ')[3])).not.toContain('')
    expect(code).toBe(0)
  })

  it('escapes control characters of records', async () => {
    const { stdout } = await run(workspace, '--source', 'json')
    expect(stdout).toContain('\\u{1b}]0;title\\u{7} \\u{202e}')
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })

  it('prints all records with --json, or as many as --limit allows', async () => {
    const { stdout } = await run(workspace, '--json', '--source', 'csv')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { source: 'csv', file: 'a.csv', record: 2, reason: 'invalid_timestamp', content: contentOf('soon') },
      { source: 'csv', file: 'a.csv', record: 4, reason: 'invalid_timestamp', content: contentOf('later') },
      { source: 'csv', file: 'a.csv', record: 5, reason: 'malformed_record', content: 'x' },
    ])
  })

  it.each([
    [['--source', 'cvs'], 'no rejected record has the source "cvs"; "csv" has some'],
    [['--file', 'input/a.csv'], 'no rejected record has the file "input/a.csv"; "a.csv" has some'],
    [['--source', 'json', '--reason', 'invalid_model'], 'no rejected record is of that kind; there are 4 others'],
  ])('prints the known names if no record fits %j', async (args, message) => {
    const { code, stdout, stderr } = await run(workspace, ...args)
    expect([code, stdout, stderr]).toEqual([0, '', `${message}\n`])
  })

  it.each([
    [['--reason', 'invalid_modle'], '"invalid_modle" is no reason to reject, did you mean invalid_model?'],
    [['--limit', '0'], '--limit "0" must be a whole number'],
    [['--limit', 'many'], '--limit "many" must be a whole number'],
    [['b.ndjson'], 'too many arguments'],
  ])('exits with code 2 for %j', async (args, message) => {
    const { code, stdout, stderr } = await run(workspace, ...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })
})

describe('tokenboard rejects', () => {
  it('prints that there are no rejected records', async () => {
    const workspace = await newWorkspace()
    const { code, stdout, stderr } = await run(workspace)
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('there are no rejected records')
  })

  it('fails for a damaged list of rejects, and names the file', async () => {
    const workspace = await newWorkspace()
    await writeSources(workspace)
    await buildIn(workspace, undefined, {}, { accept: ['uncounted_source'] })
    await writeFile(join(workspace.dataDir, 'state/rejects/0.ndjson'), '{"source": "s')
    const { code, stderr } = await run(workspace)
    expect(code).toBe(1)
    expect(stderr).toMatch(/rejects\/0\.ndjson cannot be read/)
  })
})

function contentOf(timestamp: string): Record<string, string> {
  return { timestamp, model_permaslug: 'a', prompt_tokens: '1', completion_tokens: '1' }
}
