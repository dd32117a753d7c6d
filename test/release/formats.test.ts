/** What a release holds (issue 2, DESIGN.md §5 "Published files"). */
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../pipeline/build.ts'
import { LatestPointer, Manifest, type ReleaseEntry, ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { RankingResponse, RankingRow } from '../../pipeline/contract/ranking.ts'
import { type OracleRow, toCsv } from '../support/oracle.ts'
import {
  buildIn,
  createWorkspace,
  crowd,
  datasetFolder,
  newWorkspace,
  readLatest,
  removeWorkspace,
  sha256,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

const RELEASE_FILES = [
  'CITATION.cff',
  'README.md',
  'SHA256SUMS',
  'changes.csv',
  'chart.svg',
  'citation.bib',
  'croissant.json',
  'datapackage.json',
  'dcat.jsonld',
  'index.html',
  'manifest.json',
  'models.csv',
  'provenance.json',
  'quality.json',
  'rankings-daily.csv',
  'rankings-daily.csv.gz',
  'rankings-daily.json.gz',
  'rankings-daily.ndjson.gz',
  'rankings-daily.parquet',
]

const ODD = ['with,comma', 'with"quote', 'null', '007', 'caf\u00e9', 'emoji/\u{1f600}', 'fullwidth/\uff5e']
const TWO_DAYS = [
  ...crowd(60, (index) => 9_007_199_254_740_991n - BigInt(index % 7), '2025-03-02'),
  ...crowd(60, () => 9_007_199_254_740_991n, '2025-03-02'),
  ...ODD.map((slug, index) => ({
    timestamp: '2025-03-03T12:00:00Z',
    model_permaslug: slug,
    prompt_tokens: String(index + 1),
  })),
]

describe('a release', () => {
  let workspace: Workspace
  let summary: BuildSummary
  let folder = ''
  let csv = ''
  let rows: OracleRow[] = []

  beforeAll(async () => {
    workspace = await createWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: TWO_DAYS }] })
    summary = await buildIn(workspace, '2025-03-10T12:34:56Z')
    folder = join(datasetFolder(workspace), 'releases/20250310T123456Z')
    csv = await readFile(join(folder, 'rankings-daily.csv'), 'utf8')
    const parquet = sqlText(join(folder, 'rankings-daily.parquet'))
    // In the order of the file, which is a part of what is published.
    const read = await query(
      `SELECT date::VARCHAR AS date, model_permaslug, total_tokens::VARCHAR AS total_tokens FROM read_parquet(${parquet})`,
    )
    rows = read.map((row) => RankingRow.parse(row))
    return () => removeWorkspace(workspace)
  })

  it('lies in a folder named by its as_of and is what the summary tells of', async () => {
    expect(summary).toMatchObject({
      outcome: 'released',
      release: '20250310T123456Z',
      as_of: '2025-03-10T12:34:56Z',
      rows: 58,
    })
    expect(await readdir(join(datasetFolder(workspace), 'releases'))).toEqual(
      expect.arrayContaining(['20250310T123456Z', 'index.json']),
    )
  })

  it('holds these files and no others', async () => {
    expect((await readdir(folder)).toSorted()).toEqual(RELEASE_FILES)
  })

  it('has gzip files whose header says nothing of the machine: no name, no time, no operating system', async () => {
    const names = (await readdir(workspace.publicDir, { recursive: true })).filter((name) => name.endsWith('.gz'))
    expect(names.length).toBeGreaterThanOrEqual(3)
    // RFC 1952 § 2.3: magic number, deflate, no flags, four bytes of time, slowest compression, unknown system.
    const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
    for (const name of names) {
      const bytes = await readFile(join(workspace.publicDir, name))
      expect(bytes.subarray(0, header.length), name).toEqual(header)
    }
  })

  it('has canonical CSV: header, minimal quoting, LF, no byte order mark', () => {
    const [header, first] = csv.split('\n')
    expect(header).toBe('date,model_permaslug,total_tokens')
    expect(first).toBe('2025-03-02,crowd/model-001,18014398509481982')
    expect(csv.slice(csv.indexOf('2025-03-03'))).toBe(
      [
        '2025-03-03,fullwidth/\uff5e,7',
        '2025-03-03,emoji/\u{1f600},6',
        '2025-03-03,caf\u00e9,5',
        '2025-03-03,007,4',
        '2025-03-03,null,3',
        '2025-03-03,"with""quote",2',
        '2025-03-03,"with,comma",1',
        '',
      ].join('\n'),
    )
  })

  it('has a content_hash that is the SHA-256 of the canonical CSV, everywhere the same', async () => {
    const hash = `sha256:${sha256(csv)}`
    const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    expect([summary.content_hash, manifest.content_hash, (await readLatest(workspace)).content_hash]).toEqual([
      hash,
      hash,
      hash,
    ])
  })

  it('holds the same rows in CSV and in Parquet', () => {
    expect(toCsv(rows)).toBe(csv)
  })

  it('holds the same bytes in CSV and in compressed CSV', async () => {
    expect(gunzipSync(await readFile(join(folder, 'rankings-daily.csv.gz'))).toString()).toBe(csv)
  })

  it('holds the same rows in JSON, in the body of the endpoint', async () => {
    const body = JSON.parse(gunzipSync(await readFile(join(folder, 'rankings-daily.json.gz'))).toString())
    expect(Object.keys(body)).toEqual(['data', 'meta'])
    expect(RankingResponse.parse(body).data).toEqual(rows)
    expect(Object.keys(body.data[0])).toEqual(['date', 'model_permaslug', 'total_tokens'])
    expect(body.meta).toMatchObject({ as_of: '2025-03-10T12:34:56Z', version: 'v1' })
  })

  it('holds the same rows in NDJSON', async () => {
    const text = gunzipSync(await readFile(join(folder, 'rankings-daily.ndjson.gz'))).toString()
    expect(text.endsWith('\n')).toBe(true)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual(rows)
  })

  it('has Parquet columns date, model_permaslug, total_tokens of types DATE, VARCHAR, BIGINT', async () => {
    const file = sqlText(join(folder, 'rankings-daily.parquet'))
    const columns = await query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(${file}))`)
    expect(columns).toEqual([
      { column_name: 'date', column_type: 'DATE' },
      { column_name: 'model_permaslug', column_type: 'VARCHAR' },
      { column_name: 'total_tokens', column_type: 'BIGINT' },
    ])
    const schema = await query(`SELECT name, type FROM parquet_schema(${file}) WHERE type IS NOT NULL`)
    expect(schema).toEqual([
      { name: 'date', type: 'INT32' },
      { name: 'model_permaslug', type: 'BYTE_ARRAY' },
      { name: 'total_tokens', type: 'INT64' },
    ])
  })

  it('has SHA256SUMS that `sha256sum -c` would accept, of every other file', async () => {
    const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
    const sums = new Map<string, string>()
    for (const line of lines) {
      const [, sum, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? []
      sums.set(name ?? line, sum ?? 'no sum')
    }
    expect([...sums.keys()].toSorted()).toEqual(RELEASE_FILES.filter((name) => name !== 'SHA256SUMS'))
    for (const [name, sum] of sums) expect(sha256(await readFile(join(folder, name))), name).toBe(sum)
  })

  it('has a manifest that says what the files are', async () => {
    const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    expect(manifest).toMatchObject({
      release: '20250310T123456Z',
      as_of: '2025-03-10T12:34:56Z',
      rows: 58,
      synthetic: false,
    })
    expect(manifest.license.name).toBe('CC-BY-4.0')
    expect(manifest.attribution).toContain('2025-03-10T12:34:56Z')
    const data = RELEASE_FILES.filter((name) => name.startsWith('rankings-daily'))
    expect(manifest.files.map((file) => file.path)).toEqual(expect.arrayContaining(data))
    for (const file of manifest.files) {
      const bytes = await readFile(join(folder, file.path))
      expect([file.path, file.bytes, file.sha256]).toEqual([file.path, bytes.length, sha256(bytes)])
      if (data.includes(file.path)) expect(file.rows).toBe(58)
    }
  })

  it('is what latest.json and the link `latest` point to', async () => {
    const latest = await readLatest(workspace)
    expect(latest).toMatchObject({
      release: '20250310T123456Z',
      as_of: '2025-03-10T12:34:56Z',
      path: 'releases/20250310T123456Z/',
      rows: 58,
    })
    const link = await readlink(join(datasetFolder(workspace), 'latest'))
    expect(link.replace(/\/$/, '')).toBe('releases/20250310T123456Z')
    const [linked, real] = [
      await stat(join(datasetFolder(workspace), 'latest', 'manifest.json')),
      await stat(join(folder, 'manifest.json')),
    ]
    expect(linked.ino).toBe(real.ino)
  })

  it('is the first entry of the index of releases', async () => {
    const index = ReleaseIndex.parse(
      JSON.parse(await readFile(join(datasetFolder(workspace), 'releases/index.json'), 'utf8')),
    )
    const [entry] = index.releases
    expect(index.releases).toHaveLength(1)
    expect(entry).toMatchObject({ ...(await readLatest(workspace)), previous: null })
    expect(entry?.manifest_sha256).toBe(sha256(await readFile(join(folder, 'manifest.json'))))
  })
})

describe('the index of releases', () => {
  it('is append-only, and each entry carries the hash of the one before it', async () => {
    const workspace = await newWorkspace()
    const indexes: ReleaseIndex[] = []
    for (const tokens of [1, 2, 3]) {
      await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => tokens) }] })
      await buildIn(workspace, `2025-03-1${tokens}T00:00:00Z`)
      indexes.push(
        ReleaseIndex.parse(JSON.parse(await readFile(join(datasetFolder(workspace), 'releases/index.json'), 'utf8'))),
      )
    }
    const [first, second, third] = indexes.map((index) => index.releases)
    expect(third).toHaveLength(3)
    // What an entry says of itself never changes; its status does.
    const lasting = (entries: ReleaseEntry[] = []) =>
      entries.map(({ status: _status, superseded_by: _successor, ...facts }) => facts)
    expect(lasting(third).slice(0, 2)).toEqual(lasting(second))
    expect(lasting(second).slice(0, 1)).toEqual(lasting(first))
    expect(third?.map((entry) => entry.release)).toEqual(['20250311T000000Z', '20250312T000000Z', '20250313T000000Z'])
    expect(third?.map((entry) => entry.previous)).toEqual([null, third?.[0]?.hash, third?.[1]?.hash])
    expect(new Set(third?.map((entry) => entry.hash)).size).toBe(3)
    expect(LatestPointer.parse(third?.[2])).toEqual(await readLatest(workspace))
  })
})
