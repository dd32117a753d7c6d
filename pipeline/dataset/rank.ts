import type { Database, SqlParameters } from '../base/database.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'

/** What the ranking found out about the public requests of the rollup, besides the rows. */
export interface Ranking {
  /** Published rows in published order. */
  rows: RankingRow[]
  /** Public requests behind the published dates. */
  published_records: bigint
  /** Models with tokens on a published date, those in the row of the rest included. */
  models: number
  /** Public requests of dates that are not published, by date. */
  outside: { date: UtcDate; records: bigint; tokens: string }[]
}

/**
 * Ranks the table `core_rollup`: for each date from the start of the dataset to `lastDate` the top models and the row of the rest,
 * into the table `out_rankings_daily` and as rows.
 */
export async function rank(database: Database, lastDate: UtcDate): Promise<Ranking> {
  const dates = { first_date: DATASET_START, last_date: lastDate }
  await database.run('rank/create_rankings', { ...dates, ...RANK_PARAMETERS })
  const [published] = await database.rows<{ records: bigint; models: bigint }>('rank/published', dates)
  return {
    rows: await database.rows<RankingRow>('rank/rows'),
    published_records: published?.records ?? 0n,
    models: Number(published?.models ?? 0n),
    outside: await database.rows<Ranking['outside'][number]>('rank/outside', dates),
  }
}

/** The rule's numbers and words, as parameters of the statements that rank and check. */
export const RANK_PARAMETERS: SqlParameters = { top_models: TOP_MODELS, other: OTHER }
