import { writeCsv, writeJson } from '../base/text.ts'
import type { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type Timestamp } from '../contract/ranking.ts'
import { addDays } from '../contract/utc-date.ts'
import type { Period, Revision } from '../dataset/coverage.ts'

export type PeriodFormat = (typeof PERIOD_FORMATS)[Period['folder']][number]

/** Where a revision and the pointer to the newest one stand, below the folder of the dataset. */
export function revisionPath({ folder, name, revision }: Period & { revision: number }, format: PeriodFormat): string {
  return `${folder}/${name}/r${revision}.${format}`
}

export function pointerPath({ folder, name }: Period, format: PeriodFormat): string {
  return `${folder}/${name}.${format}`
}

/** First and last date of a day or a month. */
export function datesOf({ folder, name }: Period): { first_date: string; last_date: string } {
  if (folder === 'daily') return { first_date: name, last_date: name }
  const first_date = `${name}-01`
  const someDayOfTheNext = addDays(first_date, 31)
  return { first_date, last_date: addDays(`${someDayOfTheNext.slice(0, 7)}-01`, -1) }
}

/** The text of a revision: of a day the body of the API's answer as of the release that made it. */
export function revisionText({ name, rows }: Revision, format: 'json' | 'csv', asOf: Timestamp): Buffer {
  if (format === 'csv') return writeCsv(rows)
  return writeJson(rows, { as_of: asOf, start_date: name, end_date: name, version: DATASET_VERSION })
}
