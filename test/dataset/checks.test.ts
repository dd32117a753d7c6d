import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import type { BuildSummary } from '../../pipeline/build.ts'
import { assertInvariants, type Warning } from '../../pipeline/dataset/checks.ts'
import {
  buildIn,
  datasetFolder,
  newWorkspace,
  readLatest,
  releaseFolder,
  runBuild,
  type SmallBuild,
  type SmallSource,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'

/** One record of a model at noon of a date in March 2025. */
function used(day: number, tokens: number, model = 'acme/one', fields: FileRecord = {}): FileRecord {
  const timestamp = `2025-03-${String(day).padStart(2, '0')}T12:00:00Z`
  return { timestamp, model_permaslug: model, prompt_tokens: String(tokens), ...fields }
}

/** The same tokens on each day of a range. */
function days(first: number, last: number, tokens: number, model = 'acme/one'): FileRecord[] {
  return Array.from({ length: last - first + 1 }, (_, index) => used(first + index, tokens, model))
}

async function workspaceOf(sources: SmallSource[], top: SmallBuild['top'] = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources, top })
  return workspace
}

/** The warnings of a build of some sources, or of one source with these records, as of noon of March 20. */
async function warningsOf(input: SmallSource[] | FileRecord[]): Promise<Warning[]> {
  const isSources = input.some((entry) => 'records' in entry)
  const sources = isSources ? (input as SmallSource[]) : [{ records: input as FileRecord[] }]
  return (await buildIn(await workspaceOf(sources), '2025-03-20T12:00:00Z')).warnings
}

async function readQuality(folder: string): Promise<{ warnings: Warning[] }> {
  return JSON.parse(await readFile(join(folder, 'quality.json'), 'utf8'))
}

describe('collapsed_day', () => {
  it('is a date with less than half the mean of the seven before', async () => {
    const tokens = [100_000, 100_001, 100_002, 100_003, 100_004, 100_005, 100_006, 50_001]
    expect(await warningsOf(tokens.map((count, index) => used(index + 1, count)))).toEqual([
      {
        check: 'collapsed_day',
        date: '2025-03-08',
        finding: '50,001 tokens, less than half of 100,003, the mean of the seven dates before',
      },
    ])
  })

  it('needs seven earlier dates', async () => {
    expect(await warningsOf([...days(1, 6, 100), used(7, 1)])).toEqual([])
  })

  it('counts all models of a date, and does not find a date with exactly half', async () => {
    const lessThanHalf = [...days(1, 7, 100), ...days(1, 8, 90, 'acme/two')]
    const exactlyHalf = [...days(9, 15, 100), ...days(9, 16, 100, 'acme/two')]
    expect(await warningsOf([...lessThanHalf, ...exactlyHalf])).toEqual([
      expect.objectContaining({ check: 'collapsed_day', date: '2025-03-08' }),
    ])
  })
})

describe('new_leader', () => {
  it('is a model that enters at rank 1, not one at rank 2, nor one that was there before, however small', async () => {
    const entersFirst = days(8, 9, 1001, 'acme/new')
    const entersSecond = [used(10, 999, 'acme/second')]
    const wasThere = [used(3, 1, 'acme/old'), used(11, 1001, 'acme/old')]
    const finding = 'acme/new has the most tokens, 1,001, and was on no date before'
    expect(await warningsOf([...days(1, 11, 1000), ...entersFirst, ...entersSecond, ...wasThere])).toEqual([
      { check: 'new_leader', date: '2025-03-08', finding },
    ])
  })

  it('does not apply to the first seven dates of the dataset', async () => {
    expect(await warningsOf([...days(1, 7, 100), used(7, 1000, 'acme/new')])).toEqual([])
  })
})

describe('missing_date', () => {
  it('is each date without public usage between two with some, and none before the first or after the last', async () => {
    const gap = 'no public usage, although 2025-03-02 and 2025-03-05 have some'
    const privateAlone = used(6, 1, 'acme/one', { visibility: 'private' })
    expect(await warningsOf([used(1, 1), used(2, 1), used(5, 1), privateAlone, used(7, 1)])).toEqual([
      { check: 'missing_date', date: '2025-03-03', finding: gap },
      { check: 'missing_date', date: '2025-03-04', finding: gap },
      {
        check: 'missing_date',
        date: '2025-03-06',
        finding: 'no public usage, although 2025-03-05 and 2025-03-07 have some',
      },
    ])
  })
})

describe('silent_source', () => {
  const silentAltogether = {
    check: 'silent_source',
    finding: 'source "source-1" delivered no record at all',
  }
  const silentAtTheEnd = {
    check: 'silent_source',
    date: '2025-03-08',
    finding: 'source "source-1" delivered no record of this date, although it did for the week before',
  }

  it('is a source without a record, and one whose patterns match no file', async () => {
    const nowhere = { records: [], settings: { files: ['nowhere/*.csv'] } }
    expect(await warningsOf([{ records: [used(1, 1)] }, { records: [] }, nowhere])).toEqual([
      silentAltogether,
      { ...silentAltogether, finding: 'source "source-2" delivered no record at all' },
    ])
  })

  it('is a source without a record of the newest date that had one in the seven dates before', async () => {
    expect(await warningsOf([{ records: days(1, 8, 1) }, { records: [used(1, 1)] }])).toEqual([silentAtTheEnd])
  })

  it('is not one that was also silent on the previous seven dates', async () => {
    expect(await warningsOf([{ records: days(1, 9, 1) }, { records: [used(1, 1)] }])).toEqual([])
  })

  it('is not one with only unpublished records: private, rejected, or without a readable date', async () => {
    const sources = [
      days(1, 8, 1),
      [used(7, 1), used(8, 1, 'acme/one', { visibility: 'private' })],
      [used(7, 1), used(8, 1, '')],
      [used(1, 1, 'acme/one', { timestamp: 'some day' })],
    ].map((records) => ({ records }))
    const workspace = await workspaceOf(sources, { max_rejected_share: 1 })
    expect((await buildIn(workspace, '2025-03-20T12:00:00Z')).warnings).toEqual([])
  })

  it('is named only in the summary and the state: the public quality.json says a source', async () => {
    const workspace = await workspaceOf([{ records: days(1, 8, 1) }, { records: [used(1, 1)] }, { records: [] }])
    await buildIn(workspace)
    const last = { ...silentAltogether, finding: 'source "source-2" delivered no record at all' }
    const { warnings } = await readQuality(join(workspace.dataDir, 'state'))
    expect(warnings).toEqual([silentAtTheEnd, last])
    expect((await readQuality(await releaseFolder(workspace))).warnings).toEqual([
      { ...silentAtTheEnd, finding: 'a source delivered no record of this date, although it did for the week before' },
      { ...last, finding: 'a source delivered no record at all' },
    ])
  })
})

describe('warnings', () => {
  const gap = [used(1, 1), used(3, 1)]
  const finding = 'no public usage, although 2025-03-01 and 2025-03-03 have some'

  it('stop nothing by default, and are in the summary for people and for programs', async () => {
    const workspace = await workspaceOf([{ records: gap }])
    const { code, stdout, stderr } = await runBuild(workspace, {}, ['--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).warnings).toEqual([{ check: 'missing_date', date: '2025-03-02', finding }])
    expect(stderr).toContain(`  warnings  2025-03-02 ${finding} (missing_date)\n`)
  })

  it('are no change: equal rows make no new release', async () => {
    const workspace = await workspaceOf([{ records: gap }])
    await buildIn(workspace)
    await writeSmallBuild(workspace, { sources: [{ records: gap }, { records: [] }] })
    const again = await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(again.outcome).toBe('unchanged')
    expect(again.warnings.map(({ check }) => check)).toEqual(['missing_date', 'silent_source'])
  })

  it('are an empty list if no check finds anything', async () => {
    const workspace = await workspaceOf([{ records: days(1, 8, 1) }])
    expect((await buildIn(workspace)).warnings).toEqual([])
    expect((await readQuality(await releaseFolder(workspace))).warnings).toEqual([])
  })
})

describe('a blocking check', () => {
  const BLOCKING = { blocking: ['missing_date', 'silent_source'] }
  const LATER = '2025-03-10T13:00:00Z'
  const LAST = '2025-03-10T14:00:00Z'

  const accepting = (workspace: Workspace, accept: string[], asOf?: string): Promise<BuildSummary> =>
    buildIn(workspace, asOf, {}, { accept })

  it('stops a release until each of its findings is accepted, and says how', async () => {
    const workspace = await workspaceOf([{ records: [used(1, 1), used(3, 1)] }, { records: [] }], BLOCKING)
    const { code, stderr } = await runBuild(workspace)
    expect(code).toBe(1)
    expect(stderr).toContain('missing_date: Every date between the first and the last one has public usage.\n')
    expect(stderr).toContain('  2025-03-02: no public usage, although 2025-03-01 and 2025-03-03 have some\n')
    expect(stderr).toContain('  source "source-1" delivered no record at all\n')
    expect(stderr).toContain('--accept missing_date --accept silent_source\n')
    expect(await readdir(workspace.publicDir)).toEqual([])
    await expect(accepting(workspace, ['silent_source'])).rejects.toThrow('--accept missing_date')
    const accepted = await runBuild(workspace, {}, ['--accept', 'missing_date', '--accept', 'silent_source'])
    expect(accepted.code).toBe(0)
    expect((await readQuality(await releaseFolder(workspace))).warnings).toHaveLength(2)
  })

  it('leaves the previous release current', async () => {
    const workspace = await workspaceOf([{ records: [used(1, 1)] }], BLOCKING)
    await buildIn(workspace)
    await writeSmallBuild(workspace, { sources: [{ records: [used(1, 1), used(3, 1)] }], top: BLOCKING })
    await expect(buildIn(workspace, LATER)).rejects.toThrow(BuildError)
    expect((await readLatest(workspace)).end_date).toBe('2025-03-01')
    expect(await readdir(join(datasetFolder(workspace), 'releases'))).toHaveLength(2)
  })

  it('does not stop a later build for findings that the current release has', async () => {
    const before = [used(1, 1), used(3, 1)]
    const workspace = await workspaceOf([{ records: before }], BLOCKING)
    await accepting(workspace, ['missing_date'])
    expect((await buildIn(workspace, LATER)).outcome).toBe('unchanged')
    await writeSmallBuild(workspace, { sources: [{ records: [...before, used(4, 1)] }], top: BLOCKING })
    expect((await buildIn(workspace, LATER)).outcome).toBe('released')
  })

  it('does not stop a later build for findings from before the check was blocking', async () => {
    const before = [used(1, 1), used(3, 1)]
    const workspace = await workspaceOf([{ records: before }])
    await buildIn(workspace)
    await writeSmallBuild(workspace, { sources: [{ records: [...before, used(4, 1)] }], top: BLOCKING })
    expect((await buildIn(workspace, LATER)).outcome).toBe('released')
  })

  it('stops a later build for another date, and for another silent source', async () => {
    const before = [used(1, 1), used(3, 1)]
    const sources = [{ records: before }, { records: [] }]
    const workspace = await workspaceOf(sources, BLOCKING)
    await accepting(workspace, ['missing_date', 'silent_source'])
    await writeSmallBuild(workspace, {
      sources: [{ records: [...before, used(5, 1)] }, { records: [] }],
      top: BLOCKING,
    })
    await expect(buildIn(workspace, LATER)).rejects.toThrow('2025-03-04')
    const moreSilent = [{ records: [...before, used(4, 1)] }, { records: [] }, { records: [] }]
    await writeSmallBuild(workspace, { sources: moreSilent, top: BLOCKING })
    await expect(buildIn(workspace, LAST)).rejects.toThrow('--accept silent_source')
  })

  it.each([
    ['is misspelt', 'colapsed_day', 'did you mean "collapsed_day"?'],
    ['is nothing like any', 'x', 'collapsed_day, new_leader, missing_date, silent_source'],
    ['is a rule of the dataset itself', 'lost_tokens', 'lost_tokens always stops a build'],
  ])('is wrong usage where its name %s', async (_, name, message) => {
    const workspace = await workspaceOf([{ records: [used(1, 1)] }])
    await expect(accepting(workspace, [name])).rejects.toThrow(CliError)
    await expect(accepting(workspace, [name])).rejects.toThrow(message)
    await writeSmallBuild(workspace, { sources: [{ records: [used(1, 1)] }], top: { blocking: [name] } })
    await expect(buildIn(workspace)).rejects.toThrow(CliError)
    await expect(buildIn(workspace)).rejects.toThrow(`sources.json: blocking[0]: `)
    await expect(buildIn(workspace)).rejects.toThrow(message)
  })
})

describe('the rules of the ranking itself', () => {
  const SOUND: [date: string, model: string, tokens: bigint, position: number][] = [
    ['2025-03-01', 'acme/two', 20n, 1],
    ['2025-03-01', 'acme/one', 10n, 2],
  ]

  /** A database in which these rows were ranked from a rollup of `counted` tokens. */
  async function databaseOf(rows: typeof SOUND, counted: bigint): Promise<Database> {
    const { root } = await newWorkspace()
    const { signal } = new AbortController()
    const options = { path: join(root, 'x.duckdb'), temporaryFolder: root, memoryLimit: '512MiB', signal }
    const database = await Database.open(options)
    onTestFinished(() => database.close())
    await database.execute(
      'CREATE TEMP TABLE out_rankings_daily (date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position INTEGER)',
    )
    const texts = rows.map(([date, model, tokens, position]) => [date, model, String(tokens), String(position)])
    await database.append('out_rankings_daily', texts)
    await database.run('result/create_rollup')
    await database.append('core_rollup', [['a', '2025-03-01', 'acme/one', String(counted), '1']])
    return database
  }

  const sumOf = (rows: typeof SOUND) => rows.reduce((sum, [, , tokens]) => sum + tokens, 0n)
  const crowd = Array.from({ length: 51 }, (_, index): (typeof SOUND)[number] => [
    '2025-03-01',
    `acme/${String(index).padStart(2, '0')}`,
    5n,
    index + 1,
  ])
  const tooBig = 2n ** 63n

  it('hold for a sound ranking', async () => {
    await assertInvariants(await databaseOf(SOUND, 30n), '2025-03-01')
  })

  it.each<[string, typeof SOUND, string]>([
    [
      'too_many_rows',
      crowd,
      'too_many_rows: A date has at most 50 models and one row of the rest.\n  2025-03-01: 51 rows',
    ],
    ['doubled_model', [...SOUND, ['2025-03-01', 'acme/one', 10n, 3]], '  2025-03-01: acme/one has 2 rows'],
    ['other_without_cause', [...SOUND, ['2025-03-01', 'other', 1n, 3]], 'has a row of the rest behind 2 models'],
    ['not_an_integer_of_64_bits', [['2025-03-01', 'acme/one', tooBig, 1]], `acme/one has ${tooBig} tokens`],
    ['not_an_integer_of_64_bits', [['2025-03-01', 'acme/one', 0n, 1]], 'acme/one has 0 tokens'],
    [
      'out_of_order',
      SOUND.map(([date, model, tokens, position]) => [date, model, tokens, 3 - position]),
      'stands before',
    ],
  ])('stop what breaks %s', async (check, rows, message) => {
    const proof = assertInvariants(await databaseOf(rows, sumOf(rows)), '2025-03-01')
    await expect(proof).rejects.toThrow(BuildError)
    await expect(proof).rejects.toThrow(`${check}: `)
    await expect(proof).rejects.toThrow(message)
  })

  it('stop a build whose ranking breaks them, and nothing is published', async () => {
    const { execute } = Database.prototype
    const spy = vi.spyOn(Database.prototype, 'execute').mockImplementation(async function (this: Database, sql, given) {
      await execute.call(this, sql, given)
      if (!sql.includes('TEMP TABLE out_rankings_daily')) return
      await execute.call(this, 'UPDATE out_rankings_daily SET total_tokens = total_tokens + 1')
    })
    onTestFinished(() => spy.mockRestore())
    const workspace = await workspaceOf([{ records: [used(1, 1)] }])
    await expect(buildIn(workspace)).rejects.toThrow('lost_tokens: ')
    expect(existsSync(datasetFolder(workspace))).toBe(false)
  })

  it('stop rows that do not add up to what was counted', async () => {
    const proof = assertInvariants(await databaseOf(SOUND, 31n), '2025-03-01')
    await expect(proof).rejects.toThrow('lost_tokens: ')
    await expect(proof).rejects.toThrow('  2025-03-01: publishes 30 tokens of 31')
  })
})
