/** A build that leaves out most of the usage because the registry does not know the models stops or warns (DESIGN.md §5). */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import type { BuildSummary } from '../../pipeline/build.ts'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import { describeShare, percent } from '../../pipeline/dataset/published-share.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { useOn } from '../support/gateway.ts'
import {
  buildIn,
  newWorkspace,
  runBuild,
  snapshotTree,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'

/** Builds are as of noon of 2025-03-10: the last completed dates end with the day before. */
const [FIRST_OF_31, BEFORE_31, LAST] = ['2025-02-07', '2025-02-06', '2025-03-09']
const known = (tokens: number, date = LAST) => useOn(date, 'acme/known', tokens)
const unknown = (tokens: number, date = LAST, model = 'acme/unknown') => useOn(date, model, tokens)

/** A workspace whose registry knows one public and one private model; `top` as the sources file has it. */
async function workspaceOf(records: FileRecord[], top: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await write(workspace, records, top)
  return workspace
}

async function write(workspace: Workspace, records: FileRecord[], top: Record<string, unknown> = {}): Promise<void> {
  await writeSmallBuild(workspace, {
    sources: [{ records, settings: { visibility: 'registry' } }],
    models: [{ model_permaslug: 'acme/known' }, { model_permaslug: 'acme/secret', public: false }],
    // Helpers allow any share where nothing is said; here the default is tried.
    top: { max_withheld_share: undefined, ...top },
  })
}

async function stopped(workspace: Workspace, asOf?: string, options = {}): Promise<string> {
  const before = await snapshotTree(workspace.publicDir)
  const error: unknown = await buildIn(workspace, asOf, {}, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(BuildError)
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  return error instanceof Error ? error.message : ''
}

async function noticesOf(workspace: Workspace, asOf: string): Promise<{ summary: BuildSummary; notices: string[] }> {
  const notices: string[] = []
  const report = (event: BuildEvent) => {
    if (event.kind === 'notice') notices.push(event.message)
  }
  return { summary: await buildIn(workspace, asOf, { report }), notices }
}

describe('a first release', () => {
  it('stops where unknown models have more than a fifth of the tokens, and lists the largest of them', async () => {
    const many = Array.from({ length: 12 }, (_, index) => unknown(1000 + index, LAST, `acme/unknown-${index}`))
    const workspace = await workspaceOf([known(12), ...many])
    const message = await stopped(workspace)
    expect(message).toMatch(
      /^99\.90 % of the tokens from 2025-02-07 to 2025-03-09 are of models that the registry does not/,
    )
    expect(message).toContain('max_withheld_share 20 %')
    const lines = message.split('\n').filter((line) => line.startsWith('  '))
    expect(lines).toHaveLength(11)
    expect(lines.slice(0, 2)).toEqual(['  "acme/unknown-11": 1,011 tokens', '  "acme/unknown-10": 1,010 tokens'])
    expect(lines.at(-1)).toBe('  and 2 more')
    expect(message).toContain('`tokenboard models` (make models) lists all of them')
    expect(message).toContain('tokenboard models --add public NAME…')
    // What is published stays published: nobody is led to publish names that they have not read.
    expect(message).not.toContain('public --all')
    expect(message).toContain(join(workspace.input, 'models.json'))
    expect(message).toContain('"max_withheld_share"')
  })

  it.each([
    ['exactly a fifth', [known(80), unknown(20)], 'released'],
    ['one token more', [known(7999), unknown(2001)], 'stopped'],
    ['private usage on neither side', [known(8), unknown(3), useOn(LAST, 'acme/secret', 1000)], 'stopped'],
    ['the first of the last 31 completed dates', [known(8), unknown(3, FIRST_OF_31)], 'stopped'],
    ['a date that is not complete', [known(8), unknown(1000, '2025-03-10')], 'released'],
    ['the date before them', [known(8), unknown(1000, BEFORE_31)], 'released'],
    [
      'public usage of the date before does not make up for it',
      [known(1000, BEFORE_31), known(8), unknown(3)],
      'stopped',
    ],
    ['no usage in the last 31 dates: all dates count', [known(8, '2025-01-02'), unknown(3, '2025-01-03')], 'stopped'],
    [
      'duplicates count once',
      [
        known(80),
        ...Array(9)
          .fill(unknown(20))
          .map((one) => ({ ...one, request_id: 'r' })),
      ],
      'released',
    ],
    ['no tokens at all', [known(8, BEFORE_31), known(0), unknown(0)], 'released'],
  ])('judges the tokens of the last 31 completed dates: %s', async (_, records, outcome) => {
    const workspace = await workspaceOf(records)
    if (outcome === 'stopped') expect(await stopped(workspace)).toContain('max_withheld_share')
    else expect(await buildIn(workspace)).toMatchObject({ outcome })
  })

  it('stops where the registry knows no model at all, and says how to add them', async () => {
    const message = await stopped(await workspaceOf([unknown(5)]))
    expect(message).toContain('there is no public usage')
    expect(message).toContain('  "acme/unknown": 5 tokens\n')
    expect(message).toContain('tokenboard models --add public NAME…')
  })

  it('is stopped in a dry run too, and with exit code 1', async () => {
    const workspace = await workspaceOf([known(1), unknown(9)])
    expect(await stopped(workspace, undefined, { dryRun: true })).toContain('max_withheld_share')
    const { code, stdout, stderr } = await runBuild(workspace)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('90 % of the tokens')
  })

  it('is made where the sources file allows it', async () => {
    expect(await buildIn(await workspaceOf([known(1), unknown(9)], { max_withheld_share: 0.9 }))).toMatchObject({
      outcome: 'released',
    })
    expect(await stopped(await workspaceOf([known(1), unknown(9)], { max_withheld_share: 0.89 }))).toContain('89 %')
  })

  it('counts what each source says of its visibility, not the registry', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: [unknown(9)] }] })
    expect(await buildIn(workspace)).toMatchObject({ outcome: 'released', published_share: { share: 1 } })
  })
})

describe('a folder that has releases of real logs', () => {
  const LATER = '2025-03-10T13:00:00Z'

  async function released(): Promise<Workspace> {
    const workspace = await workspaceOf([known(9)])
    await buildIn(workspace)
    return workspace
  }

  it('is built on with a warning that names the models and the key', async () => {
    const workspace = await released()
    await write(workspace, [known(10), unknown(90)])
    const { summary, notices } = await noticesOf(workspace, LATER)
    expect(summary.outcome).toBe('released')
    const [warning = ''] = notices.filter((text) => text.startsWith('warning: 90 % of the tokens'))
    expect(warning).toContain('  "acme/unknown": 90 tokens')
    expect(warning).toContain('tokenboard models')
    expect(warning).toContain('set "max_withheld_share"')
  })

  it('warns where nothing changed as well', async () => {
    const workspace = await released()
    await write(workspace, [known(9), unknown(90)])
    const { summary, notices } = await noticesOf(workspace, LATER)
    expect(summary.outcome).toBe('unchanged')
    expect(notices.join()).toContain('warning: ')
  })

  it('is stopped as soon as the key is set, though nothing would change', async () => {
    const workspace = await released()
    await write(workspace, [known(9), unknown(90)], { max_withheld_share: 0.2 })
    expect(await stopped(workspace, LATER)).toContain('nothing was published')
  })

  it('is judged by the last 31 completed dates alone', async () => {
    const workspace = await released()
    await write(workspace, [known(10), unknown(90, BEFORE_31)])
    const { summary, notices } = await noticesOf(workspace, LATER)
    expect(summary.published_share).toMatchObject({ share: 1, start_date: FIRST_OF_31 })
    expect(notices).toEqual([])
  })

  it('says nothing of a share that is small enough', async () => {
    const workspace = await released()
    await write(workspace, [known(90), unknown(10)])
    expect((await noticesOf(workspace, LATER)).notices).toEqual([])
  })
})

describe('the published share', () => {
  it('is in every summary: of a release, of none, of a dry run', async () => {
    const workspace = await workspaceOf([known(90), unknown(10), useOn(LAST, 'acme/secret', 500)])
    const published_share = {
      share: 0.9,
      start_date: FIRST_OF_31,
      end_date: LAST,
      public_tokens: '90',
      withheld_tokens: '10',
    }
    for (const [options, outcome] of [
      [{ dryRun: true }, 'would_release'],
      [{}, 'released'],
      [{}, 'unchanged'],
      [{ dryRun: true }, 'unchanged'],
    ] as const) {
      const summary = await buildIn(workspace, undefined, {}, options)
      expect(summary).toMatchObject({ outcome, published_share })
      expect(describeSummary(summary)).toContain(
        '\n  share     90 % of the tokens from 2025-02-07 to 2025-03-09 that are not private are published; ' +
          '10 tokens are of unknown models\n',
      )
    }
    const { stdout, stderr } = await runBuild(workspace, {}, ['--json'])
    expect(JSON.parse(stdout)).toMatchObject({ published_share })
    expect(stderr).toContain('share     90 % of the tokens')
    const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    expect(detail).toMatchObject({ published_share })
  })

  it('is all where the registry knows every model', async () => {
    const summary = await buildIn(await workspaceOf([known(9)]))
    expect(describeShare(summary.published_share)).toBe(
      '100 % of the tokens from 2025-02-07 to 2025-03-09 that are not private are published',
    )
  })

  it('and the names of unknown models enter nothing that is published', async () => {
    const workspace = await workspaceOf([known(90), unknown(10, LAST, 'zz-unknown-model')])
    await buildIn(workspace)
    for (const entry of await readdir(workspace.publicDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const text = await readFile(join(entry.parentPath, entry.name), 'latin1')
      expect(text, entry.name).not.toMatch(/zz-unknown-model|published_share|withheld_tokens/)
    }
  })

  it.each([
    [1, '100 %'],
    [0.99999, 'more than 99.99 %'],
    [0.9987, '99.87 %'],
    [0.5, '50 %'],
    [0.001, '0.10 %'],
    [0.00001, 'less than 0.01 %'],
    [0, '0 %'],
  ])('%d reads %s', (share, text) => {
    expect(percent(share)).toBe(text)
  })
})

it.each([-0.1, 1.1, '0.2', null])('max_withheld_share %j is wrong usage that names the key', async (value) => {
  const workspace = await newWorkspace()
  const source = { name: 'gateway', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { max_withheld_share: value, sources: [source] })
  const failed = expect(readSources(workspace.sources)).rejects
  await failed.toThrow(CliError)
  await failed.toThrow('max_withheld_share')
})
