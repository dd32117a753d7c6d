import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { namesIn } from '../base/files.ts'
import { writeCsv, writeJson } from '../base/text.ts'
import type { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type Timestamp } from '../contract/ranking.ts'
import { addDays } from '../contract/utc-date.ts'
import type { Period, Revision } from '../dataset/coverage.ts'
import { type PublicFolder, periodsFolder } from './public-folder.ts'

export type PeriodFormat = (typeof PERIOD_FORMATS)[Period['folder']][number]

/** Relative to the folder of the dataset. */
export function revisionPath({ folder, name, revision }: Period & { revision: number }, format: PeriodFormat): string {
  return `${folder}/${name}/r${revision}.${format}`
}

export function pointerPath({ folder, name }: Period, format: PeriodFormat): string {
  return `${folder}/${name}.${format}`
}

export function datesOf({ folder, name }: Period): { first_date: string; last_date: string } {
  if (folder === 'daily') return { first_date: name, last_date: name }
  const first_date = `${name}-01`
  const someDayOfTheNext = addDays(first_date, 31)
  return { first_date, last_date: addDays(`${someDayOfTheNext.slice(0, 7)}-01`, -1) }
}

/** For JSON, the body of the API's answer as of the release that made the revision. */
export function revisionText({ name, rows }: Revision, format: 'json' | 'csv', asOf: Timestamp): Buffer {
  if (format === 'csv') return writeCsv(rows)
  return writeJson(rows, { as_of: asOf, start_date: name, end_date: name, version: DATASET_VERSION })
}

/** DuckDB holds buffers of 60 kB for each. */
const DAYS_AT_ONCE = 100

/**
 * The Parquet files of days and months, by name. Expects the rows in the table `out_release_rows`. Days are written
 * together, since a statement for each takes five times as long, in a folder that goes when the staging folder does.
 */
export async function renderParquet(
  periods: readonly Period[],
  { publicDir, files }: Pick<PublicFolder, 'publicDir' | 'files'>,
  database: Database,
): Promise<Map<string, Buffer>> {
  const rendered = new Map<string, Buffer>()
  const { daily: days = [], monthly: months = [] } = Object.groupBy(periods, ({ folder }) => folder)
  const folder = periodsFolder(publicDir)
  await files.remove(folder)
  await files.makeFolder(folder)
  for (let start = 0; start < days.length; start += DAYS_AT_ONCE) {
    const dates = days.slice(start, start + DAYS_AT_ONCE).map(({ name }) => name)
    const parts = join(folder, `${start}`)
    await database.run('release-rows/write_days', { dates, folder: parts })
    for (const date of dates) rendered.set(date, await readOnlyFile(join(parts, `name=${date}`)))
  }
  for (const month of months) {
    const path = join(folder, month.name)
    await database.run('release-rows/write_period', { ...datesOf(month), path })
    rendered.set(month.name, readFileSync(path))
  }
  return rendered
}

async function readOnlyFile(folder: string): Promise<Buffer> {
  const [name, ...others] = await namesIn(folder)
  if (name === undefined || others.length > 0) throw new Error(`${folder} does not have one file`)
  return readFileSync(join(folder, name))
}
