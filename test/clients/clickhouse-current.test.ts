/**
 * The statements of the rollup on the current ClickHouse, which chdb brings into a process of Python, and the views of
 * deploy/clickhouse/ there. Where PyPI has no chdb for this machine this is skipped and says so.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  REPOSITORY,
  readLatest,
  removeWorkspace,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { DATES, MODELS, writeRecordFiles } from '../system/clickhouse-records.ts'
import { skipLoudly } from '../system/hosting.ts'
import { type Python, pythonWith } from './python.ts'

const RECORDS = 300_000
const AS_OF = '2025-03-10T12:00:00Z'

let python: Python
let server: ChildProcess
let url: string
const workspaces: Workspace[] = []

async function newFolders(): Promise<Workspace> {
  const workspace = await createWorkspace()
  workspaces.push(workspace)
  return workspace
}

async function run(statement: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', body: statement })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text.trim()
}

beforeAll(async () => {
  python = await pythonWith(['chdb==4.4.0'])
  if ('reason' in python) return
  server = spawn(
    join(python.bin, 'python'),
    [join(REPOSITORY, 'test/clients/chdb_server.py'), (await newFolders()).root],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  if (server.stdout === null) throw new Error('no output')
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('chdb ended before it answered')))
  const [port] = await Promise.race([once(createInterface({ input: server.stdout }), 'line'), ended])
  url = `http://127.0.0.1:${port}`
})

afterAll(async () => {
  server?.kill()
  for (const workspace of workspaces) await removeWorkspace(workspace)
})

it('publishes on the current ClickHouse what DuckDB publishes', async ({ skip }) => {
  if ('reason' in python) {
    skipLoudly(skip, `${python.reason}, so no rollup ran on the current ClickHouse`)
  }
  const files = await newFolders()
  const { parquet } = await writeRecordFiles(files.input, RECORDS)
  await writeInput(files, 'models.json', MODELS)
  const source = { name: 'gateway', schema: 'canonical', files: [parquet] }
  await writeInput(files, 'sources.json', { models: 'models.json', max_withheld_share: 1, sources: [source] })
  const onDuckDb = await buildIn(files, AS_OF)

  await run(`CREATE DATABASE logs`)
  await run(`CREATE TABLE logs.requests ENGINE = MergeTree ORDER BY created_at AS
    SELECT toDateTime64(assumeNotNull(timestamp), 3, 'UTC') AS created_at, toLowCardinality(toNullable(model_permaslug)) AS model,
      nullIf(request_id, '') AS request_id, toUInt64(prompt_tokens) AS prompt_tokens, toNullable(toInt64(completion_tokens)) AS completion_tokens
    FROM file('${parquet}', Parquet)`)
  expect(await run('SELECT count() FROM logs.requests')).toBe(`${RECORDS}`)
  await run(`CREATE VIEW logs.usage AS
    SELECT toDate(created_at, 'UTC') AS utc_date, request_id, model, prompt_tokens, completion_tokens FROM logs.requests`)
  await run(`CREATE VIEW logs.customers AS
    SELECT *, toLowCardinality(toNullable(toString(sipHash64(request_id) % 9))) AS contributor FROM logs.usage`)
  for (const choice of [{ view: 'usage' }, { view: 'usage', cluster: 'alone' }, { view: 'customers' }]) {
    const current = await askingFor({ url, database: 'logs', from: DATES[0], ...choice })
    const onClickHouse = await buildIn(current, AS_OF)
    expect(onClickHouse.disclosure !== undefined).toBe(choice.view === 'customers')
    expect(onClickHouse.records).toEqual(onDuckDb.records)
    expect((await readLatest(current)).content_hash).toBe((await readLatest(files)).content_hash)
  }
  const doubled = await askingFor({ url, database: 'logs', view: 'usage', from: DATES[0], cluster: 'doubled' })
  await expect(buildIn(doubled, AS_OF)).rejects.toThrow('ids are on several shards')
})

async function askingFor(clickhouse: Record<string, unknown>): Promise<Workspace> {
  const workspace = await newFolders()
  await writeInput(workspace, 'models.json', MODELS)
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    max_withheld_share: 1,
    engine: { clickhouse, name: 'gateway' },
  })
  return workspace
}

it('the current ClickHouse knows all settings that are sent', async ({ skip }) => {
  if ('reason' in python) skip()
  const names = [
    'distributed_group_by_no_merge',
    'distributed_product_mode',
    'group_by_overflow_mode',
    'limit',
    'offset',
    'prefer_global_in_and_join',
    'read_overflow_mode',
    'read_overflow_mode_leaf',
    'skip_unavailable_shards',
    'use_query_cache',
  ]
  const known = await run(
    `SELECT name FROM system.settings WHERE name IN (${names.map((name) => `'${name}'`)}) ORDER BY name`,
  )
  expect(known.split('\n')).toEqual(names.toSorted())
})

/** The tables that the views of deploy/clickhouse/ read, as far as they read them, and what they have to say of their rows. */
const PRODUCTS = [
  {
    product: 'Langfuse',
    table: `CREATE TABLE observations (
      id String, project_id String, type LowCardinality(String), start_time DateTime64(3), provided_model_name Nullable(String),
      usage_details Map(LowCardinality(String), UInt64), event_ts DateTime64(3), is_deleted UInt8
    ) ENGINE = ReplacingMergeTree(event_ts, is_deleted) ORDER BY (project_id, type, toDate(start_time), id)`,
    rows: `INSERT INTO observations VALUES
      ('1', 'p', 'GENERATION', '2025-03-02 23:59:59.999', 'acme/one', {'input': 3, 'input_cached': 4, 'output': 5, 'output_reasoning': 6, 'total': 18}, '2025-03-02 23:59:59', 0),
      ('2', 'p', 'GENERATION', '2025-03-02 10:00:00', 'acme/one', {'total': 9}, '2025-03-02 10:00:00', 0),
      ('2', 'p', 'GENERATION', '2025-03-02 10:00:00', 'acme/two', {'total': 8}, '2025-03-02 10:00:01', 0),
      ('3', 'p', 'SPAN', '2025-03-02 10:00:00', 'acme/one', {'input': 1}, '2025-03-02 10:00:00', 0),
      ('4', 'p', 'GENERATION', '2025-03-02 10:00:00', 'acme/one', {'input': 1}, '2025-03-02 10:00:00', 0),
      ('4', 'p', 'GENERATION', '2025-03-02 10:00:00', 'acme/one', {'input': 1}, '2025-03-02 10:00:01', 1)`,
    csv: 'date,model_permaslug,total_tokens\n2025-03-02,acme/one,18\n2025-03-02,acme/two,8\n',
  },
  {
    product: 'Helicone',
    table: `CREATE TABLE request_response_rmt (
      request_id UUID, request_created_at DateTime64(3), model LowCardinality(String), prompt_tokens Nullable(Int64),
      completion_tokens Nullable(Int64), cache_reference_id Nullable(UUID), updated_at DateTime64(3)
    ) ENGINE = ReplacingMergeTree(updated_at) ORDER BY (model, request_created_at, request_id)`,
    rows: `INSERT INTO request_response_rmt VALUES
      ('00000000-0000-0000-0000-000000000001', '2025-03-02 00:00:00', 'acme/one', 1, 2, NULL, '2025-03-02 00:00:00'),
      ('00000000-0000-0000-0000-000000000001', '2025-03-02 00:00:00', 'acme/one', 3, 4, NULL, '2025-03-02 00:00:01'),
      ('00000000-0000-0000-0000-000000000002', '2025-03-02 00:00:00', 'acme/one', NULL, 5, '00000000-0000-0000-0000-000000000000', '2025-03-02 00:00:00'),
      ('00000000-0000-0000-0000-000000000003', '2025-03-02 00:00:00', 'acme/one', 7, 7, '00000000-0000-0000-0000-000000000001', '2025-03-02 00:00:00')`,
    csv: 'date,model_permaslug,total_tokens\n2025-03-02,acme/one,12\n',
  },
  {
    product: 'OpenRouter',
    table: `CREATE TABLE OPENROUTER_TRACES (
      TRACE_ID String, TIMESTAMP DateTime64(3), SPAN_TYPE String, MODEL String, PROMPT_TOKENS Nullable(UInt64), COMPLETION_TOKENS Nullable(UInt64)
    ) ENGINE = MergeTree ORDER BY TIMESTAMP`,
    rows: `INSERT INTO OPENROUTER_TRACES VALUES
      ('t', '2025-03-02 00:00:00', 'GENERATION', 'acme/one', 1, 2),
      ('t', '2025-03-02 00:00:00', 'GENERATION', 'acme/one', 1, NULL),
      ('t', '2025-03-02 00:00:00', 'SPAN', 'acme/one', 50, 50)`,
    csv: 'date,model_permaslug,total_tokens\n2025-03-02,acme/one,4\n',
  },
]

it.for(PRODUCTS)(
  'publishes the usage of $product with the documented view',
  async ({ product, table, rows, csv }, { skip }) => {
    if ('reason' in python) skip()
    const database = product.toLowerCase()
    const view = readFileSync(join(REPOSITORY, `deploy/clickhouse/${database}.sql`), 'utf8')
    await run(`CREATE DATABASE ${database}`)
    for (const statement of [table, inUtc(rows), view]) await run(placed(statement, database))
    const workspace = await newFolders()
    const clickhouse = { url, database, view: 'tokenboard_usage', from: '2025-03-01' }
    await writeInput(workspace, 'sources.json', { engine: { clickhouse, visibility: 'public' } })
    await buildIn(workspace, AS_OF)
    expect(await publishedCsv(workspace)).toBe(csv)
  },
)

/** The statement with its times in UTC, whatever the zone of the server. */
function inUtc(statement: string): string {
  return statement.replace(/'(\d{4}-\d\d-\d\d \d[^']*)'/g, "parseDateTime64BestEffort('$1Z', 3)")
}

/** The statement with the names of its tables in a database, as one who stands in that database would write it. */
function placed(statement: string, database: string): string {
  return statement.replace(/\b(TABLE|INTO|VIEW|FROM) (\w+)/g, `$1 ${database}.$2`)
}
