/** Which days of ClickHouse a build asks for, keeps, replaces and forgets. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { reproduce } from '../../pipeline/reproduce.ts'
import { reportDisclosure } from '../../pipeline/rollup/disclosure-report.ts'
import { COLUMN_TYPES, type FakeClickHouse, startFakeClickHouse } from '../support/fake-clickhouse.ts'
import {
  archiveIn,
  buildAndListen,
  buildIn,
  csvOf,
  effectsWith,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  settings,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'

const DAYS = { '2025-03-01': 1, '2025-03-02': 2, '2025-03-03': 3, '2025-03-08': 4 }

async function describeEngine(
  workspace: Workspace,
  clickhouse: Record<string, unknown>,
  top: Record<string, unknown> = {},
  others: Record<string, unknown> = {},
): Promise<void> {
  const engine = { ...others, visibility: 'public', clickhouse: { view: 'usage', from: '2025-03-01', ...clickhouse } }
  await writeInput(workspace, 'sources.json', { ...top, engine })
}

async function askedFor(days: Record<string, number> = DAYS): Promise<{ workspace: Workspace; fake: FakeClickHouse }> {
  const fake = await startFakeClickHouse({ ...days })
  const workspace = await newWorkspace()
  await describeEngine(workspace, { url: fake.url })
  await buildIn(workspace)
  fake.asked.length = 0
  return { workspace, fake }
}

/** The days that were asked for since. */
function daysAsked({ asked }: FakeClickHouse): string[] {
  const questions = asked.filter(({ statement }) => statement.includes('part_conflicting'))
  return questions.map(({ statement }) => /toDate\('([^']*)'\)/.exec(statement)?.[1] ?? '')
}

const published = (days: Record<string, number>) =>
  csvOf(Object.entries(days).map(([date, records]) => [date, 'acme/one', records * 10]))

describe('final days', () => {
  it('are asked for again only if another view is, and the build fails if a day lost records', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: `${fake.url}/` })
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(daysAsked(fake)).toEqual(['2025-03-08'])
    await describeEngine(workspace, { url: fake.url, view: 'other' })
    delete fake.days['2025-03-01']
    const failed = buildIn(workspace, '2025-03-10T14:00:00Z')
    await expect(failed).rejects.toThrow(BuildError)
    await expect(failed).rejects.toThrow('2025-03-01 had 1 record when it was last queried and has 0 now')
    fake.days['2025-03-02'] = 7
    await describeEngine(workspace, { url: fake.url, view: 'other' }, { on_missing: 'keep' })
    await buildIn(workspace, '2025-03-10T15:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published({ ...DAYS, '2025-03-02': 7 }))
  })

  it.each([
    ['before another first date', { from: '2025-03-03' }],
    ['of another view', { view: 'other' }],
  ])('are not forgotten while ClickHouse does not answer: days %s', async (_, change) => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, ...change })
    fake.isDown = true
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow('Nothing works')
    fake.isDown = false
    delete fake.days['2025-03-01']
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published(DAYS))
    expect(daysAsked(fake)).not.toContain('2025-03-02')
  })

  it('are forgotten if they are before another first date', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, from: '2025-03-03' })
    await buildIn(workspace, '2025-03-10T15:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published({ '2025-03-03': 3, '2025-03-08': 4 }))
  })
})

it('a day is asked for again while records arrive for it, and the build fails if that does not end', async () => {
  const { workspace, fake } = await askedFor()
  let arriving = 3
  fake.onDay = (date) => {
    if (arriving-- > 0) fake.days[date] = (fake.days[date] ?? 0) + 1
  }
  await buildIn(workspace, '2025-03-10T13:00:00Z')
  expect(daysAsked(fake)).toEqual(Array(4).fill('2025-03-08'))
  expect(await publishedCsv(workspace)).toBe(published({ ...DAYS, '2025-03-08': 7 }))
  arriving = Number.POSITIVE_INFINITY
  const failed = buildIn(workspace, '2025-03-10T14:00:00Z')
  await expect(failed).rejects.toThrow(BuildError)
  await expect(failed).rejects.toThrow('the records of 2025-03-08 change while they are summed')
})

it('a build that is stopped keeps the days that were answered, and the next build asks for the others', async () => {
  const fake = await startFakeClickHouse(DAYS)
  const workspace = await newWorkspace()
  await describeEngine(workspace, { url: fake.url })
  const controller = new AbortController()
  fake.onDay = (date) => {
    if (date === '2025-03-03') controller.abort(new Error('stopped'))
  }
  await expect(buildIn(workspace, undefined, { signal: controller.signal })).rejects.toThrow('stopped')
  fake.asked.length = 0
  fake.onDay = () => {}
  await buildIn(workspace)
  expect(daysAsked(fake)).toEqual(['2025-03-03', '2025-03-08'])
  expect(await publishedCsv(workspace)).toBe(published(DAYS))
})

it('a day that is not over when it is asked for is asked for again, whatever AS_OF was', async () => {
  const { workspace, fake } = await askedFor()
  const now = () => new Date('2025-03-10T13:00:00Z')
  fake.days['2025-03-10'] = 1
  await buildIn(workspace, '2025-04-10T00:00:00Z', { now })
  fake.days['2025-03-10'] = 9
  await buildIn(workspace, '2025-04-10T01:00:00Z')
  expect(await publishedCsv(workspace)).toBe(published({ ...DAYS, '2025-03-10': 9 }))
})

describe('the view', () => {
  it.each([
    ['utc_date', "DateTime('UTC')", "toDate(…, 'UTC')"],
    ['utc_date', 'Nullable(Date)', "toDate(…, 'UTC')"],
    ['request_id', 'FixedString(16)', 'toString(…)'],
    ['model', "Enum8('a' = 1)", 'toString(…)'],
    ['prompt_tokens', 'Float64', 'toInt64(…)'],
  ])('is refused if its column %s is %s', async (column, type, remedy) => {
    const fake = await startFakeClickHouse(DAYS)
    fake.columns = { ...COLUMN_TYPES, [column]: type }
    const workspace = await newWorkspace()
    await describeEngine(workspace, { url: fake.url })
    const failed = buildIn(workspace)
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow(`column ${column} of view usage is ${type}`)
    await expect(failed).rejects.toThrow(remedy)
  })

  it.each([
    {
      utc_date: 'Date32',
      request_id: 'Nullable(UUID)',
      prompt_tokens: 'UInt256',
      completion_tokens: 'Nullable(UInt64)',
    },
    { request_id: 'Nullable(Nothing)', model: 'String' },
  ])('may have columns that are %o', async (types) => {
    const fake = await startFakeClickHouse(DAYS)
    fake.columns = { ...COLUMN_TYPES, ...types }
    const workspace = await newWorkspace()
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace)
    expect(await publishedCsv(workspace)).toBe(published(DAYS))
  })
})

const record = (day: number, request_id: string) => {
  return { timestamp: `2025-03-0${day}T12:00:00Z`, model_permaslug: 'acme/one', prompt_tokens: '7', request_id }
}

describe('raw files that ClickHouse replaces', () => {
  /** A workspace that has read two records of one day, one of them twice, and one record of another. */
  async function afterRawFiles(): Promise<{ workspace: Workspace; fake: FakeClickHouse }> {
    const workspace = await newWorkspace()
    const records = [record(1, 'a'), record(1, 'a'), record(1, 'b'), record(2, 'c')]
    await writeSmallBuild(workspace, { sources: [{ records, settings: { name: 'gateway' } }] })
    await buildIn(workspace)
    return { workspace, fake: await startFakeClickHouse({ '2025-03-01': 2, '2025-03-02': 1 }) }
  }

  it('do not count beside it, and their duplicates are not subtracted from it', async () => {
    const { workspace, fake } = await afterRawFiles()
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published(fake.days))
    await describeEngine(workspace, { url: fake.url }, {}, { name: 'gateway' })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published(fake.days))
  })

  it('stop the build if ClickHouse has fewer records of a day, unless on_missing is remove', async () => {
    const { workspace, fake } = await afterRawFiles()
    delete fake.days['2025-03-02']
    for (const on_missing of ['fail', 'keep']) {
      await describeEngine(workspace, { url: fake.url }, { on_missing }, { name: 'gateway' })
      const failed = buildIn(workspace, '2025-03-10T13:00:00Z')
      await expect(failed).rejects.toThrow(BuildError)
      await expect(failed).rejects.toThrow(
        'raw files had 1 record of 2025-03-02, but ClickHouse, which replaces them, has 0',
      )
    }
    await describeEngine(workspace, { url: fake.url }, { on_missing: 'remove' }, { name: 'gateway' })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published(fake.days))
  })
})

describe('raw files of a source that ClickHouse had', () => {
  it('replace its days only if on_missing is remove, and nothing of them is left', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url }, {}, { name: 'gateway' })
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    const records = [1, 2, 3, 8].flatMap((day) => [record(day, 'a'), record(day, 'a')])
    for (const on_missing of ['fail', 'keep']) {
      await writeSmallBuild(workspace, { sources: [{ records, settings: { name: 'gateway' } }], top: { on_missing } })
      const failed = buildIn(workspace, '2025-03-10T14:00:00Z')
      await expect(failed).rejects.toThrow('raw files would replace 4 days from ClickHouse, such as 2025-03-01')
      await expect(failed).rejects.not.toThrow('"keep"')
    }
    const top = { on_missing: 'remove' }
    await writeSmallBuild(workspace, { sources: [{ records, settings: { name: 'gateway' } }], top })
    const built = await buildIn(workspace, '2025-03-10T15:00:00Z')
    expect(built.records).toMatchObject({ read: 8, published: 4, duplicates: 4 })
  })
})

it('of copies with equal counts the greatest slug by the current registry counts', async () => {
  const { workspace, fake } = await askedFor({ '2025-03-01': 2 })
  const sums = { records: '1', tokens: '9', identified_records: '1', conflicting_records: '0', contributor: '' }
  fake.answer = ['delivered', 'repeated'].flatMap((kind) =>
    ['a', 'b'].map((model) => ({ kind, models: [model], ...sums })),
  )
  fake.answer.push({ kind: 'kept', models: ['a', 'b'], ...sums })
  await describeEngine(workspace, { url: fake.url, view: 'other' }, { on_missing: 'remove', models: 'models.json' })
  const expected = [
    { aliases: [[], []], model: 'b' },
    { aliases: [['a'], []], model: 'z' },
    { aliases: [['a'], ['b']], model: 'zz' },
  ]
  for (const [minute, { aliases, model }] of expected.entries()) {
    const models = ['z', 'zz'].map((slug, at) => ({ model_permaslug: slug, aliases: aliases[at], public: true }))
    await writeInput(workspace, 'models.json', models)
    await buildIn(workspace, `2025-03-10T13:0${minute}:00Z`)
    expect(rowsOf(await publishedCsv(workspace))).toEqual([`2025-03-01 ${model} 9`])
  }
})

it('records without ids are not summed if many nodes have the same, because the view reads them all', async () => {
  const fake = await startFakeClickHouse({ '2025-03-01': 4 })
  const workspace = await newWorkspace()
  await describeEngine(workspace, { url: fake.url, cluster: 'main' })
  fake.nodes = { nodes: '2', different: '1', records: '100' }
  const failed = buildIn(workspace)
  await expect(failed).rejects.toThrow(BuildError)
  await expect(failed).rejects.toThrow('each of the 2 nodes has the same records of 2025-03-01')
  fake.nodes.records = '99'
  expect((await buildIn(workspace)).records.published).toBe(4)
})

describe('customers of a view', () => {
  const FINAL = ['2025-03-01', '2025-03-02', '2025-03-03']

  /** A workspace that has asked for sums alone, and a view that now says whose usage it is. */
  async function nowWithCustomers(): Promise<{ workspace: Workspace; fake: FakeClickHouse }> {
    const asked = await askedFor({ ...DAYS, '2025-03-01': 4 })
    asked.fake.columns = { ...COLUMN_TYPES, contributor: 'Nullable(UInt64)' }
    asked.fake.contributors = ['anna', 'bert', ' ANNA', '']
    return asked
  }

  /** Of the day with four records: two of anna, one of bert, one of nobody knows whom. */
  const ANNA_AND_BERT = { date: '2025-03-01', contributors: 2, largest_share: 0.75 }

  async function cellsOf(workspace: Workspace, asOf = '2025-03-10T15:00:00Z') {
    const config = { ...readPipelineConfig(settings(workspace, asOf)), threads: 1 }
    const { worst_cells } = await reportDisclosure(config, effectsWith(), { min_contributors: 9, p_percent: 10 })
    return worst_cells
      .filter(({ date }) => date === '2025-03-01')
      .map(({ date, contributors, largest_share }) => ({ date, contributors, largest_share }))
  }

  it('are asked for once, and change nothing that is published', async () => {
    const { workspace, fake } = await nowWithCustomers()
    const { outcome, disclosure } = await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect({ outcome, disclosure }).toMatchObject({ outcome: 'unchanged', disclosure: { has_contributors: true } })
    expect(daysAsked(fake)).toEqual([...FINAL, '2025-03-08'])
    fake.asked.length = 0
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(daysAsked(fake)).toEqual(['2025-03-08'])
    expect(await cellsOf(workspace)).toEqual([ANNA_AND_BERT])
    expect(await readFile(join(workspace.dataDir, 'state/build.duckdb'), 'latin1')).not.toMatch(/anna|bert/i)
  })

  it('are unknown where a final day has other records now, and its number stays', async () => {
    const { workspace, fake } = await nowWithCustomers()
    fake.days['2025-03-01'] = 5
    const { summary, notices } = await buildAndListen(workspace, '2025-03-10T13:00:00Z')
    expect(summary.outcome).toBe('unchanged')
    expect(notices).toContainEqual(
      expect.stringContaining('the records of 1 final day, such as 2025-03-01, are no longer'),
    )
    fake.asked.length = 0
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(daysAsked(fake)).toEqual(['2025-03-08'])
    expect(await cellsOf(workspace)).toEqual([{ ...ANNA_AND_BERT, contributors: 0, largest_share: 1 }])
  })

  it('stay known of archived dates that ClickHouse does not have any more', async () => {
    const { workspace, fake } = await nowWithCustomers()
    await archiveIn(workspace, '2025-03-04', '2025-03-10T13:00:00Z')
    for (const date of FINAL) delete fake.days[date]
    await rm(join(workspace.dataDir, 'state'), { recursive: true })
    expect(await cellsOf(workspace)).toEqual([ANNA_AND_BERT])
  })

  it.each([
    ['there is no disclosure control', { disclosure: 'none' }, {}],
    ['no usage is that of a customer', {}, { contributors: 'exempt', note: 'Our own.' }],
  ])('are neither asked for nor kept if %s', async (_, top, engine) => {
    const { workspace, fake } = await nowWithCustomers()
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    fake.asked.length = 0
    await describeEngine(workspace, { url: fake.url }, top, engine)
    const { disclosure } = await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect({ disclosure, asked: daysAsked(fake) }).toEqual({ disclosure: undefined, asked: ['2025-03-08'] })
    expect(fake.asked.some(({ statement }) => statement.includes('toString(contributor)'))).toBe(false)
    fake.asked.length = 0
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace, '2025-03-10T15:00:00Z')
    expect(daysAsked(fake)).toEqual([...FINAL, '2025-03-08'])
  })

  it('decide under a rule what is published, which is reproduced', async () => {
    const fake = await startFakeClickHouse({ '2025-03-01': 10, '2025-03-02': 4 })
    fake.columns = { ...COLUMN_TYPES, contributor: 'String' }
    fake.contributors = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
    const workspace = await newWorkspace()
    await describeEngine(workspace, { url: fake.url }, { disclosure: {} })
    await buildIn(workspace)
    expect(await publishedCsv(workspace)).toBe(published({ '2025-03-01': 10 }))
    expect(await readManifest(await releaseFolder(workspace))).toMatchObject({
      disclosure: { protects: ['customers'], exempt: [] },
    })
    expect(await reproduce(readPipelineConfig(settings(workspace, '')), effectsWith())).toMatchObject({ equal: true })
  })

  it('must be in the view under a rule, unless the usage is that of nobody', async () => {
    const { workspace, fake } = await askedFor()
    await expect(cellsOf(workspace)).rejects.toThrow(CliError)
    await describeEngine(workspace, { url: fake.url }, { disclosure: {} })
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow(
      'view usage has no column contributor, which disclosure control needs',
    )
    await describeEngine(workspace, { url: fake.url }, { disclosure: {} }, { contributors: 'exempt', note: 'Our own.' })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await readManifest(await releaseFolder(workspace))).toMatchObject({
      disclosure: { protects: [], exempt: ['Our own.'] },
    })
  })
})
