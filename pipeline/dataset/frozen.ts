import type { Database } from '../base/database.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'

/** A date that was published before and keeps its rows. Without rows it was withdrawn. */
export interface FrozenDate {
  date: UtcDate
  rows: readonly Omit<RankingRow, 'date'>[]
}

/** A frozen date whose public usage is another one today. Private. */
export interface LateDate {
  date: UtcDate
  published_tokens: string
  counted_tokens: string
}

/** A date with public usage that is not published. Private. */
export interface UnpublishedDate {
  date: UtcDate
  reason: 'withdrawn' | 'not_safe'
  tokens: string
}

/** Has later statements leave out frozen dates. `addFrozen` adds their rows to the ranking. */
export async function freeze(database: Database, dates: readonly FrozenDate[]): Promise<void> {
  await database.script('frozen/create')
  await database.append(
    'core_frozen_dates',
    dates.map(({ date }) => [date]),
  )
  await database.append(
    'core_frozen',
    dates.flatMap(({ date, rows }) =>
      rows.map(({ model_permaslug, total_tokens }, index) => {
        const position = model_permaslug === OTHER ? TOP_MODELS + 1 : index + 1
        return [date, model_permaslug, total_tokens, `${position}`]
      }),
    ),
  )
}

export async function addFrozen(database: Database): Promise<void> {
  await database.script('frozen/add_rows')
}

export async function findLate(database: Database): Promise<LateDate[]> {
  return database.rows<{ [Key in keyof LateDate]: LateDate[Key] }>('frozen/late')
}

export async function findUnpublished(database: Database, lastDate: UtcDate): Promise<UnpublishedDate[]> {
  const dates = { first_date: DATASET_START, last_date: lastDate }
  return database.rows<{ [Key in keyof UnpublishedDate]: UnpublishedDate[Key] }>('frozen/not_published', dates)
}
