/** What a build does and does not do (issue 2, DESIGN.md §5): outcomes, wrong usage, failures, interruption. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { copyOf, Gateway } from '../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  crowd,
  crowdSlug,
  csvOf,
  datasetFolder,
  newWorkspace,
  publish,
  publishedCsv,
  readLatest,
  releaseFolder,
  removeWorkspace,
  runBuild,
  runBuildUntilFirstLine,
  runCli,
  sha256,
  snapshotTree,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { COLUMNS, type FileRecord, toCsvText } from '../support/records.ts'

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
  await buildIn(released, '2025-03-10T12:00:00Z')
})

afterAll(() => removeWorkspace(released))

/** A copy of `released` that is the test's own. */
async function releasedWorkspace(): Promise<Workspace> {
  return (await copyOf(new Gateway(released))).workspace
}

function setTokens(workspace: Workspace, tokens: number): Promise<void> {
  return writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => tokens) }] })
}

function releases(workspace: Workspace): Promise<string[]> {
  return readdir(join(datasetFolder(workspace), 'releases')).then((names) =>
    names.filter((name) => name !== 'index.json').toSorted(),
  )
}

describe('a build through the CLI', () => {
  it('ends with exit code 0 and says where the files are, without cursor escapes where nobody watches', async () => {
    const workspace = await smallWorkspace()
    const { code, stdout, stderr } = await runBuild(workspace)
    expect(code, stderr).toBe(0)
    expect(await publishedCsv(workspace)).toBe(ONE)
    expect(stdout + stderr).toContain('20250310T120000Z')
    expect(stdout + stderr).not.toContain('\x1b')
  })

  it('prints one summary object on stdout with --json, and nothing else there', async () => {
    const workspace = await smallWorkspace()
    const { code, stdout } = await runBuild(workspace, {}, ['--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'released',
      release: '20250310T120000Z',
      as_of: '2025-03-10T12:00:00Z',
      rows: 1,
      models: 1,
      total_tokens: '1',
      content_hash: `sha256:${sha256(ONE)}`,
      records: {
        read: 1,
        published: 1,
        duplicates: 0,
        private: 0,
        rejected: {},
        withheld: [],
        before_dataset_start: 0,
        not_yet_complete: 0,
      },
    })
  })
})

describe('settings of a build', () => {
  it('are paths relative to the folder it is run in; raw files are relative to the sources file', async () => {
    const workspace = await smallWorkspace()
    const relative = {
      SOURCES: 'input/sources.json',
      DATA_DIR: 'data',
      PUBLIC_DIR: 'public',
      AS_OF: '2025-03-10T12:00:00Z',
    }
    const { code, stderr } = await runCli(['build'], relative, workspace.root)
    expect(code, stderr).toBe(0)
    expect(await publishedCsv(workspace)).toBe(ONE)
  })

  it('without AS_OF take the clock, cut to whole seconds', async () => {
    const workspace = await smallWorkspace()
    expect(await buildIn(workspace, '')).toMatchObject({ release: '20261120T001200Z', as_of: '2026-11-20T00:12:00Z' })
  })

  it('with AS_OF cut it to whole seconds too', async () => {
    const workspace = await smallWorkspace()
    expect((await buildIn(workspace, '2025-03-10T12:00:00.999Z')).as_of).toBe('2025-03-10T12:00:00Z')
  })
})

describe('a second build', () => {
  it('makes no new release of the same inputs, ends with exit code 0 and says so', async () => {
    const workspace = await releasedWorkspace()
    const before = await snapshotTree(workspace.publicDir)
    const { code, stdout, stderr } = await runBuild(workspace, { AS_OF: '2025-03-10T13:00:00Z' }, ['--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'unchanged', release: '20250310T120000Z' })
    expect(stderr).toMatch(/unchanged|no new release|nothing changed/i)
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('makes a new release of changed rows and leaves the bytes of the former one alone', async () => {
    const workspace = await releasedWorkspace()
    const former = await releaseFolder(workspace)
    const before = await snapshotTree(former)
    await setTokens(workspace, 2)
    expect((await buildIn(workspace, '2025-03-10T13:00:00Z')).outcome).toBe('released')
    expect(await releases(workspace)).toEqual(['20250310T120000Z', '20250310T130000Z'])
    expect((await readLatest(workspace)).release).toBe('20250310T130000Z')
    expect(await snapshotTree(former)).toEqual(before)
    expect(await readFile(join(datasetFolder(workspace), 'latest/rankings-daily.csv'), 'utf8')).toBe(
      csvOf([['2025-03-02', 'crowd/model-001', 2]]),
    )
  })

  it('makes a new release when a provisional date has become final, with the same rows', async () => {
    const workspace = await smallWorkspace()
    await buildIn(workspace, '2025-03-03T12:00:00Z')
    const summary = await buildIn(workspace, '2025-03-10T12:00:00Z')
    expect(summary.outcome).toBe('released')
    expect(await publishedCsv(workspace)).toBe(ONE)
  })

  it('makes a new release when the publisher has another name', async () => {
    const workspace = await releasedWorkspace()
    const publisher = join(workspace.dataDir, 'publisher.json')
    const described = JSON.parse(await readFile(publisher, 'utf8'))
    await realFiles.write(publisher, JSON.stringify({ ...described, name: 'Another Publisher' }))
    expect((await buildIn(workspace, '2025-03-10T13:00:00Z')).outcome).toBe('released')
    const manifest = Manifest.parse(
      JSON.parse(await readFile(join(await releaseFolder(workspace), 'manifest.json'), 'utf8')),
    )
    expect(manifest.publisher.name).toBe('Another Publisher')
  })

  it('fails when AS_OF is before the latest release', async () => {
    const workspace = await releasedWorkspace()
    await setTokens(workspace, 2)
    const before = await snapshotTree(workspace.publicDir)
    await expect(buildIn(workspace, '2025-03-10T11:59:59Z')).rejects.toThrow(/2025-?03-?10T12:?00:?00Z/)
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('fails when AS_OF is that of the latest release and the rows differ', async () => {
    const workspace = await releasedWorkspace()
    await setTokens(workspace, 2)
    const before = await snapshotTree(workspace.publicDir)
    await expect(buildIn(workspace, '2025-03-10T12:00:00Z')).rejects.toThrow(/2025-?03-?10T12:?00:?00Z/)
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })
})

describe('wrong usage publishes nothing', () => {
  const source = { name: 's', schema: 'canonical', files: ['source-0.ndjson'], visibility: 'public' }

  const model = (slug: string, ...aliases: string[]) => ({
    model_permaslug: slug,
    aliases,
    public: true,
    name: slug,
    author: 'acme',
  })

  async function expectUsageError(workspace: Workspace, message: RegExp, asOf?: string): Promise<void> {
    const failed = expect(buildIn(workspace, asOf)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  }

  /** Where a build finds that out before it has opened anything. */
  async function expectWrongSources(workspace: Workspace, message: RegExp): Promise<void> {
    const failed = expect(readSources(workspace.sources)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
  }

  it('for a named sources file that is missing', async () => {
    const workspace = await smallWorkspace()
    await expectUsageError({ ...workspace, sources: join(workspace.input, 'nowhere.json') }, /nowhere\.json/)
  })

  it('for a sources file that is a folder', async () => {
    const workspace = await smallWorkspace()
    await expectUsageError({ ...workspace, sources: workspace.input }, /input/)
  })

  it('for a sources file that is not JSON', async () => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'sources.json', '{ "sources": [')
    await expectUsageError(workspace, /sources\.json/)
  })

  it('for an AS_OF that is no instant', async () => {
    await expectUsageError(await smallWorkspace(), /AS_OF/, '2025-02-30T00:00:00Z')
  })

  it.each([
    ['max_rejected_shar', 'max_rejected_share', { max_rejected_shar: 1, sources: [source] }],
    ['alias', 'aliases', { alias: 'aliases.csv', sources: [source] }],
    ['visiblity', 'visibility', { sources: [{ ...source, visiblity: 'public' }] }],
    ['time_zone', 'timezone', { sources: [{ ...source, time_zone: 'UTC' }] }],
    ['colums', 'columns', { sources: [{ ...source, colums: {} }] }],
    ['timestmap', 'timestamp', { sources: [{ ...source, columns: { timestmap: 'ts' } }] }],
  ])('for the unknown key %s, naming %s', async (unknown, nearest, sources) => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'sources.json', sources)
    await expectWrongSources(workspace, new RegExp(`${unknown}\\b.*\\b${nearest}\\b`, 's'))
  })

  it.each([
    ['visibility', { visibility: 'secret' }],
    ['schema', { schema: 'homegrown' }],
    ['timezone', { timezone: 'Atlantis/Capital' }],
    ['base_time', { base_time: 'long ago' }],
    ['files', { files: [] }],
    ['files', { files: ['usage.xlsx'] }],
  ])('for a wrong %s: %o', async (key, wrong) => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'usage.xlsx', 'a spreadsheet')
    await writeInput(workspace, 'sources.json', { sources: [{ ...source, ...wrong }] })
    await expectUsageError(workspace, new RegExp(`${key}|usage\\.xlsx`))
  })

  it('for a source that asks the registry where no models file is named', async () => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'sources.json', { sources: [{ ...source, visibility: 'registry' }] })
    await expectWrongSources(workspace, /models/)
  })

  it('for a source without visibility where no models file is named, since `registry` is the default', async () => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'sources.json', { sources: [{ ...source, visibility: undefined }] })
    await expectWrongSources(workspace, /models/)
  })

  it.each([
    ['given by two models', [model('acme/one', 'one'), model('acme/two', 'one')], ''],
    ['given in both files', [model('acme/one', 'one'), model('acme/two')], 'one,acme/two\n'],
    ['given twice in aliases.csv', [model('acme/one'), model('acme/two')], 'one,acme/one\none,acme/two\n'],
    ['of models.json equal to another slug', [model('acme/one', 'one'), model('one')], ''],
    ['of aliases.csv equal to another slug', [model('acme/one'), model('one')], 'one,acme/one\n'],
  ])('for an alias %s', async (_, models, aliases) => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'models.json', models)
    await writeInput(workspace, 'aliases.csv', `alias,model_permaslug\n${aliases}`)
    await writeInput(workspace, 'sources.json', { models: 'models.json', aliases: 'aliases.csv', sources: [source] })
    await expectWrongSources(workspace, /"one"/)
  })

  it.each([
    ['models', { models: 'nowhere.json' }],
    ['aliases', { aliases: 'nowhere.csv' }],
  ])('for a named %s file that is missing', async (_, top) => {
    const workspace = await smallWorkspace()
    await writeInput(workspace, 'sources.json', { ...top, sources: [source] })
    await expectWrongSources(workspace, /nowhere\./)
  })

  it.each([
    ['a missing sources file', { sources: 'nowhere.json' }, {}],
    ['an unknown key', {}, { sources: [{ ...source, visiblity: 'public' }] }],
    ['an alias given twice', {}, { models: 'models.json', sources: [source] }],
    ['`registry` without a models file', {}, { sources: [{ ...source, visibility: 'registry' }] }],
  ])('and ends the CLI with exit code 2 and one message, without a stack: %s', async (_, other, sources) => {
    const workspace = { ...(await smallWorkspace()), ...other }
    await writeInput(workspace, 'models.json', [model('acme/one', 'one'), model('acme/two', 'one')])
    await writeInput(workspace, 'sources.json', sources)
    const { code, stdout, stderr } = await runBuild(workspace)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/\S/)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })

  it.each([[['build', '--frobnicate']], [['frobnicate']]])('and ends the CLI with exit code 2: %j', async (args) => {
    expect((await runCli(args, {})).code).toBe(2)
  })
})

describe('a build that fails ends with exit code 1, and the release before it stays current', () => {
  /** Builds once, lets `spoil` change the input, and expects the next build to fail and to change nothing. */
  async function expectFailure(message: RegExp, spoil: (workspace: Workspace) => Promise<void>): Promise<void> {
    const workspace = await releasedWorkspace()
    const before = await snapshotTree(workspace.publicDir)
    await spoil(workspace)
    const { code, stdout, stderr } = await runBuild(workspace, { AS_OF: '2025-03-10T13:00:00Z' })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
    expect((await readLatest(workspace)).release).toBe('20250310T120000Z')
    expect(await publishedCsv(workspace)).toBe(ONE)
  }

  const csv = (records: FileRecord[]) => toCsvText(records, { columns: COLUMNS })

  it('for a truncated gzip, which it names', async () => {
    await expectFailure(/cut off\.csv\.gz/, async (workspace) => {
      const whole = gzipSync(csv(crowd(5000, (index) => index)))
      await writeInput(workspace, 'cut off.csv.gz', whole.subarray(0, whole.length - 100))
      const source = {
        name: 's',
        schema: 'canonical',
        files: ['source-0.ndjson', 'cut off.csv.gz'],
        visibility: 'public',
      }
      await writeInput(workspace, 'sources.json', { sources: [source] })
    })
  })

  it('for inputs without a publishable row', async () => {
    await expectFailure(/publish/, (workspace) =>
      writeSmallBuild(workspace, { sources: [{ records: crowd(3, () => 0) }] }),
    )
  })

  it('for a larger share of rejected records than max_rejected_share', async () => {
    await expectFailure(/max_rejected_share|rejected/, (workspace) => {
      const records = [...crowd(97, () => 1), ...crowd(3, () => -1)]
      return writeSmallBuild(workspace, { sources: [{ records }], top: { max_rejected_share: 0.02 } })
    })
  })

  it('publishes nothing at all where there was no release before', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: crowd(3, () => 0) }] })
    expect((await runBuild(workspace)).code).toBe(1)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })
})

describe('a total that a published number cannot hold', () => {
  // Parquet has BIGINT: 2^63 − 1. 1024 times 2^53 − 1 is just below, 1025 times is above.
  const most = (count: number) =>
    Array.from({ length: count }, () => ({ model_permaslug: 'a', prompt_tokens: String(2n ** 53n - 1n) }))

  it('is published up to 2^63 − 1', async () => {
    const { rows } = await publish(most(1024))
    expect(rows).toEqual([`2025-03-02 a ${1024n * (2n ** 53n - 1n)}`])
  })

  it('fails the build beyond it and is never rounded', async () => {
    await expect(publish(most(1025))).rejects.toThrow(BuildError)
  })

  it('fails the build beyond it in `other` too', async () => {
    const tail = most(1100).map((record, index) => ({ ...record, model_permaslug: crowdSlug(index) }))
    await expect(publish(tail)).rejects.toThrow(BuildError)
  })
})

describe('files in the public folder that are not of the build', () => {
  it('are left alone', async () => {
    const workspace = await smallWorkspace()
    await realFiles.write(join(workspace.publicDir, 'README.md'), 'what this folder is')
    await buildIn(workspace)
    expect(await readFile(join(workspace.publicDir, 'README.md'), 'utf8')).toBe('what this folder is')
  })
})

describe('max_rejected_share', () => {
  async function buildWithShare(rejected: number, of: number, share: number): Promise<string> {
    const workspace = await newWorkspace()
    const records = crowd(of, (index) => (index < rejected ? -1 : 1))
    await writeSmallBuild(workspace, { sources: [{ records }], top: { max_rejected_share: share } })
    return (await buildIn(workspace)).outcome
  }

  it('lets a build pass whose share is exactly that', async () => {
    expect(await buildWithShare(2, 100, 0.02)).toBe('released')
  })

  it('of zero fails for one record', async () => {
    await expect(buildWithShare(1, 100, 0)).rejects.toThrow(BuildError)
  })

  it('is of the sources together, not of each', async () => {
    const workspace = await newWorkspace()
    const sources = [{ records: crowd(1, () => -1) }, { records: crowd(99, () => 1) }]
    await writeSmallBuild(workspace, { sources, top: { max_rejected_share: 0.01 } })
    expect((await buildIn(workspace)).records.rejected).toEqual({ invalid_token_count: 1 })
  })
})

describe('an interrupted build leaves the public folder as it was', () => {
  /** Builds 2 over 1 and stops when event number `at` is reported; says how many events there were. */
  async function interrupt(workspace: Workspace, at: number): Promise<{ events: number; failed: boolean }> {
    const controller = new AbortController()
    let events = 0
    const report = (_: BuildEvent) => {
      events += 1
      if (events === at) controller.abort()
    }
    try {
      await buildIn(workspace, '2025-03-10T13:00:00Z', { report, signal: controller.signal })
      return { events, failed: false }
    } catch {
      return { events, failed: true }
    }
  }

  async function secondBuild(): Promise<Workspace> {
    const workspace = await releasedWorkspace()
    await setTokens(workspace, 2)
    return workspace
  }

  it('when it was stopped before it began', async () => {
    const workspace = await secondBuild()
    const before = await snapshotTree(workspace.publicDir)
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z', { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('whenever it is stopped, or else it is whole', async () => {
    const { events } = await interrupt(await secondBuild(), Number.POSITIVE_INFINITY)
    expect(events).toBeGreaterThan(3)
    let stopped = 0
    // `make soak` stops builds at every effect.
    for (let at = 1; at <= events; at += 3) {
      const workspace = await secondBuild()
      const before = await snapshotTree(workspace.publicDir)
      const { failed } = await interrupt(workspace, at)
      if (failed) {
        stopped += 1
        expect(await snapshotTree(workspace.publicDir)).toEqual(before)
        expect((await buildIn(workspace, '2025-03-10T14:00:00Z')).outcome).toBe('released')
      } else {
        expect((await readLatest(workspace)).release).toBe('20250310T130000Z')
      }
    }
    expect(stopped).toBeGreaterThan(1)
  })

  it('when Ctrl-C is pressed while it runs', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: crowd(20_000, (index) => index + 1) }] })
    const { code, interrupted } = await runBuildUntilFirstLine(workspace)
    expect(interrupted).toBe(true)
    // The signal may come when all is done already; then the release is whole. It never just kills the process.
    if (code === 0) expect((await readLatest(workspace)).release).toBe('20250310T120000Z')
    else expect(await snapshotTree(workspace.publicDir)).toEqual({})
    expect([0, 1, 130]).toContain(code)
  })
})
