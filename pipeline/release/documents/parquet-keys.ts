import type { Manifest } from '../../contract/manifest.ts'
import { type Table, tableFacts } from '../../contract/tables.ts'

export const PARQUET_KEY_MEANINGS = {
  title: 'title of the dataset',
  publisher: 'name of who publishes it',
  license: 'licence, by its SPDX identifier',
  license_url: 'text of the licence',
  attribution: 'line to print wherever the data is used',
  dataset: 'name of the dataset',
  table: '`weekly` or `monthly`; absent in the file of the daily table, like the next two',
  start_date: 'first date of the release',
  end_date: 'last date of the release',
  release: 'name of the release, whose folder has all the rest',
  as_of: 'instant as of which the release was made, ISO 8601 in UTC',
  schema_version: 'version of columns, paths and rules',
  content_hash: 'SHA-256 of the rows as canonical CSV, the same for every format',
  synthetic: '`true` when the data is made up',
} as const

/** What `history.parquet` has in the place of `release`, `as_of`, dates and `content_hash`. */
export const HISTORY_KEY_MEANINGS = {
  table: '`history`',
  releases: 'names of the releases whose rows it has, oldest first, with spaces between them',
  entry: '`hash` of the newest of them in `releases/index.json`',
} as const

/** The footer of the Parquet file of a table, so that a copy without its folder still names its source. */
export function parquetKeys(
  manifest: Omit<Manifest, 'files'>,
  table: Table = 'daily',
): Partial<Record<keyof typeof PARQUET_KEY_MEANINGS, string>> {
  const { publisher, license, synthetic, dataset, release, as_of, version, attribution } = manifest
  const { start_date, end_date } = manifest
  return {
    title: publisher.title,
    publisher: publisher.name,
    license: license.name,
    license_url: license.path,
    attribution,
    dataset,
    ...(table !== 'daily' && { table, start_date, end_date }),
    release,
    as_of,
    schema_version: version,
    content_hash: tableFacts(manifest, table)?.content_hash ?? '',
    synthetic: String(synthetic),
  }
}
