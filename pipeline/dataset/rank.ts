import type { Database, SqlParameters } from '../base/database.ts'
import type { DisclosureSettings } from '../contract/disclosure.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { GRAINS, PERIOD_TABLES, type PeriodRows, type PeriodTable } from '../contract/tables.ts'
import { addDays, DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { applyRule, joinedCells, rankSafe, splitRest } from './disclosure.ts'
import {
  addFrozen,
  type FrozenDate,
  findLate,
  findSplits,
  findUnpublished,
  freeze,
  type LateDate,
  type SplitOther,
  type UnpublishedDate,
} from './frozen.ts'
import { readRows } from './read-rows.ts'

export interface Ranking {
  rows: RankingRow[]
  periods: PeriodRows
  published_records: bigint
  /** Models with tokens on a published date, including those summed as the rest. */
  models: number
  outside: { date: UtcDate; records: bigint; tokens: string }[]
  /** How `other` is split, by date, as far as the list of published dates does not say it yet. Private. */
  splits: ReadonlyMap<UtcDate, SplitOther>
  /** What a disclosure rule did, if one is in force. Private. */
  ruled: RuledRanking | undefined
}

export interface RuledRanking {
  /** The newest date that is old enough to be published. */
  last_date: UtcDate
  /** How many models of each new date joined the row of the rest. */
  joined_cells: ReadonlyMap<UtcDate, number>
  not_published: UnpublishedDate[]
  late: LateDate[]
}

/** Under which rule dates are ranked, and which ones were published before and keep their rows. */
export interface RankingRule {
  rule: DisclosureSettings | undefined
  frozen: readonly FrozenDate[]
}

const NO_RULE: RankingRule = { rule: undefined, frozen: [] }

/** Ranks `core_rollup` up to `lastDate` into `out_rankings_daily`: per date the top models and the rest. */
export async function rank(
  database: Database,
  lastDate: UtcDate,
  { rule, frozen }: RankingRule = NO_RULE,
): Promise<Ranking> {
  const dates = { first_date: DATASET_START, last_date: lastDate }
  await freeze(database, frozen, rule)
  if (rule === undefined) {
    await database.run('rank/create_atoms', dates)
    await database.run('rank/create_rankings', RANK_PARAMETERS)
  } else await rankUnder(database, rule, lastDate)
  await addFrozen(database)
  const [published] = await database.rows<{ records: bigint; models: bigint }>('rank/published', dates)
  const rows = await readRows<'daily'>(database, 'rank/rows')
  const periods = await rankPeriods(database)
  const datesWithRows = new Set(rows.map(({ date }) => date))
  return {
    rows,
    periods,
    splits: await findSplits(database, datesWithRows, { frozen, isRuled: rule !== undefined }),
    published_records: published?.records ?? 0n,
    models: Number(published?.models ?? 0n),
    outside: await database.rows<Ranking['outside'][number]>('rank/outside', dates),
    ruled: rule && (await describeRuled(database, openUntil(lastDate, rule))),
  }
}

/** Ranks days, weeks and months of what the rule of `applyRule` lets through, as if no date were published yet. */
export async function rankAnew(database: Database): Promise<Pick<Ranking, 'rows' | 'periods'>> {
  await freeze(database, [])
  await rankSafe(database)
  await splitRest(database)
  return { rows: await readRows<'daily'>(database, 'rank/rows'), periods: await rankPeriods(database) }
}

/** Ranks weeks and months by the tokens of all models, never of daily rows, into `out_rankings_periods`. */
async function rankPeriods(database: Database): Promise<PeriodRows> {
  await database.run('rank/create_hidden', { other: OTHER })
  await database.run('rank/create_periods')
  const rowsOf = async (table: PeriodTable) => {
    const grain = GRAINS[table]
    await database.run('rank/add_periods', { grain, ...RANK_PARAMETERS })
    return readRows<typeof table>(database, 'rank/period_rows', { grain })
  }
  return { weekly: await rowsOf('weekly'), monthly: await rowsOf('monthly') }
}

/** Fills `out_rankings_periods` with the rows of a release. */
export async function restorePeriods(database: Database, periods: PeriodRows): Promise<void> {
  await database.run('rank/create_periods')
  for (const table of PERIOD_TABLES) {
    const rows = periods[table].map(({ date, model_permaslug, total_tokens, days }, position) => {
      return [GRAINS[table], date, model_permaslug, total_tokens, `${position}`, `${days}`]
    })
    await database.append('out_rankings_periods', rows)
  }
}

/** The newest date that a rule publishes when `lastDate` is the last completed one. */
function openUntil(lastDate: UtcDate, { publish_after_days }: DisclosureSettings): UtcDate {
  return addDays(lastDate, -publish_after_days)
}

async function rankUnder(database: Database, rule: DisclosureSettings, lastDate: UtcDate): Promise<void> {
  await applyRule(database, rule, openUntil(lastDate, rule))
  await rankSafe(database)
  await splitRest(database)
}

async function describeRuled(database: Database, last_date: UtcDate): Promise<RuledRanking> {
  return {
    last_date,
    joined_cells: await joinedCells(database),
    not_published: await findUnpublished(database, last_date),
    late: await findLate(database),
  }
}

export const RANK_PARAMETERS: SqlParameters = { top_models: TOP_MODELS, other: OTHER }
