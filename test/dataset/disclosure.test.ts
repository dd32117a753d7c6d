/** The ranking under a rule against a plain oracle on random gateways. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { firstDateOf, PERIOD_TABLES } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { numbersOf } from '../../pipeline/dataset/attack.ts'
import { assertInvariants } from '../../pipeline/dataset/checks.ts'
import type { PublishedRows } from '../../pipeline/dataset/derived.ts'
import { applyRule, unsafeSums } from '../../pipeline/dataset/disclosure.ts'
import type { FrozenDate } from '../../pipeline/dataset/frozen.ts'
import { type Ranking, type RankingRule, rank, rankAnew } from '../../pipeline/dataset/rank.ts'
import { memoryDatabase } from '../support/database.ts'
import { Judge } from '../support/disclosure-judge.ts'
import {
  type Contribution,
  type DateAtoms,
  type Row,
  type Rule,
  rankPeriods,
  rankUnderRule,
  splitDate,
} from '../support/disclosure-oracle.ts'
import { tries } from '../support/property.ts'
import type { Day } from '../support/ruled-gateway.ts'

/** The last date that is old enough, so many days before the last completed one. */
const LAST_DATE = '2025-03-09'
const AGE = 4
/** Where the secret bound lies. */
const SHARE = 0.5

const contribution: fc.Arbitrary<Contribution> = fc.record({
  date: fc.constantFrom('2024-12-31', '2025-03-01', '2025-03-02', '2025-03-03', '2025-03-10'),
  model: fc.integer({ min: 1, max: 70 }).map((number) => `acme/${number}`),
  contributor: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }).map((number) => `customer-${number}`) },
    { weight: 1, arbitrary: fc.constantFrom('unknown', 'exempt') },
  ),
  tokens: fc.integer({ min: 0, max: 3 }).chain((digits) => fc.integer({ min: 0, max: 10 ** digits })),
})

async function databaseOf(contributions: readonly Contribution[]): Promise<Database> {
  const database = await memoryDatabase()
  await database.setVariable('bound_share', SHARE)
  await database.run('disclosure/create_contributions')
  const rows = contributions.map(({ date, model, contributor, tokens }) => {
    const known = contributor === 'unknown' || contributor === 'exempt' ? null : contributor
    return [date, model, known, `${contributor === 'exempt'}`, `${tokens}`, null]
  })
  await database.append('core_contributions', rows)
  await database.run('result/create_rollup')
  await database.append(
    'core_rollup',
    contributions.map(({ date, model, tokens }) => ['gateway', date, model, `${tokens}`, '1']),
  )
  return database
}

const OTHER_ROWS = [
  { model_permaslug: 'acme/1', total_tokens: '7' },
  { model_permaslug: 'other', total_tokens: '9' },
]

/**
 * Frozen dates have rows of their own, or none if they were withdrawn. `as_today` have those of the contributions. A list of
 * version 0.6.0 does not say how `other` is split.
 */
const frozenDates = fc.uniqueArray(
  fc.record({
    date: fc.constantFrom('2025-02-28', '2025-03-01', '2025-03-02'),
    kind: fc.constantFrom('withdrawn', 'as_today', 'other_rows', 'split'),
  }),
  { selector: ({ date }) => date, maxLength: 2 },
)

type Frozen = FrozenDate & { atoms: DateAtoms }

function toRows(date: string, rows: FrozenDate['rows']): Row[] {
  return rows.map((row) => ({ date, model: row.model_permaslug, tokens: Number(row.total_tokens) }))
}

function freezeDate(date: string, kind: string, day: readonly Contribution[], rule: Rule): Frozen {
  const today = rankUnderRule(day, rule)
  const rows = today.map(({ model, tokens }) => ({ model_permaslug: model, total_tokens: `${tokens}` }))
  if (kind === 'withdrawn' || (kind === 'as_today' && rows.length === 0))
    return { date, rows: [], atoms: { date, atoms: [], hidden: [] } }
  if (kind === 'as_today') return { date, rows, atoms: splitDate(date, day, today, rule) }
  if (kind === 'split') {
    const split = { atoms: [{ model_permaslug: 'acme/2', total_tokens: '4' }], hidden: ['acme/3'] }
    const atoms = toRows(date, [
      ...OTHER_ROWS.slice(0, 1),
      ...split.atoms,
      { model_permaslug: 'other', total_tokens: '5' },
    ])
    return { date, rows: OTHER_ROWS, split, atoms: { date, atoms, hidden: split.hidden } }
  }
  const hidden = day.filter(({ model, tokens }) => model !== 'acme/1' && tokens > 0).map(({ model }) => model)
  return { date, rows: OTHER_ROWS, atoms: { date, atoms: toRows(date, OTHER_ROWS), hidden } }
}

/** Ranks as a build does, and asserts what it does of the rows. */
async function rankedUnder(contributions: readonly Contribution[], ranking: RankingRule): Promise<Ranking> {
  const database = await databaseOf(contributions)
  const ranked = await rank(database, addDays(LAST_DATE, AGE), ranking)
  await assertInvariants(database, LAST_DATE, true)
  return ranked
}

const { options, timeout_ms } = tries({ share: 10 })

const rule = fc.record({
  min_contributors: fc.integer({ min: 1, max: 6 }),
  p_percent: fc.integer({ min: 1, max: 100 }),
  publish_after_days: fc.constant(AGE),
  revise: fc.constant('never' as const),
})
const uses = fc.array(contribution, { minLength: 1, maxLength: 600, size: 'max' })

/** More models that several customers use than a date names. */
const POPULAR = ['2025-03-01', '2025-03-02'].flatMap((date) =>
  Array.from({ length: 60 * 4 }, (_, number): Contribution => {
    const model = Math.floor(number / 4) + 1
    return {
      date,
      model: `acme/${model}`,
      contributor: `customer-${number % 4}`,
      tokens: 5 * model + ((number * 7) % 11),
    }
  }),
)
const gateway = fc.tuple(uses, fc.constantFrom([], POPULAR)).map((parts) => parts.flat())

it('publishes what a plain reading of the rule publishes, and frozen dates as they are', {
  timeout: timeout_ms,
}, async () => {
  await fc.assert(
    fc.asyncProperty(gateway, rule, frozenDates, async (contributions, each, dates) => {
      const plain = { ...each, share: SHARE }
      const dayOf = (date: string) => contributions.filter((use) => use.date === date)
      const frozen = dates.map(({ date, kind }) => freezeDate(date, kind, dayOf(date), plain))
      const isOpen = (date: string) =>
        date >= '2025-01-01' && date <= LAST_DATE && !frozen.some((day) => day.date === date)
      const open = Map.groupBy(
        rankUnderRule(
          contributions.filter(({ date }) => isOpen(date)),
          plain,
        ),
        ({ date }) => date,
      )
      const atoms = [
        ...[...open].map(([date, rows]) => splitDate(date, dayOf(date), rows, plain)),
        ...frozen.map((day) => day.atoms),
      ]
      const kept = frozen.flatMap(({ date, rows }) => toRows(date, rows))
      const byDate = [...[...open.values()].flat(), ...kept].sort((a, b) =>
        a.date < b.date ? -1 : a.date > b.date ? 1 : 0,
      )
      const ranked = await rankedUnder(contributions, { rule: each, frozen })
      expect(ranked.rows.flatMap((row) => toRows(row.date, [row]))).toEqual(byDate)
      for (const table of PERIOD_TABLES) {
        const rows = ranked.periods[table].map(({ days, ...row }) => ({ ...toRows(row.date, [row])[0], days }))
        expect(rows).toEqual(rankPeriods(atoms, (date) => firstDateOf(table, date)))
      }
      // Once they are in the list, periods follow from it alone.
      const listed = [...Map.groupBy(ranked.rows, ({ date }) => date)].map(([date, rows]) => {
        return { date, rows, split: ranked.splits.get(date) ?? frozen.find((day) => day.date === date)?.split }
      })
      const late = contributions.filter(({ date }) => listed.some((day) => day.date === date))
      const more = [...contributions, ...late.map((use) => ({ ...use, model: 'acme/71' }))]
      const withdrawn = frozen.filter(({ rows }) => rows.length === 0)
      const again = await rankedUnder(more, { rule: each, frozen: [...listed, ...withdrawn] })
      expect([again.rows, again.periods, again.splits]).toEqual([ranked.rows, ranked.periods, new Map()])
    }),
    options,
  )
})

it('judges sums of published rows as a plain reading of the rule does', { timeout: timeout_ms }, async () => {
  const loose = { min_contributors: 1, p_percent: 5 }
  const strict = { min_contributors: 4, p_percent: 20 }
  await fc.assert(
    fc.asyncProperty(gateway, async (contributions) => {
      const database = await databaseOf(contributions)
      await applyRule(database, loose, LAST_DATE)
      const published = { release: '', ...(await rankAnew(database)) }
      const numbers = [...numbersOf(published)]
      for (const [name, value] of Object.entries(strict)) await database.setVariable(name, value)
      const unsafe = await unsafeSums(database, numbers)
      const records = contributions.map((each, position) => ({ ...each, id: `${position}` }))
      const recordsOf = (date: string) => records.filter((each) => each.date === date)
      const judge = new Judge([{ ...published, recordsOf }], { ...strict, share: SHARE })
      expect(unsafe).toEqual(numbers.flatMap((each, position) => (judge.leakOf(each) === undefined ? [] : [position])))
    }),
    { ...options, numRuns: 3 },
  )
})

/** The example of docs/decisions/0027-weeks-and-months-under-a-rule.md. */
it('names no model in a week that other days only pool: they would isolate a customer', async () => {
  const MONDAY = {
    big: { a: 30, b: 20, c: 10 },
    small: { a: 10, b: 10, c: 10 },
    pool: { a: 20, b: 20 },
    solo: { d: 50 },
  }
  const TUESDAY: Day = { ...MONDAY, pool: { b: 20, c: 20 } }
  const days = { '2025-03-03': MONDAY, '2025-03-04': TUESDAY }
  const records = Object.entries(days).flatMap(([date, day]) =>
    Object.entries(day).flatMap(([model, customers]) =>
      Object.entries(customers).map(([contributor, tokens]) => {
        return { id: `${date} ${model} ${contributor}`, date, model, contributor, tokens }
      }),
    ),
  )
  const plain = { min_contributors: 3, p_percent: 10 }
  const { rows, periods } = await rankedUnder(records, {
    rule: { ...plain, publish_after_days: AGE, revise: 'never' },
    frozen: [],
  })
  expect(rows.filter(({ date }) => date === '2025-03-03').flatMap((row) => toRows('', [row]))).toEqual([
    { date: '', model: 'big', tokens: 60 },
    { date: '', model: 'small', tokens: 30 },
    { date: '', model: 'other', tokens: 90 },
  ])
  const recordsOf = (date: string) => records.filter((each) => each.date === date)
  const leaksOf = (published: PublishedRows) => {
    const judge = new Judge([{ ...published, recordsOf }], plain)
    return [...numbersOf(published)].map((each) => judge.leakOf(each)).filter((leak) => leak !== undefined)
  }
  expect(leaksOf({ release: '', rows, periods })).toEqual([])
  // Each of these rows is safe.
  const week = Object.entries({ big: 120, pool: 80, other: 160 }).map(([model_permaslug, tokens]) => {
    return { date: '2025-03-03', model_permaslug, total_tokens: `${tokens}`, days: 2 }
  })
  const leaks = leaksOf({ release: '', rows, periods: { weekly: week, monthly: [] } })
  const what = 'the rest of the days of the week of 2025-03-03, less pool'
  expect(leaks).toContainEqual({ what, value: 100, contributors: ['d'] })
  expect(leaks.map((leak) => leak.what)).not.toContainEqual(expect.stringMatching(/^\w+ in the week/))
})
