/** `tokenboard inspect --sql`: SQL that reads a raw file as a build does, in DuckDB without Tokenboard. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { inspectSql } from '../../pipeline/raw/inspect-sql.ts'
import { SCHEMA_NAMES } from '../../pipeline/raw/schemas/index.ts'
import { newWorkspace, runCli, writeInput } from '../support/pipeline.ts'
import { compress, query, sqlText } from '../support/records.ts'
import { corpusLogs } from '../support/schema-corpus.ts'
import { buildLogs, formOf, RECORDS, writeLog } from '../support/schemas.ts'

const AS_OF = '2026-06-10T12:00:00Z'
const effects = { now: () => new Date(AS_OF), signal: new AbortController().signal, sources: undefined }

/** What SQL prints in a DuckDB of its own: the rows of its last statement, and those of more `questions`. */
async function runBare(sql: string, ...questions: string[]): Promise<Record<string, unknown>[][]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const answers = []
    for (const text of [sql, ...questions]) {
      const statements = await connection.extractStatements(text)
      let rows: Record<string, unknown>[] = []
      for (let index = 0; index < statements.count; index++) {
        const prepared = await statements.prepare(index)
        rows = await (await prepared.run()).getRowObjectsJson()
      }
      answers.push(rows)
    }
    return answers
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const SUMS = `
  SELECT
    reject_reason, date, CASE WHEN reject_reason IS NULL THEN coalesce(model, '') END AS model,
    count(*)::VARCHAR AS records,
    coalesce(sum(prompt_tokens + completion_tokens) FILTER (reject_reason IS NULL), 0)::VARCHAR AS tokens,
    sum(cost_usd)::DECIMAL(38, 9)::VARCHAR AS cost_usd
  FROM records
  GROUP BY ALL
  UNION ALL
  SELECT reject_reason, NULL, NULL, records::VARCHAR, '0', '0.000000000'
  FROM counts
  WHERE reject_reason = 'malformed_record' AND first_date IS NULL
  ORDER BY ALL`

/** What the last build read of a source. */
function builtSums(source: string): Promise<Record<string, unknown>[]> {
  return query(`
    SELECT
      reject_reason, strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date, model,
      sum(records)::VARCHAR AS records, sum(tokens)::VARCHAR AS tokens,
      sum(cost_usd)::DECIMAL(38, 9)::VARCHAR AS cost_usd
    FROM built.state_sums
    JOIN built.state_files USING (file_id)
    WHERE source = ${sqlText(source)}
    GROUP BY ALL
    ORDER BY ALL`)
}

const OWN = 'Date;Model Name;inputTokens;outputTokens\n2025-06-01T12:00:00Z;m;8;2\n2025-06-01T13:00:00Z;;1;x\n2025;1\n'
const COLUMNS = { timestamp: 'Date', model_permaslug: 'Model Name', prompt_tokens: 'inputTokens' }
const OWN_SOURCE = {
  ...{ name: 'own', schema: 'canonical', files: ['*.csv'], visibility: 'public' },
  columns: { ...COLUMNS, completion_tokens: 'outputTokens' },
}
const ON_FIRST = { first_date: '2025-06-01', last_date: '2025-06-01' }
const OWN_COUNTS = [
  { reject_reason: null, records: '1', tokens: '10', ...ON_FIRST },
  { reject_reason: 'invalid_token_count', records: '1', tokens: '0', ...ON_FIRST },
  { reject_reason: 'malformed_record', records: '1', tokens: '0', first_date: null, last_date: null },
]

async function workspaceWith(name: string, content: string | Uint8Array) {
  const workspace = await newWorkspace()
  await writeInput(workspace, name, content)
  return { workspace, path: join(workspace.input, name) }
}

describe('the SQL of inspect', () => {
  it('reads and rejects the records of every schema as a build does', async () => {
    const logs = SCHEMA_NAMES.flatMap((schema, index) => corpusLogs(schema, formOf(schema, index)))
    const { workspace } = await buildLogs(logs, AS_OF)
    const sources = join(workspace.input, 'sources.json')
    await query(`ATTACH ${sqlText(join(workspace.dataDir, 'state/build.duckdb'))} AS built (READ_ONLY)`)
    try {
      for (const [index, { schema, form }] of logs.entries()) {
        const sql = await inspectSql(join(workspace.input, `log-${index}.${form}`), { ...effects, sources })
        expect(sql).toContain(`\n-- source "log-${index}" of ${sources}, schema ${schema}\n`)
        const [, sums] = await runBare(sql, SUMS)
        expect(sums, `${schema}, log ${index}`).toEqual(await builtSums(`log-${index}`))
      }
    } finally {
      await query('DETACH built')
    }
  })

  it.each(['own.csv.gz', 'own.csv.zst', "it's [a] *?.csv", '{a,b}\\.csv', 'line\nfeed.csv', 'year=2025/[!x]*/own.csv'])(
    'reads only the file %j, and counts its malformed records',
    async (name) => {
      const { workspace, path } = await workspaceWith(name, compress(name, OWN))
      for (const other of ["it's a xy.csv", 'year=2025/y/own.csv']) await writeInput(workspace, other, OWN)
      const sql = await inspectSql(path, effects)
      expect(sql).toContain('\n-- schema canonical, guessed\n')
      expect(sql).toContain('\n-- c1 is "Model Name"\n')
      const [records, counts] = await runBare(sql, 'SELECT * FROM counts ORDER BY reject_reason NULLS FIRST')
      expect(records).toHaveLength(2)
      expect(counts).toEqual(OWN_COUNTS)
    },
  )

  it('reads times without an offset in the time zone of the source', async () => {
    const { workspace, path } = await workspaceWith('own.csv', OWN.replace('12:00:00Z', '22:00:00'))
    await writeInput(workspace, 'sources.json', { sources: [{ ...OWN_SOURCE, timezone: 'America/New_York' }] })
    const sql = await inspectSql(path, { ...effects, sources: join(workspace.input, 'sources.json') })
    expect((await runBare(sql))[0]).toMatchObject([{ date: '2025-06-02' }, { date: '2025-06-01' }])
  })

  it('reads columns in the path as the source names them', async () => {
    const { workspace, path } = await workspaceWith("m'1/2025-06-01.csv", 'prompt_tokens,completion_tokens\n8,2\n')
    const columns = { timestamp: { path: 'date', unit: 'day' }, model_permaslug: 'model' }
    const source = { name: 'own', schema: 'canonical', files: ['{model}/{date}.csv'], visibility: 'public', columns }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    const sql = await inspectSql(path, { ...effects, sources: join(workspace.input, 'sources.json') })
    const [records] = await runBare(sql)
    expect(records).toMatchObject([{ date: '2025-06-01', model: "m'1", prompt_tokens: '8' }])
  })

  it('contains names of files and columns only as text and in comments', async () => {
    const name = "'); DROP TABLE counts; --\n.quit"
    const content = `Date;Model Name;inputTokens;outputTokens;"\u2028${name.replace('\n', ' ')}"\n2025-06-01T12:00:00Z;m;8;2;\n`
    const { path } = await workspaceWith(`${name}.csv`, content)
    const sql = await inspectSql(path, effects)
    for (const line of sql
      .slice(0, sql.indexOf('SET TimeZone'))
      .trimEnd()
      .split(/[\n\r\u2028]/))
      expect(line).toMatch(/^-- /)
    expect((await runBare(sql))[0]).toMatchObject([{ model: 'm' }])
  })
})

describe('inspect --sql', () => {
  it('prints only the SQL, of one file', async () => {
    const { path } = await workspaceWith('own.csv', OWN)
    const { stdout, stderr, code } = await runCli(['inspect', '--sql', path], {})
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect((await runBare(stdout))[0]).toMatchObject([{ model: 'm' }, { reject_reason: 'invalid_token_count' }])
    for (const [words, message] of [
      [['own.csv', 'own.csv'], '--sql takes one file, not 2'],
      [['--json', 'own.csv'], 'give one of them'],
      [['none.csv'], 'there is no file none.csv'],
    ] as const) {
      const refused = await runCli(['inspect', '--sql', ...words], {})
      expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
    }
  })

  it.each([
    ['Parquet that is compressed', 'log.parquet.gz', 'is compressed Parquet; decompress it'],
    ['a byte order mark', 'log.ndjson', 'begins with a byte order mark; remove it'],
    ['mixed line ends', 'own.csv', 'line ends of more than one kind'],
    ['a backslash and a wildcard', 'a\\[1].csv', 'has a backslash and a wildcard'],
  ])('refuses a file with %s, which DuckDB cannot read in place', async (_, name, message) => {
    const { workspace, path } = await workspaceWith(name, OWN.replace('\n', '\r\n'))
    if (name.endsWith('.ndjson')) await writeFile(path, `\ufeff${JSON.stringify(RECORDS.canonical)}\n`)
    if (name.endsWith('.gz')) {
      const plain = join(workspace.input, 'plain.parquet')
      await writeLog(plain, [RECORDS.canonical], 'parquet')
      await writeFile(path, compress(path, readFileSync(plain)))
    }
    await writeInput(workspace, 'sources.json', { sources: [OWN_SOURCE] })
    const refused = inspectSql(path, { ...effects, sources: join(workspace.input, 'sources.json') })
    await expect(refused).rejects.toThrow(CliError)
    await expect(refused).rejects.toThrow(message)
  })

  it('fails with the reason if no schema fits', async () => {
    const { path } = await workspaceWith('own.csv', 'a,b\n1,2\n')
    const refused = inspectSql(path, effects)
    await expect(refused).rejects.toThrow(BuildError)
    await expect(refused).rejects.toThrow(/no schema fits .*own\.csv; the nearest schema is/)
  })
})
