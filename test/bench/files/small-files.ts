import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { writeSources } from '../records.ts'

/** Made-up logs of a gateway that writes a file for each hour and shard. */
export interface SmallFiles {
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
const FORM = 1

/**
 * A folder with `sources.json` and files such as `raw/date=2026-01-01/hour=13/shard-2_0.parquet`, made once for each set of
 * parameters: it stays in `place`, under a name that tells them.
 */
export async function smallFiles(files: SmallFiles, place: string): Promise<string> {
  const folder = join(place, `tokenboard-bench-files-${FORM}-${Object.values(files).join('-')}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  try {
    for (let day = 0; day < files.days; day += 1) await writeDay(connection, join(making, 'raw'), day, files)
    await writeSources(making, 'sources.json', {}, ['raw/**/shard-*'])
    await rename(making, folder)
  } finally {
    connection.closeSync()
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

/** Writes the files of one day, counted from the first of the dataset. Equal parameters give equal records. */
export async function writeDay(
  connection: DuckDBConnection,
  folder: string,
  day: number,
  { shards, recordsPerFile }: Omit<SmallFiles, 'days'>,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const instant = `TIMESTAMP '${DATASET_START}' + INTERVAL ${day} DAY + INTERVAL 1 SECOND * (i * 3600 // ${recordsPerFile})`
  for (let shard = 0; shard < shards; shard += 1) {
    const { ending, columns, options } = FORMATS[shard % FORMATS.length] ?? FORMATS[0]
    // hash() of a record stands for a random number.
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
