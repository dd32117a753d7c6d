import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { contentHash, writeCsv, writeJson } from '../base/text.ts'
import { canonicalCsvHeader } from '../contract/canonical-csv.ts'
import type { ContentHash } from '../contract/manifest.ts'
import type { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type RankingRow, type Timestamp } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { type Period, placeOf } from '../dataset/coverage.ts'
import { type PublicFolder, periodsFolder } from './public-folder.ts'

export type PeriodFormat = (typeof PERIOD_FORMATS)[Period['folder']][number]

/** The daily rows of a day or month. */
export interface RowsOfPeriod extends Period {
  rows: readonly RankingRow[]
}

/** The days and months of daily rows. */
export function periodsIn(rows: readonly RankingRow[]): RowsOfPeriod[] {
  const of = (folder: Period['folder'], nameOf: (date: UtcDate) => string) =>
    [...Map.groupBy(rows, ({ date }) => nameOf(date))].map(([name, own]) => ({ folder, name, rows: own }))
  return [...of('daily', (date) => date), ...of('monthly', (date) => date.slice(0, 7))]
}

/** Relative to the folder of the dataset. */
export function revisionPath(period: Period & { revision: number }, format: PeriodFormat): string {
  return `${placeOf(period)}/r${period.revision}.${format}`
}

export function pointerPath(period: Period, format: PeriodFormat): string {
  return `${placeOf(period)}.${format}`
}

export function datesOf({ name }: Period): { first_date: string; last_date: string } {
  const first_date = `${name}-01`
  const someDayOfTheNext = addDays(first_date, 31)
  return { first_date, last_date: addDays(`${someDayOfTheNext.slice(0, 7)}-01`, -1) }
}

/** For JSON, the body of the API's answer as of the release that made the revision. */
export function revisionText({ name, rows }: RowsOfPeriod, format: 'json' | 'csv', asOf: Timestamp): Buffer {
  if (format === 'csv') return writeCsv(rows)
  return writeJson(rows, { as_of: asOf, start_date: name, end_date: name, version: DATASET_VERSION })
}

/**
 * The Parquet files of months, by name, read back before anyone else sees them. Expects the rows in the table
 * `out_release_rows`. They are made in a folder that goes when the staging folder does.
 */
export async function renderParquet(
  revisions: readonly RowsOfPeriod[],
  { publicDir, files }: Pick<PublicFolder, 'publicDir' | 'files'>,
  database: Database,
): Promise<Map<string, Buffer>> {
  const folder = periodsFolder(publicDir)
  await files.remove(folder)
  await files.makeFolder(folder)
  const pathOf = ({ name }: Period) => join(folder, name)
  for (const revision of revisions) {
    await database.run('release-rows/write_period', { ...datesOf(revision), path: pathOf(revision) })
  }
  await verifyWritten(new Map(revisions.map((revision) => [pathOf(revision), contentHash(revision.rows)])), database)
  return new Map(revisions.map((revision) => [revision.name, readFileSync(pathOf(revision))]))
}

/** Throws `BuildError` unless each Parquet file holds the rows with its hash, in their order. */
async function verifyWritten(expected: ReadonlyMap<string, ContentHash>, database: Database): Promise<void> {
  if (expected.size === 0) return
  const parameters = { paths: [...expected.keys()], header: canonicalCsvHeader('daily') }
  const found = await database.rows<{ path: string; hash: string }>('release-rows/hashes_of_periods', parameters)
  const hashes = new Map(found.map(({ path, hash }) => [path, `sha256:${hash}`]))
  for (const [path, hash] of expected) {
    if (hashes.get(path) === hash) continue
    throw new BuildError(`${path} was written with other rows than those of the release; nothing is published`)
  }
}
