/** Rows come from DuckDB as texts of many rows: what is read is what was written, in its order, whatever models are called. */
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { contentHash } from '../../pipeline/base/text.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import type { PeriodRows } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { restorePeriods } from '../../pipeline/dataset/rank.ts'
import { readRows } from '../../pipeline/dataset/read-rows.ts'
import { hashesInHistory, readHistory, readParquet } from '../../pipeline/release/read-back.ts'
import { memoryDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'

const ODD = [
  'a/"quoted"',
  "a/'",
  'a/\\',
  'a/\n',
  'a/\r\n',
  'a/,',
  'a/é',
  'a/𝕏',
  'a/\u{1}',
  'a/\u{2028}',
  '[]',
  'null',
  '#',
  ' ',
]

/** More rows than one text has, with the largest count. */
const ROWS = Array.from({ length: 90 * 51 }, (_, number): RankingRow => {
  const place = number % 51
  const model_permaslug = place === 50 ? 'other' : `${ODD[(number * 7) % ODD.length]}${place}`
  const total_tokens = place === 0 ? '9223372036854775807' : String((number * 7919) % 100_003)
  return { date: addDays('2024-12-30', Math.floor(number / 51)), model_permaslug, total_tokens }
})

const RELEASE = '20250401T001500Z'

const PERIODS: PeriodRows = {
  weekly: ROWS.map((row) => ({ ...row, days: 7 })),
  monthly: ROWS.slice(0, 60).map((row) => ({ ...row, days: 31 })),
}

let database: Database
let folder: string

beforeEach(async () => {
  folder = await temporaryFolder()
  database = await memoryDatabase()
})

it('of a Parquet file of days, in the order of the file', async () => {
  const shuffled = ROWS.toSorted((a, b) => (a.total_tokens < b.total_tokens ? -1 : 1))
  const path = join(folder, 'days.parquet')
  await database.execute(
    'CREATE TEMP TABLE days (date DATE, model_permaslug VARCHAR, total_tokens BIGINT, position BIGINT)',
  )
  const values = shuffled.map(({ date, model_permaslug, total_tokens }, position) => {
    return [date, model_permaslug, total_tokens, `${position}`]
  })
  await database.append('days', values)
  await database.execute(`COPY (SELECT * EXCLUDE position FROM days ORDER BY position) TO '${path}' (FORMAT parquet)`)
  expect(await readParquet(database, path)).toEqual(shuffled)
})

it('of a Parquet file of weeks, and of the table that it is written from', async () => {
  const path = join(folder, 'weeks.parquet')
  await restorePeriods(database, PERIODS)
  await database.run('data-files/write_parquet_of_periods', { path, metadata: { table: 'weekly' }, grain: 'week' })
  expect(await readParquet(database, path, 'weekly')).toEqual(PERIODS.weekly)
  expect(await readRows(database, 'rank/period_rows', { grain: 'month' })).toEqual(PERIODS.monthly)
  await expect(readParquet(database, path)).rejects.toThrow(/has the columns .*"days":"INTEGER".* instead of/)
})

it('of a history, whose hash is that of canonical CSV', async () => {
  const path = join(folder, 'history.parquet')
  await database.run('history-table/create_empty')
  const values = ROWS.map(({ date, model_permaslug, total_tokens }, number) => {
    return ['daily', date, model_permaslug, total_tokens, null, `${(number % 51) + 1}`, RELEASE, null]
  })
  const weekly = PERIODS.weekly.map(({ date, model_permaslug, total_tokens, days }, number) => {
    return ['weekly', date, model_permaslug, total_tokens, `${days}`, `${(number % 51) + 1}`, RELEASE, null]
  })
  await database.append('history_rows', [...values, ...weekly])
  await database.run('history-table/write_parquet', { path, metadata: { table: 'history' } })
  expect(await readHistory(database, path, { release: RELEASE, table: 'weekly' })).toEqual(PERIODS.weekly)
  expect(await hashesInHistory(database, path, RELEASE)).toEqual({
    daily: contentHash(ROWS),
    weekly: contentHash(PERIODS.weekly, 'weekly'),
    monthly: contentHash([], 'monthly'),
  })
})
