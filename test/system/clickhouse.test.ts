/**
 * The rollup on ClickHouse, on two real servers of Debian's package as two shards, in a time zone that is not UTC. Where the
 * program is not installed this is skipped and says so.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  releaseFolder,
  removeWorkspace,
  runBuild,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { CLUSTER, isClickHouseHere, type Pair, startPair, USER } from './clickhouse.ts'
import { DATES, MODELS, RECORDS, writeRecordFiles } from './clickhouse-records.ts'

const AS_OF = '2025-03-10T12:00:00Z'
const LOGIN = { CLICKHOUSE_USER: USER.name, CLICKHOUSE_PASSWORD: USER.password }
const TABLE = `(
  created_at DateTime, request_id String, model String, prompt_tokens UInt64, completion_tokens UInt64
) ENGINE = MergeTree PARTITION BY toYYYYMM(toDate(created_at, 'UTC')) ORDER BY created_at`

let pair: Pair
let parquet: string
let root: Workspace
const workspaces: Workspace[] = []

async function newFolders(): Promise<Workspace> {
  const workspace = await createWorkspace()
  workspaces.push(workspace)
  return workspace
}

function viewOf(table: string, name: string): string {
  return `CREATE VIEW ${name} AS SELECT toDate(created_at, 'UTC') AS utc_date, request_id, model, prompt_tokens, completion_tokens FROM ${table}`
}

/** Folders whose sources file names a view of the servers. */
async function asking(
  view: string,
  choice: Record<string, unknown> = { cluster: CLUSTER },
  top = {},
): Promise<Workspace> {
  const workspace = await newFolders()
  const clickhouse = { url: pair.first.url, view, from: '2025-03-01', ...choice }
  await writeInput(workspace, 'models.json', MODELS)
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    ...top,
    engine: { clickhouse, name: 'gateway' },
  })
  return workspace
}

function build(workspace: Workspace, environment: Record<string, string> = {}, args: string[] = []) {
  return runBuild(workspace, { AS_OF, ...LOGIN, ...environment }, ['--json', ...args])
}

beforeAll(async () => {
  if (!isClickHouseHere) return
  root = await newFolders()
  const files = await writeRecordFiles(root.root)
  parquet = files.parquet
  pair = await startPair()
  for (const [position, node] of [pair.first, pair.second].entries()) {
    await node.run(`CREATE TABLE requests ${TABLE}`)
    await node.run(viewOf('requests', 'usage'))
    await node.load('requests', files.shards[position] ?? '')
  }
  await pair.first.run(`CREATE TABLE everything ${TABLE}`)
  for (const path of files.shards) await pair.first.load('everything', path)
  await pair.first.run(viewOf('everything', 'all_usage'))
})

afterAll(async () => {
  await pair?.stop()
  for (const workspace of workspaces) await removeWorkspace(workspace)
})

if (!isClickHouseHere) {
  it('clickhouse-server is not installed here', ({ skip }) => {
    process.stderr.write('SKIPPED, NOT PROVED: clickhouse-server is not installed, so no rollup ran on ClickHouse\n')
    skip()
  })
}

describe.runIf(isClickHouseHere)('a rollup on ClickHouse', () => {
  let files: Workspace
  let shards: Workspace

  it('publishes the bytes that DuckDB publishes of the same records', async () => {
    files = await newFolders()
    const source = { name: 'gateway', schema: 'canonical', files: [parquet] }
    await writeInput(files, 'models.json', MODELS)
    await writeInput(files, 'sources.json', { models: 'models.json', sources: [source] })
    const onDuckDb = await buildIn(files, AS_OF)
    shards = await asking('usage')
    const { code, stdout, stderr } = await build(shards)
    expect(code, stderr).toBe(0)
    expect(stderr).not.toContain(USER.password)
    const onClickHouse = JSON.parse(stdout)
    expect(onClickHouse.records).toEqual(JSON.parse(JSON.stringify(onDuckDb.records)))
    expect(onClickHouse.records.read).toBe(RECORDS)
    expect(onClickHouse.records.duplicates).toBeGreaterThan(RECORDS / 30)
    expect(onClickHouse.records.withheld.length).toBeGreaterThan(0)
    const [before, after] = [await releaseFolder(files), await releaseFolder(shards)]
    const same = ['csv', 'csv.gz', 'parquet', 'json.gz', 'ndjson.gz'].map((ending) => `rankings-daily.${ending}`)
    for (const name of [...same, 'quality.json', 'models.csv', 'changes.csv', 'chart.svg']) {
      expect((await readFile(join(after, name))).equals(await readFile(join(before, name))), name).toBe(true)
    }
    const big = (await publishedCsv(shards)).split('\n').filter((row) => row.includes('big/one'))
    expect(big.length).toBeGreaterThan(3)
    for (const row of big) expect(BigInt(row.split(',')[2] ?? 0)).toBeGreaterThan(2n ** 53n)
  })

  it('has no more rows come from a shard than its days have models, in each of their kinds', async () => {
    await pair.second.run('SYSTEM FLUSH LOGS')
    const log = await pair.second.run(
      `SELECT max(result_rows), count() FROM system.query_log WHERE type = 2 AND NOT is_initial_query AND query LIKE '%part_conflicting%'`,
    )
    const [rows = 0, queries = 0] = log.split('\t').map(Number)
    expect(queries).toBe(DATES.length)
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(2000)
  })
})
