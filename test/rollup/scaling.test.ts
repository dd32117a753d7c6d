/** The statements of deploy/sums/ for other engines, run in DuckDB, which understands both of them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, REPOSITORY, type Workspace, writeInput } from '../support/pipeline.ts'

const DATE = '2025-03-02'

/** Copies that disagree in time, counts and model, ids of two days, no ids, counts out of range, times of another zone. */
const RECORDS = [
  ['2025-03-02T00:00:00Z', 'a', 'm/one', 1, 1],
  ['2025-03-02T23:59:59Z', 'a', 'm/two', 2, null],
  ['2025-03-02T23:59:59Z', 'a', 'm/one', 2, 0],
  ['2025-03-02T12:00:00Z', 'b', 'm/one', 5, 1],
  ['2025-03-02T12:00:00Z', 'b', 'm/one', 5, 2],
  ['2025-03-03T12:00:00Z', 'b', 'm/one', 7, 7],
  ['2025-03-02T12:00:00Z', '', 'm/one', 10, 0],
  ['2025-03-02T12:00:00Z', null, 'm/one', 10, 0],
  ['2025-03-02T12:00:00Z', 'c', 'm/one', -1, 0],
  ['2025-03-02T12:00:00Z', 'd', 'm/one', 9007199254740992n, 0],
  ['2025-03-02T12:00:00Z', 'e', 'm/big', 9007199254740991n, 9007199254740991n],
  ['2025-03-01T23:30:00-01:00', 'f', 'm/zone', 3, 0],
  ['2025-03-03T00:30:00+01:00', 'g', 'm/zone', 4, 0],
] as const

const ENGINES = [
  ['TIMESTAMP', 'spark.sql'],
  ['TIMESTAMPTZ', 'trino.sql'],
] as const

/** Sums the records by a statement of deploy/sums/, in the folder of a workspace. */
async function sumInto(workspace: Workspace, [type, file]: (typeof ENGINES)[number]): Promise<void> {
  const text = readFileSync(join(REPOSITORY, 'deploy/sums', file), 'utf8')
  const select = text.slice(text.search(/^SELECT\b/m)).replaceAll('2026-11-19', DATE)
  expect(select).toContain('GROUP BY utc_date, model;')
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run("SET TimeZone = 'UTC'")
  await connection.run(
    `CREATE TABLE requests (created_at ${type}, request_id VARCHAR, model VARCHAR, prompt_tokens BIGINT, completion_tokens BIGINT)`,
  )
  for (const [time, ...rest] of RECORDS) {
    const values = [new Date(time).toISOString(), ...rest].map((value) =>
      typeof value === 'string' ? `'${value}'` : `${value}`,
    )
    await connection.run(`INSERT INTO requests VALUES (${values.join(', ')})`)
  }
  await connection.run(`COPY (${select.replace(/;\s*$/, '')}) TO '${join(workspace.input, 'sums.parquet')}'`)
  connection.closeSync()
}

it('the statements for Spark and Trino sum as a build of the same records does', async () => {
  const raw = await newWorkspace()
  const lines = RECORDS.map(([timestamp, request_id, model_permaslug, prompt, completion]) => {
    return `{"timestamp":"${timestamp}","request_id":${JSON.stringify(request_id)},"model_permaslug":"${model_permaslug}","prompt_tokens":${prompt},"completion_tokens":${completion}}\n`
  })
  await writeInput(raw, 'raw.ndjson', lines.join(''))
  const source = { name: 'raw', schema: 'canonical', files: ['raw.ndjson'], visibility: 'public' }
  await writeInput(raw, 'sources.json', { sources: [source], max_rejected_share: 1 })
  const ofRecords = await buildIn(raw)
  const sameDay = (await publishedCsv(raw)).split('\n').filter((row) => !row.startsWith('2025-03-03'))

  for (const engine of ENGINES) {
    const workspace = await newWorkspace()
    await sumInto(workspace, engine)
    await writeInput(workspace, 'sources.json', { engine: { rollup_files: ['sums.parquet'], visibility: 'public' } })
    const ofSums = await buildIn(workspace)
    expect((await publishedCsv(workspace)).split('\n')).toEqual(sameDay)
    expect(ofSums.records.published).toBe(ofRecords.records.published - 1)
  }
})
