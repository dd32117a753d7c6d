import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { CHANGES_FILES } from '../contract/change-log.ts'
import type { DateRange } from '../contract/manifest.ts'
import { QUALITY_FILE } from '../contract/release-files.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { readChanges } from '../dataset/change-log.ts'
import { readManifest } from '../release/verify.ts'
import { datesOfRows } from './release-rows.ts'

/** What a release tells of some dates. */
export interface Told {
  /** Those on which it has rows, in order. */
  dates: UtcDate[]
  /** Whether it has rows on other dates. */
  hasOthers: boolean
  /** Whether it has rows of the dates, lists changes to them, or counts records of them. */
  isAny: boolean
}

/** What the release in `folder` tells of dates: in its rows, its `changes.csv` and its `quality.json`. */
export async function toldOf(folder: string, range: DateRange, database: Database): Promise<Told> {
  const dates = await datesOfRows(database, folder, range)
  const { days, files } = await readManifest(folder)
  const has = (name: string) => files.some((file) => file.path === name)
  const besides = [
    ...(has(CHANGES_FILES.daily) ? await readChanges(database, join(folder, CHANGES_FILES.daily)) : []),
    ...(has(QUALITY_FILE) ? await daysOfQuality(join(folder, QUALITY_FILE)) : []),
  ]
  const isAny = dates.length > 0 || besides.some(({ date }) => isBetween(date, range))
  return { dates, hasOthers: days > dates.length, isAny }
}

export function isBetween(date: UtcDate | null, { start_date, end_date }: DateRange): boolean {
  return date !== null && start_date <= date && date <= end_date
}

/** Warnings about a date have no numbers. */
const Quality = z.object({ days: z.array(z.object({ date: UtcDate.nullable() })).default([]) })

async function daysOfQuality(path: string): Promise<z.infer<typeof Quality>['days']> {
  return parseJson(Quality, (await readTextIfAny(path)) ?? '', path, BuildError).days
}
