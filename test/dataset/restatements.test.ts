/** Changed numbers that were final, versions of the data, and what the index says of each release (DESIGN.md §6.11). */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import type { BuildOptions } from '../../pipeline/build.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { namesIn, readChanges, readIndex, readRestatements, text } from '../support/history.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  newWorkspace,
  removeWorkspace,
  runBuild,
  sha256,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'

type Use = [date: string, tokens: number]

async function release(workspace: Workspace, uses: Use[], asOf: string, options: BuildOptions = {}): Promise<string> {
  const records = uses.map(([date, tokens]) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'a',
    prompt_tokens: String(tokens),
  }))
  await writeSmallBuild(workspace, { sources: [{ records }], top: { on_missing: 'remove' } })
  const { outcome, release: name } = await buildIn(workspace, asOf, {}, options)
  expect(outcome).toBe('released')
  return name
}

async function versions(workspace: Workspace): Promise<(string | undefined)[]> {
  return (await readIndex(workspace)).releases.map(({ data_version }) => data_version)
}

describe('a restatement', () => {
  it('is listed when a final date has changed, with its reason, note and size', async () => {
    const workspace = await newWorkspace()
    await release(
      workspace,
      [
        ['2025-03-02', 5],
        ['2025-03-09', 1],
      ],
      '2025-03-10T01:00:00Z',
    )
    expect(await readRestatements(workspace)).toEqual([])
    const told = { reason: 'late_data', note: 'A file came a week late.' } as const
    const name = await release(
      workspace,
      [
        ['2025-03-02', 7],
        ['2025-03-09', 2],
      ],
      '2025-03-10T02:00:00Z',
      told,
    )
    const size = { rows_before: 1, rows_after: 1, tokens_before: '5', tokens_after: '7' }
    expect(await readRestatements(workspace)).toEqual([
      {
        id: `restatement-${name}`,
        release: name,
        as_of: '2025-03-10T02:00:00Z',
        ...told,
        ...size,
        dates: [{ date: '2025-03-02', ...size }],
      },
    ])
  })

  it('is none when only provisional dates have changed, or dates that were so the last time they were published', async () => {
    const workspace = await newWorkspace()
    await release(workspace, [['2025-03-07', 4]], '2025-03-10T01:00:00Z')
    await release(workspace, [['2025-03-07', 5]], '2025-03-10T02:00:00Z')
    expect(await readRestatements(workspace)).toEqual([])
    await release(workspace, [['2025-03-07', 6]], '2025-03-12T01:00:00Z')
    expect(await readRestatements(workspace)).toEqual([])
    await release(workspace, [['2025-03-07', 7]], '2025-03-12T02:00:00Z')
    expect(await readRestatements(workspace)).toMatchObject([{ reason: 'unspecified', note: null }])
  })

  it('is also a final date that comes or goes', async () => {
    const workspace = await newWorkspace()
    await release(
      workspace,
      [
        ['2025-03-02', 5],
        ['2025-03-04', 1],
      ],
      '2025-03-10T01:00:00Z',
    )
    await release(
      workspace,
      [
        ['2025-03-01', 3],
        ['2025-03-04', 1],
      ],
      '2025-03-10T02:00:00Z',
    )
    const [restatement] = await readRestatements(workspace)
    expect(restatement?.dates).toEqual([
      { date: '2025-03-01', rows_before: 0, rows_after: 1, tokens_before: '0', tokens_after: '3' },
      { date: '2025-03-02', rows_before: 1, rows_after: 0, tokens_before: '5', tokens_after: '0' },
    ])
    expect(restatement).toMatchObject({ rows_before: 1, rows_after: 1, tokens_before: '5', tokens_after: '3' })
  })

  it('has a reason out of a closed list, and a note of one line', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: [{ model_permaslug: 'a', prompt_tokens: '1' }] }] })
    const wrong = await runBuild(workspace, {}, ['--reason', 'because'])
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toContain('late_data')
    expect(await runBuild(workspace, {}, ['--note', 'two\nlines'])).toMatchObject({ code: 2 })
    expect(await runBuild(workspace, {}, ['--reason', 'correction', '--note', 'one line'])).toMatchObject({ code: 0 })
  })
})

describe('the version of the data', () => {
  it('follows from the dates that changed: appended, provisional, final, described otherwise', async () => {
    const workspace = await newWorkspace()
    await release(workspace, [['2025-03-02', 5]], '2025-03-03T01:00:00Z')
    await release(
      workspace,
      [
        ['2025-03-02', 5],
        ['2025-03-03', 1],
      ],
      '2025-03-04T01:00:00Z',
    )
    await release(
      workspace,
      [
        ['2025-03-02', 5],
        ['2025-03-03', 1],
        ['2025-03-04', 1],
      ],
      '2025-03-05T01:00:00Z',
    )
    await release(
      workspace,
      [
        ['2025-03-02', 6],
        ['2025-03-03', 1],
        ['2025-03-05', 1],
      ],
      '2025-03-06T01:00:00Z',
    )
    // The same rows when their dates have become final.
    await release(
      workspace,
      [
        ['2025-03-02', 6],
        ['2025-03-03', 1],
        ['2025-03-05', 1],
      ],
      '2025-03-20T01:00:00Z',
    )
    await release(
      workspace,
      [
        ['2025-03-02', 7],
        ['2025-03-03', 1],
        ['2025-03-05', 1],
        ['2025-03-20', 1],
      ],
      '2025-03-21T01:00:00Z',
    )
    expect(await versions(workspace)).toEqual(['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.3.1', '2.0.0'])
    const { releases } = await readIndex(workspace)
    expect(releases.map(({ version_rule }) => version_rule)).toEqual(releases.map(() => 2))
  })
})

describe('a release', () => {
  let workspace: Workspace
  let first: string
  let second: string

  beforeAll(async () => {
    workspace = await createWorkspace()
    first = await release(workspace, [['2025-03-02', 5]], '2025-03-10T01:00:00Z')
    second = await release(workspace, [['2025-03-02', 6]], '2025-03-10T02:00:00Z')
  })

  afterAll(() => removeWorkspace(workspace))

  it('is current until another supersedes it', async () => {
    const { releases } = await readIndex(workspace)
    expect(releases).toMatchObject([
      { release: first, status: 'superseded', superseded_by: second },
      { release: second, status: 'current' },
    ])
    expect(releases[1]).not.toHaveProperty('superseded_by')
  })

  it('lists its changes.csv with what it changed since the one before', async () => {
    expect(await readChanges(workspace, second)).toEqual([
      { op: 'update', date: '2025-03-02', model_permaslug: 'a', tokens_before: '5', tokens_after: '6' },
    ])
    expect(await namesIn(workspace, `releases/${second}`)).toContain('changes.csv')
  })

  it('that was withdrawn is passed over: the one before is current again, and what comes next is compared with that', async () => {
    const copy = await newWorkspace()
    await cp(workspace.root, copy.root, { recursive: true, verbatimSymlinks: true })
    await withdrawIn(copy, second, '2025-03-10T02:30:00Z')
    const third = await release(copy, [['2025-03-02', 7]], '2025-03-10T03:00:00Z')
    expect((await readIndex(copy)).releases).toMatchObject([
      { release: first, status: 'superseded', superseded_by: third },
      { release: second, status: 'withdrawn' },
      { release: third, status: 'current', data_version: '3.0.0' },
    ])
    expect(await readChanges(copy, third)).toMatchObject([{ op: 'update', tokens_before: '5', tokens_after: '7' }])
    // The rows of the first release had to be published once more, under a number that was never given.
    expect(await text(copy, 'daily/2025-03-02/r3.csv')).toContain(',5\n')
    expect(await text(copy, 'daily/2025-03-02.csv')).toBe(await text(copy, 'daily/2025-03-02/r4.csv'))
    const { signal } = new AbortController()
    expect(await verify(copy.publicDir, { signal, report: () => {} })).toMatchObject({ latest: third })
  })
})

describe('an index that was written before releases had versions and a status', () => {
  it('is read and continued, and what is beside the releases is made for it', async () => {
    const workspace = await newWorkspace()
    const first = await release(workspace, [['2025-03-02', 5]], '2025-03-10T01:00:00Z')
    const folder = join(datasetFolder(workspace), 'releases', first)
    const { data_version: _version, changes: _changes, ...manifest } = await readManifest(folder)
    // Such a release had no changes.csv and no documents that list files.
    const isLater = ({ path }: { path: string }) => !/^(rankings-daily\.|quality\.json$)/.test(path)
    const files = manifest.files.filter((file) => !isLater(file))
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }))
    const own = { path: 'manifest.json', sha256: sha256(await readFile(join(folder, 'manifest.json'))) }
    await writeFile(join(folder, 'SHA256SUMS'), toChecksums([...files, own]))
    for (const { path } of manifest.files.filter(isLater)) await rm(join(folder, path))
    for (const path of ['coverage.json', 'restatements.json', 'daily', 'monthly']) {
      await rm(join(datasetFolder(workspace), path), { recursive: true })
    }
    const grown = appendRelease({ dataset: 'rankings-daily', releases: [] }, { ...manifest, files }, own.sha256)
    const entries = grown.releases.map(({ status: _status, ...entry }) => entry)
    const path = join(datasetFolder(workspace), 'releases/index.json')
    await writeFile(path, JSON.stringify({ ...grown, releases: entries }))
    expect(entries[0]).not.toHaveProperty('data_version', expect.anything())

    await release(
      workspace,
      [
        ['2025-03-02', 5],
        ['2025-03-09', 1],
      ],
      '2025-03-10T02:00:00Z',
    )
    expect(await versions(workspace)).toEqual([undefined, '1.1.0'])
    expect(await namesIn(workspace, 'daily/2025-03-02')).toEqual(['r1.csv', 'r1.json', 'r1.parquet'])
    const { signal } = new AbortController()
    expect(await verify(workspace.publicDir, { signal, report: () => {} })).toMatchObject({ releases: 2 })
  })
})
