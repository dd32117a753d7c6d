/** Which days of ClickHouse a build asks for, keeps, replaces and forgets. */
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../../pipeline/errors.ts'
import { type FakeClickHouse, startFakeClickHouse } from '../../support/fake-clickhouse.ts'
import { buildIn, csvOf, newWorkspace, publishedCsv, type Workspace, writeInput } from '../../support/pipeline.ts'

const DAYS = { '2025-03-01': 1, '2025-03-02': 2, '2025-03-03': 3, '2025-03-08': 4 }

async function describeEngine(
  workspace: Workspace,
  clickhouse: Record<string, unknown>,
  top: Record<string, unknown> = {},
): Promise<void> {
  const engine = { visibility: 'public', clickhouse: { view: 'usage', from: '2025-03-01', ...clickhouse } }
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

describe('days that were asked for in another way', () => {
  it('are asked for again, and a day that lost records fails the build', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, view: 'other' })
    delete fake.days['2025-03-01']
    const failed = buildIn(workspace, '2025-03-10T13:00:00Z')
    await expect(failed).rejects.toThrow(BuildError)
    await expect(failed).rejects.toThrow('2025-03-01 had 1 records when it was asked for before and has 0 now')
    fake.days['2025-03-01'] = 5
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published({ ...DAYS, '2025-03-01': 5 }))
  })

  it('stay where the sources file says so', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, view: 'other' }, { on_missing: 'keep' })
    delete fake.days['2025-03-01']
    fake.days['2025-03-02'] = 7
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published({ ...DAYS, '2025-03-02': 7 }))
  })

  it('are not forgotten while ClickHouse does not answer', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, view: 'other' })
    fake.isDown = true
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow('Nothing works')
    fake.isDown = false
    delete fake.days['2025-03-01']
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published(DAYS))
    expect(daysAsked(fake)).not.toContain('2025-03-02')
  })

  it('are not those of the same url in another spelling', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: `${fake.url}/` })
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(daysAsked(fake)).toEqual(['2025-03-08'])
  })
})

describe('days before the first date that is asked for', () => {
  it('are forgotten, and not before ClickHouse has answered', async () => {
    const { workspace, fake } = await askedFor()
    await describeEngine(workspace, { url: fake.url, from: '2025-03-03' })
    fake.isDown = true
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow('Nothing works')
    fake.isDown = false
    await describeEngine(workspace, { url: fake.url })
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(daysAsked(fake)).toEqual(['2025-03-08'])
    await describeEngine(workspace, { url: fake.url, from: '2025-03-03' })
    await buildIn(workspace, '2025-03-10T15:00:00Z')
    expect(await publishedCsv(workspace)).toBe(published({ '2025-03-03': 3, '2025-03-08': 4 }))
  })
})
