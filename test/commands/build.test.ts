/** What a build does and does not do: outcomes, wrong settings, failures, interruption. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { readOutcome } from '../../pipeline/operation/build-outcome.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import {
  AS_OF,
  buildIn,
  copyWorkspace,
  createWorkspace,
  crowd,
  crowdSlug,
  csvOf,
  newWorkspace,
  publish,
  publishedCsv,
  removeWorkspace,
  runBuild,
  runCli,
  sha256,
  snapshotTree,
  type Workspace,
  workspaceOf,
  writeInput,
  writeSmallBuild,
  writeSource,
} from '../support/pipeline.ts'
import { COLUMNS, toCsvText } from '../support/records.ts'

const ONE = csvOf([['2025-03-02', 'crowd/model-001', 1]])

/** A workspace whose one public model has `tokens` on 2025-03-02. */
async function smallWorkspace(tokens = 1): Promise<Workspace> {
  const workspace = await newWorkspace()
  await setTokens(workspace, tokens)
  return workspace
}

/** A small workspace with its release, as of noon of 2025-03-10. */
let released: Workspace

beforeAll(async () => {
  released = await createWorkspace()
  await setTokens(released, 1)
  await buildIn(released)
})

afterAll(() => removeWorkspace(released))

function setTokens(workspace: Workspace, tokens: number): Promise<void> {
  return writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => tokens) }] })
}

describe('tokenboard build', () => {
  it('publishes below relative paths, keeps other files and says where the files are, without cursor escapes', async () => {
    const workspace = await smallWorkspace()
    await writeFile(join(workspace.publicDir, 'README.md'), 'what this folder is')
    const relative = { SOURCES: 'input/sources.json', DATA_DIR: 'data', PUBLIC_DIR: 'public', AS_OF }
    const { code, stdout, stderr } = await runCli(['build'], relative, workspace.root)
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('20250310T120000Z')
    expect(stderr).not.toContain('\x1b')
    expect(await publishedCsv(workspace)).toBe(ONE)
    expect(await readFile(join(workspace.publicDir, 'README.md'), 'utf8')).toBe('what this folder is')
  })

  it('prints a summary as one JSON object with --json, as of AS_OF or the clock, cut to whole seconds', async () => {
    const workspace = await smallWorkspace()
    const { code, stdout } = await runBuild(workspace, { AS_OF: '2025-03-10T12:00:00.999Z' }, ['--json'])
    expect(code).toBe(0)
    const none = { duplicates: 0, private: 0, rejected: {}, withheld: [], before_dataset_start: 0, not_yet_complete: 0 }
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ outcome: 'released', release: '20250310T120000Z', as_of: '2025-03-10T12:00:00Z' },
      ...{ rows: 1, models: 1, total_tokens: '1', content_hash: `sha256:${sha256(ONE)}` },
      records: { read: 1, published: 1, ...none },
    })
    const newest = [{ source: 'source-0', date: '2025-03-02' }]
    expect(await readOutcome(workspace)).toMatchObject({
      ...{ outcome: 'released', exit_code: 0, release: '20250310T120000Z' },
      counts: {
        records: { read: 1, published: 1, rejected: 0, withheld: 0 },
        ...{ rejected_share: 0, withheld_share: 0, newest },
      },
    })
    const now = { release: '20261120T001200Z', as_of: '2026-11-20T00:12:00Z' }
    expect(await buildIn(await smallWorkspace(), '')).toMatchObject(now)
  })
})

describe('a second build', () => {
  it('fails for changed rows if AS_OF is that of the newest release or before it', async () => {
    const workspace = await copyWorkspace(released)
    await setTokens(workspace, 2)
    const before = await snapshotTree(workspace.publicDir)
    for (const asOf of ['2025-03-10T11:59:59Z', '2025-03-10T12:00:00Z'])
      await expect(buildIn(workspace, asOf)).rejects.toThrow('2025-03-10T12:00:00Z')
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })
})

describe('a build with wrong settings', () => {
  async function expectCliError(building: Promise<unknown>, message: RegExp): Promise<void> {
    const failed = expect(building).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
  }

  it.each([
    ['a missing sources file', 'nowhere.json', /nowhere\.json/],
    ['a folder as sources file', '.', /input/],
    ['a sources file that is not JSON', 'broken.json', /broken\.json/],
  ])('is refused for %s', async (_, name, message) => {
    const workspace = await newWorkspace()
    await writeInput(workspace, 'broken.json', '{ "sources": [')
    await expectCliError(readSources(join(workspace.input, name)), message)
  })

  it.each([
    ['visibility', { visibility: 'secret' }],
    ['models', { visibility: 'registry' }],
    ['models', { visibility: undefined }],
    ['schema', { schema: 'homegrown' }],
    ['timezone', { timezone: 'Atlantis/Capital' }],
    ['base_time', { base_time: 'long ago' }],
    ['files', { files: [] }],
  ])('is refused for a wrong or missing %s: %o', async (key, wrong) => {
    const workspace = await newWorkspace()
    await writeSource(workspace, ['a.csv'], wrong)
    await expectCliError(readSources(workspace.sources), new RegExp(key))
  })

  it('is refused for a file with an unknown ending', async () => {
    const workspace = await workspaceOf({ 'usage.xlsx': 'a spreadsheet' })
    await expectCliError(buildIn(workspace), /usage\.xlsx/)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })

  it('is refused for an AS_OF that is not an instant', () => {
    expect(() => readPipelineConfig({ AS_OF: '2025-02-30T00:00:00Z' })).toThrow(CliError)
  })

  it('exits with code 2 and a message without a stack, and publishes nothing', async () => {
    const workspace = await newWorkspace()
    const { code, stdout, stderr } = await runBuild({ ...workspace, sources: 'nowhere.json' })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('nowhere.json')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })
})

describe('a build that fails', () => {
  it('exits with code 1 and names the truncated gzip file, and the previous release stays current', async () => {
    const workspace = await copyWorkspace(released)
    const before = await snapshotTree(workspace.publicDir)
    const records = crowd(5000, (index) => index)
    const whole = gzipSync(toCsvText(records, { columns: COLUMNS }))
    await writeInput(workspace, 'cut off.csv.gz', whole.subarray(0, whole.length - 100))
    await writeSource(workspace, ['source-0.ndjson', 'cut off.csv.gz'])
    const { code, stdout, stderr } = await runBuild(workspace, { AS_OF: '2025-03-10T13:00:00Z' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('cut off.csv.gz')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
    expect(await readOutcome(workspace)).toMatchObject({
      outcome: 'failed',
      exit_code: 1,
      error: expect.stringContaining('cut off.csv.gz'),
      last_success: null,
    })
  })
})

describe('a total of tokens', () => {
  // BIGINT ends at 2^63 − 1: 1,024 times 2^53 − 1 is just below, 1,025 times is above.
  const most = (count: number) =>
    Array.from({ length: count }, () => ({ model_permaslug: 'a', prompt_tokens: String(2n ** 53n - 1n) }))

  it('is published up to 2^63 − 1', async () => {
    const { rows } = await publish(most(1024))
    expect(rows).toEqual([`2025-03-02 a ${1024n * (2n ** 53n - 1n)}`])
  })

  it('fails the build beyond 2^63 − 1, also in `other`', async () => {
    await expect(publish(most(1025))).rejects.toThrow(BuildError)
    const tail = most(1100).map((record, index) => ({ ...record, model_permaslug: crowdSlug(index) }))
    await expect(publish(tail)).rejects.toThrow(BuildError)
  })
})

describe('a source of which no record counts', () => {
  it('stops the build and is named, unless it is accepted', async () => {
    const workspace = await newWorkspace()
    const [sound, bad, secret] = [{}, { model_permaslug: '' }, { visibility: 'private' }].map((change) => {
      return { records: crowd(1, () => 5).map((record) => ({ ...record, ...change })), extraColumns: ['visibility'] }
    })
    const sources = [sound, bad, secret].flatMap((source) => source ?? [])
    await writeSmallBuild(workspace, { sources, top: { max_rejected_share: 1 } })
    await expect(buildIn(workspace)).rejects.toThrow(
      /uncounted_source: .*\n {2}source "source-1" has no record that counts: all are left out or rejected: 1\n(?! {2})/,
    )
    const summary = await buildIn(workspace, undefined, {}, { accept: ['uncounted_source'] })
    expect(summary.warnings.map(({ check }) => check)).toEqual(['uncounted_source'])
  })
})

describe('max_rejected_share', () => {
  it('accepts exactly that share of the records of all sources together', async () => {
    const workspace = await newWorkspace()
    const sources = [{ records: crowd(2, (index) => index * 2 - 1) }, { records: crowd(98, () => 1) }]
    await writeSmallBuild(workspace, { sources, top: { max_rejected_share: 0.01 } })
    expect((await buildIn(workspace)).records.rejected).toEqual({ invalid_token_count: 1 })
    await writeSmallBuild(workspace, { sources, top: { max_rejected_share: 0 } })
    await expect(buildIn(workspace)).rejects.toThrow('1 of 100 records')
  })
})
