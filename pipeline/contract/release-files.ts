import { TABLES, type Table } from './tables.ts'

const DATA_FORMATS = {
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv; charset=utf-8',
  'csv.gz': 'application/gzip',
  'json.gz': 'application/gzip',
  'ndjson.gz': 'application/gzip',
} as const
export type DataFormat = keyof typeof DATA_FORMATS

/** A file with all rows of a table. */
export type DataFile<T extends Table = Table> = `rankings-${T}.${DataFormat}`

export function dataFile<T extends Table, F extends DataFormat>(table: T, format: F): `rankings-${T}.${F}` {
  return `rankings-${table}.${format}`
}

/** The files of a table, in the order of a manifest. */
export function dataFiles<T extends Table>(table: T): { path: DataFile<T>; format: DataFormat; media_type: string }[] {
  const formats = Object.entries(DATA_FORMATS) as [DataFormat, string][]
  return formats.map(([format, media_type]) => ({ path: dataFile(table, format), format, media_type }))
}

/** The names of all files of tables. */
export const DATA_FILES: readonly DataFile[] = TABLES.flatMap((table) => dataFiles(table).map(({ path }) => path))

/** The table that a file has the rows of, by its name: rankings-daily.csv.gz. */
export function tableOfFile(name: string): Table | undefined {
  return TABLES.find((table) => name.startsWith(`rankings-${table}.`))
}

/** Whether a file of a release has the rows of a table, so that it goes when the release is dropped. */
export function isDataFile(name: string): boolean {
  return DATA_FILES.some((each) => each === name)
}

export const MANIFEST_FILE = 'manifest.json'
export const MODELS_FILE = 'models.csv'
export const QUALITY_FILE = 'quality.json'
