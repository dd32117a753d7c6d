/**
 * The rollup on ClickHouse, on two real servers of Debian's package as two shards, in a time zone that is not UTC. Where the
 * program is not installed this is skipped and says so.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Database } from '../../pipeline/base/database.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { CHANGES_FILES } from '../../pipeline/contract/change-log.ts'
import { dataFiles } from '../../pipeline/contract/release-files.ts'
import { TABLES } from '../../pipeline/contract/tables.ts'
import { measureRule, type UnsafeCell, worstCells } from '../../pipeline/dataset/disclosure.ts'
import { Account } from '../../pipeline/dataset/quality.ts'
import { rank } from '../../pipeline/dataset/rank.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { renderStatement } from '../../pipeline/rollup/clickhouse-statement.ts'
import { openEngine, readRecords } from '../../pipeline/rollup/intake.ts'
import { withScratch } from '../../pipeline/rollup/workspace.ts'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  readLatest,
  releaseFolder,
  removeWorkspace,
  runBuild,
  runCli,
  settings,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { CLUSTER, isClickHouseHere, LIMITED_USER, type Pair, startPair, USER } from './clickhouse.ts'
import { DATES, MODELS, writeRecordFiles } from './clickhouse-records.ts'
import { skipLoudly } from './hosting.ts'

const RECORDS = 300_000
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

function withoutIds(table: string, name: string): string {
  return viewOf(table, name).replace('request_id,', "'' AS request_id,")
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
    max_withheld_share: 1,
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
  const files = await writeRecordFiles(root.root, RECORDS)
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
  await pair.first.run(`CREATE TABLE few ${TABLE}`)
  await pair.first.run(`INSERT INTO few SELECT * FROM everything WHERE sipHash64(request_id) % 100 = 0`)
  await pair.first.run(viewOf('few', 'few_usage'))
})

afterAll(async () => {
  await pair?.stop()
  for (const workspace of workspaces) await removeWorkspace(workspace)
})

if (!isClickHouseHere) {
  it('is not tested: clickhouse-server is not installed', ({ skip }) => {
    skipLoudly(skip, 'clickhouse-server is not installed, so no rollup ran on ClickHouse')
  })
}

describe.runIf(isClickHouseHere)('a rollup on ClickHouse', () => {
  let files: Workspace
  let shards: Workspace

  it('publishes the bytes that DuckDB publishes of the same records', async () => {
    files = await newFolders()
    const source = { name: 'gateway', schema: 'canonical', files: [parquet] }
    await writeInput(files, 'models.json', MODELS)
    await writeInput(files, 'sources.json', { models: 'models.json', max_withheld_share: 1, sources: [source] })
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
    const same = TABLES.flatMap((table) => [...dataFiles(table).map(({ path }) => path), CHANGES_FILES[table]])
    for (const name of [...same, 'quality.json', 'models.csv', 'chart.svg']) {
      expect((await readFile(join(after, name))).equals(await readFile(join(before, name))), name).toBe(true)
    }
    const big = (await publishedCsv(shards)).split('\n').filter((row) => row.includes('big/one'))
    expect(big.length).toBeGreaterThan(3)
    for (const row of big) expect(BigInt(row.split(',')[2] ?? 0)).toBeGreaterThan(2n ** 53n)
  })

  it('transfers at most a few rows per day and model from a shard', async () => {
    await pair.second.run('SYSTEM FLUSH LOGS')
    const log = await pair.second.run(
      `SELECT max(result_rows), count() FROM system.query_log WHERE type = 2 AND NOT is_initial_query AND query LIKE '%part_conflicting%'`,
    )
    const [rows = 0, queries = 0] = log.split('\t').map(Number)
    expect(queries).toBe(DATES.length)
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(2000)
  })

  it('publishes the same from one server as from two shards', async () => {
    const one = await asking('all_usage', {})
    const { code, stderr } = await build(one)
    expect(code, stderr).toBe(0)
    expect((await readLatest(one)).content_hash).toBe((await readLatest(shards)).content_hash)
  })

  it('queries only provisional days again, and publishes nothing when nothing changed', async () => {
    const { code, stdout, stderr } = await build(shards, { AS_OF: '2025-03-10T13:00:00Z' })
    expect({ code, outcome: JSON.parse(stdout).outcome }).toEqual({ code: 0, outcome: 'unchanged' })
    expect(stderr).toContain('query gateway: 3 of 9 days')
  })

  it('queries a final day again only with --reread', async () => {
    const day = DATES[0] ?? ''
    await pair.first.run(
      `INSERT INTO requests VALUES (toDateTime('${day} 23:59:59', 'UTC'), 'late', 'acme/model-1', 1000000, 1)`,
    )
    const unaware = await build(shards, { AS_OF: '2025-03-10T14:00:00Z' })
    expect(JSON.parse(unaware.stdout).outcome).toBe('unchanged')
    const told = ['--reread', day, '--reason', 'late_data', '--note', 'A gateway was late.']
    const aware = await build(shards, { AS_OF: '2025-03-10T15:00:00Z' }, told)
    expect(aware.stderr).toContain('query gateway: 4 of 9 days')
    expect(JSON.parse(aware.stdout).outcome).toBe('released')
    const changes = await readFile(join(await releaseFolder(shards), 'changes.csv'), 'utf8')
    const [, ...rows] = changes.trim().split('\n')
    expect(rows.map((row) => row.split(',').slice(0, 3))).toEqual([['update', day, 'acme/model-1']])
  })

  it('keeps archived dates without the usage, and lists no deletable files', async () => {
    const archived = await asking('few_usage', {})
    await build(archived)
    const { code, stdout, stderr } = await runCli(['archive', '--before', '2025-03-05', '--json'], {
      ...settings(archived, '2025-03-10T13:00:00Z'),
      ...LOGIN,
    })
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'archived', deletable_files: [], needed_files: [] })
    await rm(join(archived.dataDir, 'state'), { recursive: true })
    const again = await build(archived, { AS_OF: '2025-03-10T14:00:00Z' })
    expect(again.stderr).toContain('query gateway: 5 of 5 days')
    expect(JSON.parse(again.stdout).outcome).toBe('unchanged')
  })

  it('is reproduced by make reproduce', async () => {
    const { code, stdout } = await runCli(['reproduce', '--json'], { ...settings(shards, ''), ...LOGIN })
    expect({ code, equal: JSON.parse(stdout).equal }).toEqual({ code: 0, equal: true })
  })

  it('refuses data that is not sharded by id', async () => {
    await pair.first.run(viewOf('everything', 'everywhere'))
    await pair.second.run(viewOf('requests', 'everywhere'))
    const { code, stderr } = await build(await asking('everywhere'))
    expect(code).toBe(1)
    expect(stderr).toContain('ids are on several shards, where duplicates are not found')
  })

  it('finds ids on several shards in samples of any size', async () => {
    const ids = 'SELECT toString(number) AS request_id FROM (SELECT number FROM system.numbers LIMIT 20000)'
    const moved: [Pair['first'], string][] = [
      [pair.first, ids],
      [pair.second, `SELECT request_id FROM (${ids}) WHERE sipHash64(request_id) % 2 = 1`],
    ]
    for (const [node, those] of moved) {
      await node.run(
        `CREATE VIEW moved AS SELECT toDate('2025-03-02') AS utc_date, request_id, 'a' AS model, 1 AS prompt_tokens, 1 AS completion_tokens FROM (${those})`,
      )
    }
    const values = {
      nodes: 'clickhouse/all_nodes',
      cluster: CLUSTER,
      database: 'default',
      view: 'moved',
      date: '2025-03-02',
    }
    for (const one_of of [1, 2, 4]) {
      const answer = await pair.first.run(renderStatement('clickhouse/sharding', { ...values, one_of }))
      const [ofShards = 0, ids = 0] = answer.split('\t').map(Number)
      expect(ofShards / ids, `one of ${one_of}`).toBeCloseTo(1.5, 1)
    }
  })

  it('refuses a view that has other types on another node', async () => {
    await pair.first.run(viewOf('requests', 'typed'))
    await pair.second.run(viewOf('requests', 'typed').replace('toDate(', 'toDateTime('))
    const { code, stderr } = await build(await asking('typed'))
    expect(code).toBe(2)
    expect(stderr).toContain('column utc_date of view typed is DateTime')
    expect(stderr).toContain('on some nodes')
  })

  it('refuses records without ids that every node has', async () => {
    for (const node of [pair.first, pair.second]) {
      await node.run(`CREATE TABLE of_all AS requests ENGINE = Distributed(${CLUSTER}, default, requests)`)
      await node.run(withoutIds('of_all', 'of_all_usage'))
      await node.run(withoutIds('requests', 'anonymous_usage'))
    }
    const { code, stderr } = await build(await asking('of_all_usage'))
    expect(code).toBe(1)
    expect(stderr).toMatch(/each of the 2 nodes has the same records of 2025-03-02, \d+ without ids/)
    const { stdout } = await build(await asking('anonymous_usage'))
    expect(JSON.parse(stdout).records).toMatchObject({ duplicates: 0 })
  })

  it('rejects impossible dates from every shard', async () => {
    const dates = ['1970-01-01', '2014-12-31', '2025-03-02', '2100-01-01']
    const rows = dates.map((date) => {
      return `SELECT toDate('${date}') AS utc_date, '' AS request_id, 'acme/model-1' AS model, 1 AS prompt_tokens, 1 AS completion_tokens`
    })
    for (const node of [pair.first, pair.second]) {
      await node.run(`CREATE VIEW misdated AS SELECT * FROM (${rows.join(' UNION ALL ')})`)
    }
    const failed = await build(await asking('misdated'))
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('6 of 8 records (75.00 %) were rejected')
    expect(failed.stderr).toContain('default.misdated: 6 invalid_timestamp, dated 1970-01-01 to 2100-01-01')
    const { code, stdout, stderr } = await build(await asking('misdated', undefined, { max_rejected_share: 1 }))
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout).records).toMatchObject({ read: 8, published: 2, rejected: { invalid_timestamp: 6 } })
  })

  it('fails at a limit of the profile of its user instead of dropping rows', async () => {
    const { code, stderr } = await build(await asking('few_usage', {}), { CLICKHOUSE_USER: LIMITED_USER })
    expect(code).toBe(1)
    expect(stderr).toContain('nothing was published')
    expect(stderr).toMatch(/limit|max_rows_to_group_by/i)
  })

  it('keeps a sum beyond 64 bits exact like DuckDB, and refuses to publish it', async () => {
    const [records, each] = [3000, 9_007_199_254_740_991n]
    await pair.first.run(
      `CREATE VIEW huge AS SELECT toDate('2025-03-02') AS utc_date, '' AS request_id, 'big/one' AS model, toUInt64(${each}) AS prompt_tokens, toUInt64(${each}) AS completion_tokens FROM (SELECT number FROM system.numbers LIMIT ${records})`,
    )
    const exact = { tokens: BigInt(records) * 2n * each, requests: BigInt(records) }
    expect(exact.tokens).toBeGreaterThan(2n ** 64n)
    const asked = await asking('huge', {})
    expect(await rollupOf(asked, LOGIN)).toEqual([exact])
    const line = `2025-03-02T00:00:00Z,big/one,${each},${each}\n`
    await writeInput(
      files,
      'huge.csv',
      `timestamp,model_permaslug,prompt_tokens,completion_tokens\n${line.repeat(records)}`,
    )
    await writeInput(files, 'huge.json', {
      sources: [{ name: 'huge', schema: 'canonical', files: ['huge.csv'], visibility: 'public' }],
    })
    expect(await rollupOf({ ...files, sources: join(files.input, 'huge.json') }, {})).toEqual([exact])
    const { code, stderr } = await build(asked)
    expect(code).toBe(1)
    expect(stderr).toContain('not_an_integer_of_64_bits')
  })

  it('reports a wrong view, cluster or password', async () => {
    const wrong = async (view: string, choice: Record<string, unknown>, environment = {}) => {
      const { code, stderr } = await build(await asking(view, choice), environment)
      return { code, stderr }
    }
    expect(await wrong('nothing', {})).toEqual({
      code: 2,
      stderr: expect.stringContaining('there is no view nothing in database default'),
    })
    expect(await wrong('requests', {})).toEqual({
      code: 2,
      stderr: expect.stringContaining('view requests has no column utc_date'),
    })
    expect(await wrong('usage', { cluster: 'other' })).toEqual({
      code: 2,
      stderr: expect.stringContaining('to a cluster of its configuration'),
    })
    expect(await wrong('usage', {}, { CLICKHOUSE_PASSWORD: 'wrong' })).toEqual({
      code: 2,
      stderr: expect.stringContaining('set CLICKHOUSE_USER'),
    })
  })

  it('reads the password from a file', async () => {
    const workspace = await asking('all_usage', { from: '2025-03-09' })
    await writeInput(workspace, 'password', `${USER.password}\n`)
    const environment = { CLICKHOUSE_USER: USER.name, CLICKHOUSE_PASSWORD_FILE: join(workspace.input, 'password') }
    const { stderr } = await runBuild(workspace, { AS_OF, ...environment })
    expect(stderr).toContain('there is no public usage')
  })

  it('cancels its query on the server when it is stopped', async () => {
    await pair.first.run(
      `CREATE VIEW endless AS SELECT toDate('2025-03-02') AS utc_date, toString(number) AS request_id, 'a' AS model, number AS prompt_tokens, number AS completion_tokens FROM system.numbers`,
    )
    const running = () =>
      pair.first.run(
        `SELECT count() FROM system.processes WHERE user = '${USER.name}' AND query LIKE '%part_%endless%'`,
      )
    const controller = new AbortController()
    const stopped = rollupOf(await asking('endless', {}), LOGIN, controller.signal)
    while ((await running()) === '0') await sleep(20)
    controller.abort()
    await expect(stopped).rejects.toThrow(/abort/i)
    while ((await running()) !== '0') await sleep(20)
  })

  it('measures the customers of raw files with the same records', async () => {
    const lines: string[] = []
    for (const [shard, node] of [pair.first, pair.second].entries()) {
      await node.run(`CREATE VIEW customers AS ${customersOf(shard)}`)
      lines.push(await node.run("SELECT time, id, model, tokens, 0, ifNull(customer, '') FROM customers FORMAT CSV"))
      await node.run(
        `CREATE VIEW of_customers AS SELECT toDate(toDateTime(time), 'UTC') AS utc_date, id AS request_id, model,
          tokens AS prompt_tokens, toUInt8(0) AS completion_tokens, customer AS contributor FROM customers`,
      )
    }
    const raw = await newFolders()
    await writeInput(
      raw,
      'usage.csv',
      ['time,id,model,prompt_tokens,completion_tokens,customer', ...lines, ''].join('\n'),
    )
    const time = { path: 'time', unit: 's' }
    const columns = { timestamp: time, request_id: 'id', model_permaslug: 'model', contributor: 'customer' }
    const source = { name: 'gateway', schema: 'canonical', files: ['usage.csv'], columns }
    await writeInput(raw, 'models.json', MODELS)
    await writeInput(raw, 'sources.json', { models: 'models.json', sources: [source] })
    const cells = await cellsOf(await asking('of_customers'), LOGIN)
    expect(cells.length).toBeGreaterThan(50)
    expect(new Set(cells.map(({ contributors }) => contributors)).size).toBeGreaterThan(3)
    expect(cells).toEqual(await cellsOf(raw, {}))
  })

  it('knows no customer of a record that two customers have', async () => {
    const record = (customer: string) =>
      `SELECT toDate('2025-03-02') AS utc_date, 'a' AS request_id, 'one' AS model, 1 AS prompt_tokens, 1 AS completion_tokens, '${customer}' AS contributor`
    await pair.first.run(`CREATE VIEW shared AS SELECT * FROM (${['anna', 'bert'].map(record).join(' UNION ALL ')})`)
    const [nodes, records, contributor] = ['one_node', 'records', 'contributor'].map((name) => `clickhouse/${name}`)
    const values = { nodes: `${nodes}`, records: `${records}`, contributor: `${contributor}` }
    const statement = renderStatement('clickhouse/day', {
      ...values,
      database: 'default',
      view: 'shared',
      date: DATES[0] ?? '',
    })
    const [kept] = (await pair.first.run(statement)).split('\n')
    expect(kept?.split('\t')).toEqual(['kept', "['one']", '', '1', '1', '0', '2'])
  })

  // The last one, for it leaves one server alone.
  it('fails when a shard is missing, and leaves the release unchanged', async () => {
    const before = await readLatest(shards)
    await pair.second.kill()
    const { code, stderr } = await build(shards, { AS_OF: '2025-03-11T12:00:00Z' })
    expect(code).toBe(1)
    expect(stderr).toContain('a shard does not respond, and its records would be missing; nothing was published')
    expect(await readLatest(shards)).toEqual(before)
  })
})

/** Requests of customers on one shard. One in ten is delivered again, half of these with more tokens, and then as another's. */
function customersOf(shard: number): string {
  return `
    SELECT
      toUInt32(1740873600 + (original * 104729) % (4 * 86400)) AS time,
      if(original % 11 = 0, '', concat('request-', toString(original))) AS id,
      multiIf(grown, 'acme/model-1', original % 7 = 0, 'alias-a', original % 7 = 1, 'alias-z',
        concat('acme/model-', toString(original % 13))) AS model,
      toUInt64(original % 1009 + grown) AS tokens,
      multiIf(grown, 'another', original % 29 = 0, NULL, original % 31 = 0, '', original % 37 = 0, ' Customer-3',
        concat('customer-', toString(toUInt8(sqrt(original % 400))))) AS customer
    FROM (
      SELECT if(number < 4500, number, number * 7919 % 4500) AS original, number >= 4500 AND number % 2 = 1 AS grown
      FROM (SELECT number FROM system.numbers LIMIT 5000)
    )
    WHERE original % 2 = ${shard}`
}

/** What a rule that no cell meets says of each. */
function cellsOf(workspace: Workspace, login: Record<string, string>): Promise<UnsafeCell[]> {
  return afterRollup(workspace, { login }, async (database) => {
    await measureRule(database, { min_contributors: 1_000_000, p_percent: 10 }, '2025-03-09')
    return worstCells(database, 1_000_000)
  })
}

async function rollupOf(workspace: Workspace, login: Record<string, string>, signal?: AbortSignal) {
  return afterRollup(workspace, { login, signal }, async (database) => {
    const { rows, published_records } = await rank(database, '2025-03-09')
    return rows.map(({ total_tokens }) => ({ tokens: BigInt(total_tokens), requests: published_records }))
  })
}

/** Fills the rollup itself, as an engine does before anything is ranked. */
async function afterRollup<Result>(
  workspace: Workspace,
  { login, signal = new AbortController().signal }: { login: Record<string, string>; signal?: AbortSignal | undefined },
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const config = readPipelineConfig({ ...settings(workspace, AS_OF), ...login })
  const effects = { now: () => new Date(AS_OF), report: () => {}, signal, files: realFiles }
  return withScratch(config, effects, async (scratch) => {
    const sources = await readSources(workspace.sources)
    const { engine } = await openEngine(scratch, { config, sources, asOf: new Date(AS_OF), synthetic: false }, effects)
    await readRecords(engine, sources, { account: new Account() }, effects)
    return work(scratch.database)
  })
}
