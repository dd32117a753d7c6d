/** The ranking under a rule against a plain oracle on random gateways. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { numbersOf } from '../../pipeline/dataset/attack.ts'
import { assertInvariants } from '../../pipeline/dataset/checks.ts'
import { applyRule, rankSafe, unsafeSums } from '../../pipeline/dataset/disclosure.ts'
import { type RankingRule, rank } from '../../pipeline/dataset/rank.ts'
import { type Contribution, isSafe, type Row, rankUnderRule } from '../support/disclosure-oracle.ts'
import { temporaryFolder } from '../support/folder.ts'
import { tries } from '../support/property.ts'

/** The last date that is old enough, so many days before the last completed one. */
const LAST_DATE = '2025-03-09'
const AGE = 4

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
  await database.run('result/create_rollup')
  await database.append(
    'core_rollup',
    contributions.map(({ date, model, tokens }) => ['gateway', date, model, `${tokens}`, '1']),
  )
  return database
}

/** Frozen dates have rows of their own, or none if they were withdrawn. */
const frozenDates = fc.uniqueArray(
  fc.record({
    date: fc.constantFrom('2025-02-28', '2025-03-01', '2025-03-02'),
    rows: fc.constantFrom(
      [],
      [
        { model_permaslug: 'acme/1', total_tokens: '7' },
        { model_permaslug: 'other', total_tokens: '9' },
      ],
    ),
  }),
  { selector: ({ date }) => date, maxLength: 2 },
)

/** Ranks as a build does, and asserts what it does of the rows. */
async function rowsUnder(contributions: readonly Contribution[], ranking: RankingRule): Promise<Row[]> {
  const database = await databaseOf(contributions)
  const { rows } = await rank(database, addDays(LAST_DATE, AGE), ranking)
  await assertInvariants(database, LAST_DATE, true)
  database.close()
  return rows.map(({ date, model_permaslug, total_tokens }) => {
    return { date, model: model_permaslug, tokens: Number(total_tokens) }
  })
}

const { options, timeout_ms } = tries({ share: 20 })

it('publishes what a plain reading of the rule publishes, and frozen dates as they are', {
  timeout: timeout_ms,
}, async () => {
  const rule = fc.record({
    min_contributors: fc.integer({ min: 1, max: 6 }),
    p_percent: fc.integer({ min: 1, max: 100 }),
    publish_after_days: fc.constant(AGE),
    revise: fc.constant('never' as const),
  })
  const gateway = fc.array(contribution, { minLength: 1, maxLength: 600, size: 'max' })
  await fc.assert(
    fc.asyncProperty(gateway, rule, frozenDates, async (contributions, each, frozen) => {
      const isOpen = (date: string) =>
        date >= '2025-01-01' && date <= LAST_DATE && !frozen.some((day) => day.date === date)
      const ranked = rankUnderRule(
        contributions.filter(({ date }) => isOpen(date)),
        each,
      )
      const kept = frozen.flatMap(({ date, rows }) =>
        rows.map((row) => ({ date, model: row.model_permaslug, tokens: Number(row.total_tokens) })),
      )
      const byDate = [...ranked, ...kept].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
      expect(await rowsUnder(contributions, { rule: each, frozen })).toEqual(byDate)
    }),
    options,
  )
})

it('judges sums of published rows as a plain reading of the rule does', { timeout: timeout_ms }, async () => {
  const gateway = fc.array(contribution, { minLength: 1, maxLength: 600, size: 'max' })
  const loose = { min_contributors: 1, p_percent: 5 }
  const strict = { min_contributors: 4, p_percent: 20 }
  await fc.assert(
    fc.asyncProperty(gateway, async (contributions) => {
      const database = await databaseOf(contributions)
      await applyRule(database, loose, LAST_DATE)
      await rankSafe(database)
      const rows = await database.rows<RankingRow>('rank/rows')
      const sums = [...numbersOf({ release: '', rows })].map(({ terms }) => terms.map(({ row }) => row))
      for (const [name, value] of Object.entries(strict)) await database.setVariable(name, value)
      const unsafe = await unsafeSums(database, sums)
      database.close()
      const named = new Set(rows.map(({ date, model_permaslug }) => `${date} ${model_permaslug}`))
      const cellOf = ({ date, model }: Contribution) => (named.has(`${date} ${model}`) ? model : 'other')
      const cells = Map.groupBy(contributions, (each) => `${each.date} ${cellOf(each)}`)
      const expected = sums.flatMap((terms, position) => {
        const sum = terms.flatMap(({ date, model_permaslug }) => cells.get(`${date} ${model_permaslug}`) ?? [])
        return isSafe(sum, strict) ? [] : [position]
      })
      expect(unsafe).toEqual(expected)
    }),
    { ...options, numRuns: 3 },
  )
})
