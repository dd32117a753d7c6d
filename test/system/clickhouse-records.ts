/** Records of five days, with everything that makes sums of them differ, as Parquet and as CSV for each shard. */
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

export const DATES = ['2025-03-02', '2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06']

/**
 * Most records have an id of their own; the last tenth are copies of others, some with other counts or another name of the
 * model. A copy has the time of its original: the view of ClickHouse knows days alone. Every fifth copy is of the day
 * after, where it counts. Some ids are empty, some records are to be rejected, and one model has more than 2^53 tokens a day.
 */
const make = (records: number) => `
  CREATE TABLE records AS
  WITH numbered AS (
    SELECT i, if(i < ${records * 0.9}, i, (i * 7919) % ${records * 0.9}) AS original FROM range(${records}) t(i)
  )
  SELECT
    i,
    make_timestamp(1740873600000000 + ((original * 104729) % (4 * 86400)) * 1000000 + if(i <> original AND i % 5 = 0, 86400000000, 0))
      AS created_at,
    if(original % 11 = 0, '', 'request-' || original) AS request_id,
    CASE
      WHEN original % 100003 = 1 THEN '=' || original
      WHEN original % 100003 = 2 THEN 'other'
      WHEN original % 50021 = 3 THEN 'big/one'
      WHEN i <> original AND i % 3 = 0 THEN ['alias-a', 'alias-z', 'acme/private', 'acme/unknown'][i % 4 + 1]
      ELSE 'acme/model-' || (original * original) % 97
    END AS model,
    CASE
      WHEN original % 50021 = 3 THEN 9007199254740991
      WHEN original % 70001 = 4 THEN 9007199254740992
      ELSE original % 1009 + if(i <> original AND i % 7 = 0, i % 3, 0)
    END AS prompt_tokens,
    original % 503 + if(i <> original AND i % 13 = 0, 1, 0) AS completion_tokens
  FROM numbered`

export interface RecordFiles {
  parquet: string
  /** Those of one shard each: the id decides which. */
  shards: [string, string]
}

export async function writeRecordFiles(folder: string, records: number): Promise<RecordFiles> {
  const connection = await (await DuckDBInstance.create()).connect()
  const [parquet, first, second] = ['records.parquet', 'shard-1.csv', 'shard-2.csv'].map((name) => join(folder, name))
  if (parquet === undefined || first === undefined || second === undefined) throw new Error('no paths')
  await connection.run(make(records))
  const columns = 'request_id, model, prompt_tokens, completion_tokens'
  await connection.run(
    `COPY (SELECT created_at AS timestamp, model AS model_permaslug, * EXCLUDE (i, created_at, model) FROM records) TO '${parquet}'`,
  )
  for (const [shard, path] of [first, second].entries()) {
    const mine = `if(request_id = '', i, hash(request_id)) % 2 = ${shard}`
    await connection.run(
      `COPY (SELECT epoch(created_at)::BIGINT, ${columns} FROM records WHERE ${mine}) TO '${path}' (HEADER false)`,
    )
  }
  connection.closeSync()
  return { parquet, shards: [first, second] }
}

export const MODELS = [
  ...Array.from({ length: 97 }, (_, index) => `acme/model-${index}`).map((slug) => ({
    model_permaslug: slug,
    public: true,
  })),
  { model_permaslug: 'big/one', public: true },
  { model_permaslug: 'acme/aliased', public: true, aliases: ['alias-a'] },
  { model_permaslug: 'aaa/first', public: true, aliases: ['alias-z'] },
  { model_permaslug: 'acme/private', public: false },
]
