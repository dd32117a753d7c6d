import type { Database, SqlParameters } from '../base/database.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'

export interface Ranking {
  rows: RankingRow[]
  published_records: bigint
  /** Models with tokens on a published date, including those summed as the rest. */
  models: number
  outside: { date: UtcDate; records: bigint; tokens: string }[]
}

/** Ranks `core_rollup` up to `lastDate` into `out_rankings_daily`: per date the top models and the rest. */
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

export const RANK_PARAMETERS: SqlParameters = { top_models: TOP_MODELS, other: OTHER }
