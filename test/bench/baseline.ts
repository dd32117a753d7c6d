import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

/**
 * What DuckDB alone takes for the same sums, as a program of its own: `baseline.ts FORM FOLDER`. It checks nothing, keeps
 * nothing and publishes nothing. A third word names a CSV file that the sums are written to.
 */
const COLUMNS = `columns = {timestamp: 'TIMESTAMP', model_permaslug: 'VARCHAR', prompt_tokens: 'BIGINT', completion_tokens: 'BIGINT'}`
const DAY = 'epoch_us(timestamp::TIMESTAMP) // 86400000000'
const TOKENS = 'sum(prompt_tokens + completion_tokens)'

const sums = (from: string) => `SELECT ${DAY} AS day, model_permaslug, ${TOKENS}, count(*) FROM ${from} GROUP BY ALL`

interface Form {
  ending: string
  filesAtOnce?: number
  sql: (paths: string) => string
}

const PARQUET: Form = { ending: 'parquet', sql: (paths) => sums(`read_parquet(${paths}, hive_partitioning = false)`) }
const CSV: Form = {
  ending: 'csv.gz',
  sql: (paths) => sums(`read_csv(${paths}, header = true, auto_detect = false, hive_partitioning = false, ${COLUMNS})`),
}
const NDJSON: Form = {
  ending: 'ndjson.gz',
  sql: (paths) => sums(`read_ndjson(${paths}, auto_detect = false, hive_partitioning = false, ${COLUMNS})`),
}

const FORMS: Record<string, readonly Form[]> = {
  parquet: [PARQUET],
  'csv.gz': [CSV],
  'ndjson.gz': [NDJSON],
  'small files': [PARQUET, CSV, NDJSON].map((form) => ({ ...form, filesAtOnce: 2000 })),
  // The cheapest exact form that was found: sums of everything, less what ids that occur twice have too much.
  surplus: [
    {
      ending: 'parquet',
      filesAtOnce: 7,
      sql: (paths) => `WITH day AS (
        SELECT *, ${DAY} AS day FROM read_parquet(${paths})
      ), repeated AS MATERIALIZED (
        SELECT day, hash(request_id) AS id_hash FROM day WHERE request_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
      ), surplus AS (
        SELECT day.*, row_number() OVER (PARTITION BY day.day, request_id ORDER BY timestamp DESC) AS copy
        FROM day WHERE hash(request_id) IN (SELECT id_hash FROM repeated)
      )
      SELECT day, model_permaslug, sum(tokens), sum(records)::BIGINT
      FROM (
        SELECT day, model_permaslug, ${TOKENS} AS tokens, count(*) AS records FROM day GROUP BY ALL
        UNION ALL
        SELECT day, model_permaslug, -${TOKENS}, -count(*) FROM surplus WHERE copy > 1 GROUP BY ALL
      )
      GROUP BY ALL`,
    },
  ],
}

const [form = '', folder = '', out] = process.argv.slice(2)
const chosen = FORMS[form]
if (chosen === undefined) throw new Error(`no form ${form}; there are ${Object.keys(FORMS).join(', ')}`)
const found = await readdir(folder, { recursive: true })
const connection = await (await DuckDBInstance.create(':memory:', { preserve_insertion_order: 'false' })).connect()
await connection.run('CREATE TABLE sums (day BIGINT, model VARCHAR, tokens HUGEINT, records BIGINT)')
for (const { ending, filesAtOnce = Number.POSITIVE_INFINITY, sql } of chosen) {
  const files = found.filter((name) => name.endsWith(`.${ending}`)).sort()
  for (let first = 0; first < files.length; first += filesAtOnce) {
    const paths = files.slice(first, first + filesAtOnce).map((name) => `'${join(folder, name)}'`)
    await connection.run(`INSERT INTO sums ${sql(`[${paths.join(', ')}]`)}`)
  }
}
if (out !== undefined) {
  const rows = `SELECT make_timestamp(day * 86400000000)::DATE AS day, model AS model_permaslug, sum(tokens) AS tokens, sum(records) AS records`
  await connection.run(`COPY (${rows} FROM sums GROUP BY ALL ORDER BY ALL) TO '${out}' (HEADER)`)
}
