/** Days and months with their revisions, and the coverage that tells of them (DESIGN.md §5). */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { fromDatasetStart } from '../../pipeline/dataset/coverage.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { coveredDay, namesIn, readCoverage, readDay, readRestatements, text } from '../support/history.ts'
import {
  buildIn,
  createWorkspace,
  csvOf,
  datasetFolder,
  newWorkspace,
  removeWorkspace,
  sha256,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { madeBy010, relistReleases } from '../support/reseal.ts'

type Use = [date: string, model: string, tokens: number]

async function deliver(workspace: Workspace, uses: Use[], more = {}): Promise<void> {
  const records = uses.map(([date, model_permaslug, tokens]) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug,
    prompt_tokens: String(tokens),
  }))
  await writeSmallBuild(workspace, { sources: [{ records }], top: { on_missing: 'remove' }, ...more })
}

function prove({ publicDir }: Workspace, { withPages = true } = {}): ReturnType<typeof verify> {
  return verify(publicDir, { signal: new AbortController().signal, report: () => {}, withPages })
}

/** The hour of a delivery of this day. */
function hour(position: number): string {
  return `2025-03-10T1${position}:00:00Z`
}

const FIRST: Use[] = [
  ['2025-02-28', 'a', 1],
  ['2025-03-02', 'a', 2],
  ['2025-03-09', 'b', 3],
]

/** Of one release, of `FIRST`. */
let one: Workspace

beforeAll(async () => {
  one = await createWorkspace()
  await deliver(one, FIRST)
  await buildIn(one, hour(0))
})

afterAll(() => removeWorkspace(one))

/** A copy of `one` into which more was delivered, a build each. */
async function followedBy(...deliveries: Use[][]): Promise<Workspace> {
  const workspace = await newWorkspace()
  await cp(one.root, workspace.root, { recursive: true, verbatimSymlinks: true })
  for (const [position, uses] of deliveries.entries()) {
    await deliver(workspace, uses)
    await buildIn(workspace, hour(1 + position))
  }
  return workspace
}

describe('a day of a first release', () => {
  it('is the answer of the API for that day, in a file', async () => {
    expect(await readDay(one, 'daily/2025-03-02.json')).toEqual({
      data: [{ date: '2025-03-02', model_permaslug: 'a', total_tokens: '2' }],
      meta: { as_of: '2025-03-10T10:00:00Z', start_date: '2025-03-02', end_date: '2025-03-02', version: 'v1' },
    })
  })

  it('is its rows as CSV and Parquet, without a word of the release', async () => {
    expect(await text(one, 'daily/2025-03-02.csv')).toBe(csvOf([['2025-03-02', 'a', 2]]))
    const path = join(datasetFolder(one), 'daily/2025-03-02.parquet')
    const rows = await query(
      `SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, total_tokens FROM ${sqlText(path)}`,
    )
    expect(rows).toEqual([{ date: '2025-03-02', model_permaslug: 'a', total_tokens: 2n }])
    const [columns] = await query(`SELECT typeof(date) AS date, typeof(total_tokens) AS tokens FROM ${sqlText(path)}`)
    expect(columns).toEqual({ date: 'DATE', tokens: 'BIGINT' })
  })

  it('is its first revision, byte for byte', async () => {
    expect(await namesIn(one, 'daily/2025-03-02')).toEqual(['r1.csv', 'r1.json', 'r1.parquet'])
    for (const form of ['csv', 'json', 'parquet']) {
      const [pointer, revision] = await Promise.all(
        [`daily/2025-03-02.${form}`, `daily/2025-03-02/r1.${form}`].map((path) =>
          readFile(join(datasetFolder(one), path)),
        ),
      )
      expect(pointer, form).toEqual(revision)
    }
  })
})

describe('a month', () => {
  it('is the rows of its dates as CSV and Parquet', async () => {
    expect(await text(one, 'monthly/2025-03.csv')).toBe(
      csvOf([
        ['2025-03-02', 'a', 2],
        ['2025-03-09', 'b', 3],
      ]),
    )
    expect(await namesIn(one, 'monthly')).toEqual([
      '2025-02',
      '2025-02.csv',
      '2025-02.parquet',
      '2025-03',
      '2025-03.csv',
      '2025-03.parquet',
    ])
  })
})

describe('a new release', () => {
  const SECOND: Use[] = [
    ['2025-02-28', 'a', 1],
    ['2025-03-02', 'a', 20],
    ['2025-03-09', 'b', 3],
  ]

  it('makes a revision of the days and months whose rows it changes, and of no others', async () => {
    const workspace = await followedBy(SECOND)
    expect(await namesIn(workspace, 'daily/2025-03-02')).toEqual(
      ['r1', 'r2'].flatMap((revision) => ['csv', 'json', 'parquet'].map((form) => `${revision}.${form}`)),
    )
    expect(await namesIn(workspace, 'daily/2025-03-09')).toEqual(['r1.csv', 'r1.json', 'r1.parquet'])
    expect(await namesIn(workspace, 'monthly/2025-03')).toEqual(['r1.csv', 'r1.parquet', 'r2.csv', 'r2.parquet'])
    expect(await namesIn(workspace, 'monthly/2025-02')).toEqual(['r1.csv', 'r1.parquet'])
    expect(await text(workspace, 'daily/2025-03-02.csv')).toBe(csvOf([['2025-03-02', 'a', 20]]))
    expect((await readDay(workspace, 'daily/2025-03-02.json')).meta.as_of).toBe('2025-03-10T11:00:00Z')
    expect((await readDay(workspace, 'daily/2025-03-09.json')).meta.as_of).toBe('2025-03-10T10:00:00Z')
  })

  it('leaves every byte of the revisions before it', async () => {
    const before = Object.entries(await snapshotTree(datasetFolder(one))).filter(([name]) => /\/r1\./.test(name))
    expect(before).toHaveLength(3 * 3 + 2 * 2)
    const workspace = await followedBy(SECOND)
    expect(await snapshotTree(datasetFolder(workspace))).toMatchObject(Object.fromEntries(before))
  })

  it('takes the pointer files of a day without rows away and keeps its revisions; they are counted on', async () => {
    const without = SECOND.filter(([date]) => date !== '2025-03-02')
    const workspace = await followedBy(without)
    expect(await namesIn(workspace, 'daily')).toEqual([
      '2025-02-28',
      ...['csv', 'json', 'parquet'].map((form) => `2025-02-28.${form}`),
      '2025-03-02',
      '2025-03-09',
      ...['csv', 'json', 'parquet'].map((form) => `2025-03-09.${form}`),
    ])
    expect(await coveredDay(workspace, '2025-03-02')).toEqual({
      date: '2025-03-02',
      status: 'missing',
      reason: 'removed',
      rows: 0,
      total_tokens: '0',
      revision: 1,
      content_hash: null,
      release: '20250310T110000Z',
    })
    await deliver(workspace, FIRST)
    await buildIn(workspace, '2025-03-10T12:00:00Z')
    expect(await namesIn(workspace, 'daily/2025-03-02')).toContain('r2.json')
    expect((await coveredDay(workspace, '2025-03-02'))?.revision).toBe(2)
  })

  it('remembers the revisions of dates after its last one', async () => {
    const workspace = await followedBy(FIRST.slice(0, 1), FIRST)
    expect((await readCoverage(workspace)).end_date).toBe('2025-03-09')
    expect(await namesIn(workspace, 'daily/2025-03-09')).toContain('r2.csv')
  })
})

describe('coverage.json', () => {
  it('has a row for each date from the first to the last', async () => {
    const { days, start_date, end_date } = await readCoverage(one)
    expect([start_date, end_date]).toEqual(['2025-02-28', '2025-03-09'])
    expect(days).toHaveLength(1 + 9)
    expect(days.at(0)).toMatchObject({ date: '2025-02-28', status: 'final', revision: 1 })
    expect(days.at(1)).toMatchObject({
      date: '2025-03-01',
      status: 'missing',
      reason: 'no_public_usage',
      revision: null,
    })
    expect(days.at(-1)).toEqual({
      date: '2025-03-09',
      status: 'provisional',
      reason: null,
      rows: 1,
      total_tokens: '3',
      revision: 1,
      content_hash: `sha256:${sha256(csvOf([['2025-03-09', 'b', 3]]))}`,
      release: '20250310T100000Z',
    })
    expect(days.find(({ date }) => date === '2025-03-02')?.status).toBe('final')
  })

  it('begins with the first date that the dataset ever had, also when its rows went or an earlier date came', async () => {
    const workspace = await followedBy(FIRST.slice(1))
    const { start_date, days } = await readCoverage(workspace)
    expect(start_date).toBe('2025-02-28')
    expect(days.at(0)).toMatchObject({ date: '2025-02-28', status: 'missing', reason: 'removed', revision: 1 })
    await deliver(workspace, [['2025-02-20', 'a', 4], ...FIRST])
    await buildIn(workspace, '2025-03-10T12:00:00Z')
    const earlier = await readCoverage(workspace)
    expect(earlier.start_date).toBe('2025-02-20')
    expect(earlier.days.at(0)).toMatchObject({ date: '2025-02-20', status: 'final', revision: 1 })
    expect(earlier.days.at(1)).toMatchObject({ date: '2025-02-21', status: 'missing', reason: 'no_public_usage' })
    // It was as good as final before it came.
    const dates = (await readRestatements(workspace)).at(-1)?.dates.map(({ date }) => date)
    expect(dates).toEqual(['2025-02-20', '2025-02-28'])
    expect(await prove(workspace)).toMatchObject({ releases: 3 })
  })

  it('of 0.1.0, which began at 2025-01-01, is accepted by verify and begins later after the next build', async () => {
    const workspace = await newWorkspace()
    await cp(one.root, workspace.root, { recursive: true, verbatimSymlinks: true })
    await madeBy010(workspace, '20250310T100000Z', '1.0.0')
    await relistReleases(workspace)
    // An unchanged build lets everything follow the changed manifest.
    expect((await buildIn(workspace, hour(1))).outcome).toBe('unchanged')
    const trimmed = await text(workspace, 'coverage.json')
    await writeFile(join(datasetFolder(workspace), 'coverage.json'), toJson(fromDatasetStart(JSON.parse(trimmed))))
    expect(await readCoverage(workspace)).toMatchObject({ start_date: '2025-01-01' })
    expect((await readCoverage(workspace)).days).toHaveLength(31 + 28 + 9)
    expect(await prove(workspace, { withPages: false })).toMatchObject({ releases: 1 })
    expect((await buildIn(workspace, hour(1))).outcome).toBe('unchanged')
    expect(await text(workspace, 'coverage.json')).toBe(trimmed)
    expect(await prove(workspace)).toMatchObject({ releases: 1 })
  })

  it('that begins too early is named by verify, unless 0.1.0 wrote it', async () => {
    const workspace = await followedBy()
    const path = join(datasetFolder(workspace), 'coverage.json')
    await writeFile(path, toJson(fromDatasetStart(JSON.parse(await readFile(path, 'utf8')))))
    await expect(prove(workspace)).rejects.toThrow(/coverage\.json says of 2025-01-01/)
  })

  it('says of a date with private and withheld usage alone what it says of one without any', async () => {
    const workspace = await newWorkspace()
    await deliver(workspace, [...FIRST, ['2025-03-04', 'secret', 9], ['2025-03-05', 'unknown', 9]], {
      models: [{ model_permaslug: 'a' }, { model_permaslug: 'b' }, { model_permaslug: 'secret', public: false }],
    })
    const sources = JSON.parse(await readFile(workspace.sources, 'utf8'))
    sources.sources[0].visibility = 'registry'
    await writeFile(workspace.sources, JSON.stringify(sources))
    await buildIn(workspace)
    const { days } = await readCoverage(workspace)
    const [none, hidden, withheld] = ['2025-03-03', '2025-03-04', '2025-03-05'].map((wanted) => {
      const { date: _, ...rest } = days.find(({ date }) => date === wanted) ?? { date: '' }
      return rest
    })
    expect(none).toMatchObject({ status: 'missing', rows: 0 })
    expect(hidden).toEqual(none)
    expect(withheld).toEqual(none)
  })

  it('is made again, with all that it tells of, where it is lost', async () => {
    const workspace = await followedBy([['2025-03-02', 'a', 5]], FIRST)
    const before = await snapshotTree(workspace.publicDir)
    for (const path of ['coverage.json', 'restatements.json', 'daily', 'monthly']) {
      await rm(join(datasetFolder(workspace), path), { recursive: true })
    }
    expect((await buildIn(workspace, '2025-03-10T13:00:00Z')).outcome).toBe('unchanged')
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('that is lost does not lead to a revision that says something else', async () => {
    const workspace = await followedBy()
    await rm(join(datasetFolder(workspace), 'coverage.json'))
    await writeFile(join(datasetFolder(workspace), 'daily/2025-03-02/r1.csv'), 'another')
    await expect(buildIn(workspace)).rejects.toThrow(/daily\/2025-03-02\/r1\.csv is published with other rows/)
  })
})

it('equal inputs and instants give equal bytes of everything that is published', async () => {
  const more: Use[] = [...FIRST, ['2025-03-08', 'b', 4]]
  const published = await snapshotTree((await followedBy(more, FIRST)).publicDir)
  const other = await newWorkspace()
  for (const [position, uses] of [FIRST, more, FIRST].entries()) {
    await deliver(other, uses)
    await buildIn(other, hour(position))
  }
  expect(Object.keys(published).length).toBeGreaterThan(80)
  expect(await snapshotTree(other.publicDir)).toEqual(published)
})
