import { writeCsv, writeJson } from '../base/text.ts'
import type { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type Timestamp } from '../contract/ranking.ts'
import { addDays } from '../contract/utc-date.ts'
import type { Period, Revision } from '../dataset/coverage.ts'

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
