/** The rule for cells against a plain oracle on random gateways. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { applyRule, rankSafe } from '../../pipeline/dataset/disclosure.ts'
import { type Contribution, rankUnderRule } from '../support/disclosure-oracle.ts'
import { temporaryFolder } from '../support/folder.ts'
import { tries } from '../support/property.ts'

const LAST_DATE = '2025-03-09'

const contribution: fc.Arbitrary<Contribution> = fc.record({
  date: fc.constantFrom('2024-12-31', '2025-03-01', '2025-03-02', '2025-03-10'),
  model: fc.integer({ min: 1, max: 70 }).map((number) => `acme/${number}`),
  contributor: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }).map((number) => `customer-${number}`) },
    { weight: 1, arbitrary: fc.constantFrom('unknown', 'exempt') },
  ),
  tokens: fc.integer({ min: 0, max: 3 }).chain((digits) => fc.integer({ min: 0, max: 10 ** digits })),
})

async function databaseOf(contributions: readonly Contribution[]): Promise<Database> {
  const { signal } = new AbortController()
  const database = await Database.open({
    path: ':memory:',
    temporaryFolder: await temporaryFolder(),
    memoryLimit: undefined,
    signal,
  })
  onTestFinished(() => database.close())
  await database.run('disclosure/create_contributions')
  const rows = contributions.map(({ date, model, contributor, tokens }) => {
    const known = contributor === 'unknown' || contributor === 'exempt' ? null : contributor
    return [date, model, known, `${contributor === 'exempt'}`, `${tokens}`]
  })
  await database.append('core_contributions', rows)
  return database
}

async function rowsUnder(
  contributions: readonly Contribution[],
  rule: { min_contributors: number; p_percent: number },
) {
  const database = await databaseOf(contributions)
  await applyRule(database, rule, LAST_DATE)
  await rankSafe(database)
  const rows = await database.rows<{ date: string; model_permaslug: string; total_tokens: string }>('rank/rows')
  database.close()
  return rows.map(({ date, model_permaslug, total_tokens }) => ({
    date,
    model: model_permaslug,
    tokens: Number(total_tokens),
  }))
}

const { options, timeout_ms } = tries({ share: 20 })

it('names the same models as a plain reading of the rule, on random gateways', { timeout: timeout_ms }, async () => {
  const rule = fc.record({
    min_contributors: fc.integer({ min: 1, max: 6 }),
    p_percent: fc.integer({ min: 1, max: 100 }),
  })
  const gateway = fc.array(contribution, { minLength: 1, maxLength: 600, size: 'max' })
  await fc.assert(
    fc.asyncProperty(gateway, rule, async (contributions, each) => {
      const published = contributions.filter(({ date }) => date >= '2025-01-01' && date <= LAST_DATE)
      expect(await rowsUnder(contributions, each)).toEqual(rankUnderRule(published, each))
    }),
    options,
  )
})
