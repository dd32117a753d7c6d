import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { addDays, DATASET_START } from '../../pipeline/contract/utc-date.ts'

/** Made-up raw usage: a file for each day. */
export interface RawFiles {
  seed: number
  format: 'parquet' | 'csv.gz' | 'ndjson.gz'
  days: number
  recordsPerDay: number
  models: number
  /** 1 gives each model as many records as any other; the larger, the more the first ones have. */
  skew: number
  hasRequestIds: boolean
  /** The share of records that are delivered a second time, in the file of their day. */
  duplicates: number
  /** Customer n has about 1/n of the records that the first one has. */
  customers?: number
}

const FORM = 1
const COPY_OPTIONS: Record<RawFiles['format'], string> = {
  parquet: 'FORMAT parquet',
  'csv.gz': 'FORMAT csv, HEADER, COMPRESSION gzip',
  'ndjson.gz': 'FORMAT json, COMPRESSION gzip',
}

/**
 * A folder with `sources.json` and `raw/`, made once for each set of parameters: it stays in the folder for temporary
 * files, under a name that tells them.
 */
export async function rawFiles(options: RawFiles): Promise<string> {
  const name = Object.values(options).join('-')
  const folder = join(tmpdir(), `tokenboard-bench-raw-${FORM}-${name}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  await mkdir(join(making, 'raw'), { recursive: true })
  try {
    for (let day = 0; day < options.days; day += 1) await writeDay(join(making, 'raw'), day, options)
    await writeSources(making)
    await rename(making, folder)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

/** Writes a sources file for raw files in `raw/` of its folder; `top` has its other keys. */
export async function writeSources(
  folder: string,
  name = 'sources.json',
  top: object = {},
  files: readonly string[] = ['raw/*'],
): Promise<void> {
  const source = { name: 'made-up', schema: 'canonical', files, visibility: 'public' }
  await writeFile(join(folder, name), JSON.stringify({ sources: [source], ...top }))
}

/** Writes the file of one day, counted from the first of the dataset. Equal parameters give equal records. */
export async function writeDay(folder: string, day: number, options: RawFiles): Promise<string> {
  const { seed, format, recordsPerDay, models, skew, hasRequestIds, duplicates, customers } = options
  const path = join(folder, `${addDays(DATASET_START, day)}.${format}`)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  // hash() of record and seed serves as a random number: it is the same on any number of threads.
  const random = (salt: number) => `hash(i, ${day}, ${seed}, ${salt})`
  const id = hasRequestIds ? `, 'req-${day}-' || md5(concat(i, '-', ${seed})) AS request_id` : ''
  const customer =
    customers === undefined
      ? ''
      : // With the salt last, customers would follow from models: DuckDB combines hashes by XOR.
        `, 'customer-' || floor(pow(${customers}, hash(4, i, ${day}, ${seed}) / 18446744073709551616.0))::INTEGER AS contributor`
  const instant = `make_timestamp(epoch_us(TIMESTAMP '${DATASET_START}') + ${day} * 86400000000 + i * 86399000000 // ${recordsPerDay})`
  await connection.run(`COPY (
    SELECT
      ${format === 'parquet' ? instant : `strftime(${instant}, '%Y-%m-%dT%H:%M:%S.%fZ')`} AS timestamp,
      'author/model-' || floor(${models} * pow(${random(1)} / 18446744073709551616.0, ${skew}))::INTEGER AS model_permaslug,
      100 + (${random(2)} % 1000)::BIGINT AS prompt_tokens,
      (${random(3)} % 300)::BIGINT AS completion_tokens${id}${customer}
    FROM (
      SELECT range AS i FROM range(${recordsPerDay})
      UNION ALL
      SELECT range AS i FROM range(${Math.floor(recordsPerDay * duplicates)})
    )
  ) TO '${path}' (${COPY_OPTIONS[format]})`)
  connection.closeSync()
  instance.closeSync()
  return path
}

export const PARQUET: RawFiles = {
  seed: 7,
  format: 'parquet',
  days: 140,
  recordsPerDay: 143_000,
  models: 400,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}
export const CSV: RawFiles = { ...PARQUET, days: 35, format: 'csv.gz' }
export const NDJSON: RawFiles = { ...CSV, format: 'ndjson.gz' }
export const WITH_IDS: RawFiles = { ...PARQUET, hasRequestIds: true, duplicates: 0.01 }

export const TITLES: Record<RawFiles['format'], string> = {
  parquet: 'Parquet',
  'csv.gz': 'CSV.gz',
  'ndjson.gz': 'NDJSON.gz',
}

/** Days with so few records that only their number counts. */
export const DAYS: RawFiles = {
  seed: 7,
  format: 'parquet',
  days: 700,
  recordsPerDay: 300,
  models: 80,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}

/** The share of the sizes that a suite measures: BENCH_SCALE, by default all. */
export function scale(): number {
  const { BENCH_SCALE = '1' } = process.env
  const share = Number(BENCH_SCALE)
  if (!(share > 0 && share <= 1)) throw new Error('BENCH_SCALE must be above 0 and at most 1')
  return share
}

/** Builds under a rule publish nothing for fewer days. */
export const LEAST_DAYS = 4

/** A share of the records: of the days, and of those of each day where few days are left. */
export function scaled(raw: RawFiles): RawFiles {
  const days = Math.max(LEAST_DAYS, Math.round(raw.days * scale()))
  return { ...raw, days, recordsPerDay: Math.max(20, Math.round((raw.days * raw.recordsPerDay * scale()) / days)) }
}

/** Such as `20.0 M records in 140 files`. */
export function describeSize({ days, recordsPerDay }: RawFiles): string {
  return `${millions((days * recordsPerDay) / 1e6)} M records in ${days} files`
}

function millions(value: number): string {
  return value < 0.1 ? value.toPrecision(1) : value.toFixed(1)
}

/** Made-up logs of a gateway that writes a file for each hour and shard. */
interface SmallFiles {
  days: number
  shards: number
  recordsPerFile: number
}

interface Format {
  ending: string
  columns: string
  options: string
}

const FIELDS = 'timestamp, model_permaslug, prompt_tokens, completion_tokens'
/** Shards take turns. DuckDB does not partition JSON: its lines are a CSV of one column. */
const FORMATS: readonly [Format, ...Format[]] = [
  {
    ending: 'ndjson.gz',
    columns: `to_json({${FIELDS.replaceAll(/\w+/g, '$&: $&')}})::VARCHAR`,
    options: `FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\t', COMPRESSION gzip`,
  },
  { ending: 'csv.gz', columns: FIELDS, options: 'FORMAT csv, HEADER, COMPRESSION gzip' },
  { ending: 'parquet', columns: FIELDS, options: 'FORMAT parquet' },
]

/**
 * A folder with `sources.json` and files such as `raw/date=2026-01-01/hour=13/shard-2_0.parquet`, made once for each set of
 * parameters, as `rawFiles` makes its own.
 */
export async function smallFiles(files: SmallFiles): Promise<string> {
  const folder = join(tmpdir(), `tokenboard-bench-files-1-${Object.values(files).join('-')}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  try {
    for (let day = 0; day < files.days; day += 1) await writeHours(connection, join(making, 'raw'), day, files)
    await writeSources(making, 'sources.json', {}, ['raw/**/shard-*'])
    await rename(making, folder)
  } finally {
    connection.closeSync()
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

/** Writes the files of one day, counted from the first of the dataset. Equal parameters give equal records. */
async function writeHours(
  connection: DuckDBConnection,
  folder: string,
  day: number,
  { shards, recordsPerFile }: Omit<SmallFiles, 'days'>,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const instant = `TIMESTAMP '${DATASET_START}' + INTERVAL ${day} DAY + INTERVAL 1 SECOND * (i * 3600 // ${recordsPerFile})`
  for (let shard = 0; shard < shards; shard += 1) {
    const { ending, columns, options } = FORMATS[shard % FORMATS.length] ?? FORMATS[0]
    // hash() of a record serves as a random number.
    const random = (salt: number) => `hash(i, ${day}, ${shard}, ${salt})`
    await connection.run(`COPY (
      SELECT ${columns}, date, hour
      FROM (
        SELECT
          strftime(${instant}, '%Y-%m-%dT%H:%M:%SZ') AS timestamp,
          'author/model-' || floor(80 * pow(${random(1)} / 18446744073709551616.0, 2))::INTEGER AS model_permaslug,
          100 + (${random(2)} % 1000)::BIGINT AS prompt_tokens,
          (${random(3)} % 300)::BIGINT AS completion_tokens,
          '${addDays(DATASET_START, day)}' AS date,
          i // ${recordsPerFile} AS hour
        FROM range(${24 * recordsPerFile}) AS records(i)
      )
    ) TO '${folder}' (
      ${options}, PARTITION_BY (date, hour), FILENAME_PATTERN 'shard-${shard}_{i}', FILE_EXTENSION '${ending}',
      OVERWRITE_OR_IGNORE
    )`)
  }
}
