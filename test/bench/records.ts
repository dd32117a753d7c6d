import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
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
  // hash() of record and seed stands for a random number: it is the same on any number of threads.
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
