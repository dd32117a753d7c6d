/** The tables of weeks and months against a plain oracle, around new years and leap days. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { PERIOD_TABLES, type TableRow } from '../../pipeline/contract/tables.ts'
import { type Ranking, rank } from '../../pipeline/dataset/rank.ts'
import { memoryDatabase } from '../support/database.ts'
import { firstOfMonth, mondayOf, rankPeriods, type Sums } from '../support/oracle.ts'
import { tries } from '../support/property.ts'

/** A whole week, weeks that two years share, and a February of 29 days. */
const DATES = [
  ...['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06', '2025-03-07', '2025-03-08', '2025-03-09'],
  ...['2024-12-31', '2025-01-01', '2025-01-05', '2025-01-06', '2025-12-28', '2025-12-29', '2025-12-31', '2026-01-01'],
  ...['2027-01-03', '2027-01-04', '2028-02-28', '2028-02-29', '2028-03-01'],
]
const FIRST_DATE_OF = { weekly: mondayOf, monthly: firstOfMonth }

interface Usage {
  date: string
  model: string
  tokens: bigint
}

const date = fc.constantFrom(...DATES)
const toSlug = (number: number) => (number % 9 === 0 ? `\u{1f600}/${number}` : `\uff5e/${number}`)

/** Few token counts, so that ties are everywhere. */
const usage: fc.Arbitrary<Usage> = fc.record({
  date,
  model: fc.integer({ min: 1, max: 70 }).map(toSlug),
  tokens: fc.constantFrom(0n, 1n, 1n, 2n, 3n, 2n ** 53n - 1n),
})

/** A date with about 50 models, so that some of them are in its `other`. */
const crowd = fc
  .tuple(date, fc.integer({ min: 48, max: 60 }), fc.integer({ min: 1, max: 3 }))
  .map(([each, count, totals]) =>
    Array.from({ length: count }, (_, index): Usage => {
      return { date: each, model: toSlug(1 + index), tokens: BigInt(1 + (index % totals)) }
    }),
  )

async function rankOf(database: Database, used: readonly Usage[]): Promise<Ranking> {
  await database.run('result/create_rollup')
  const rows = used.map(({ date, model, tokens }) => ['gateway', date, model, `${tokens}`, '1'])
  await database.append('core_rollup', rows)
  return rank(database, '2028-03-01')
}

function sumsOf(used: readonly Usage[]): Sums {
  const sums: Sums = new Map()
  for (const { date, model, tokens } of used.filter((each) => each.date >= '2025-01-01')) {
    const models = sums.get(date) ?? new Map<string, bigint>()
    sums.set(date, models.set(model, (models.get(model) ?? 0n) + tokens))
  }
  return sums
}

/** Tokens by period, and by period and model for models that are named on `count` dates. */
function added(rows: readonly TableRow[], firstDateOf: (date: string) => string) {
  const groups = Map.groupBy(rows, ({ date, model_permaslug }) => `${firstDateOf(date)} ${model_permaslug}`)
  const tokensOf = (own: readonly TableRow[]) => own.reduce((sum, row) => sum + BigInt(row.total_tokens), 0n)
  const totals = [...Map.groupBy(rows, ({ date }) => firstDateOf(date))].map(([first, own]) => [first, tokensOf(own)])
  const models = new Map([...groups].map(([key, own]) => [key, { count: own.length, tokens: tokensOf(own) }]))
  return { totals, models }
}

const { options, timeout_ms } = tries({ share: 5 })

it('ranks weeks and months by the sums of all models, and agrees with the days', { timeout: timeout_ms }, async () => {
  const database = await memoryDatabase()
  const used = fc
    .tuple(fc.array(usage, { minLength: 1, maxLength: 400, size: 'max' }), fc.array(crowd, { maxLength: 8 }))
    .map(([singles, crowds]) => [...singles, ...crowds.flat()])
  const property = fc.asyncProperty(used, async (each) => {
    const { rows, periods } = await rankOf(database, each)
    for (const table of PERIOD_TABLES) {
      const firstDateOf = FIRST_DATE_OF[table]
      const own = periods[table]
      expect(own).toEqual(rankPeriods(sumsOf(each), firstDateOf))
      const { totals, models } = added(rows, firstDateOf)
      expect(added(own, (date) => date).totals).toEqual(totals)
      for (const { date, model_permaslug, total_tokens, days } of own) {
        const named = models.get(`${date} ${model_permaslug}`)
        if (model_permaslug === 'other' || named?.count !== days) continue
        expect(total_tokens, `${model_permaslug} is named on each day of ${date}`).toBe(String(named.tokens))
      }
    }
  })
  await fc.assert(property, options)
})
