import { mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { lock } from '../../pipeline/base/lock.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { copyOf, Gateway } from '../support/gateway.ts'
import {
  AS_OF,
  buildIn,
  createWorkspace,
  csvOf,
  datasetFolder,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  removeWorkspace,
  runBuild,
  runProcess,
  settings,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { writePublisher } from '../support/publisher.ts'
import { writeRecords } from '../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const ROW = '2025-03-01T10:00:00Z,a/b,10,5'
const JSON_ROW = '{"timestamp":"2025-03-01T10:00:00Z","model_permaslug":"a/b","prompt_tokens":10,"completion_tokens":5}'

/** A workspace whose one public source is `files`, by name and content. */
async function workspaceOf(files: Record<string, string | Uint8Array>, settings = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeSource(workspace, files, settings)
  return workspace
}

async function writeSource(
  workspace: Workspace,
  files: Record<string, string | Uint8Array>,
  settings = {},
): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  const source = { name: 's', schema: 'canonical', files: Object.keys(files), visibility: 'public', ...settings }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
}

/** Builds once, before the tests of a group, what each of them gets a copy of. */
function copiesOf(make: (workspace: Workspace) => Promise<void>): () => Promise<Workspace> {
  let original: Workspace
  beforeAll(async () => {
    original = await createWorkspace()
    await make(original)
    return () => removeWorkspace(original)
  })
  return async () => (await copyOf(new Gateway(original))).workspace
}

/** A workspace of two raw files that were read and are to be kept, one of which is gone since. */
async function workspaceWithLoss(): Promise<Workspace> {
  const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n`, 'raw/b.csv': `${HEADER}\n${ROW}0\n` })
  const source = { name: 's', schema: 'canonical', files: ['raw/*'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { on_missing: 'keep', sources: [source] })
  await buildIn(workspace)
  await rm(join(workspace.input, 'raw/b.csv'))
  return workspace
}

async function rows(workspace: Workspace): Promise<string[]> {
  await buildIn(workspace)
  return (await publishedCsv(workspace)).split('\n').slice(1, -1)
}

describe('published releases are never removed', () => {
  const withThreeReleases = copiesOf(async (workspace) => {
    for (const [day, tokens] of [
      ['05', 1],
      ['06', 2],
      ['07', 3],
    ] as const) {
      await writeSource(workspace, { 'a.csv': `${HEADER}\n2025-03-01,a/b,${tokens},0\n` })
      await buildIn(workspace, `2025-03-${day}T12:00:00Z`)
    }
  })

  it('by a build that finds no index', async () => {
    const workspace = await withThreeReleases()
    const releases = join(datasetFolder(workspace), 'releases')
    await rm(join(releases, 'index.json'))
    await expect(buildIn(workspace)).rejects.toThrow(/index\.json does not list 20250305T120000Z.*restore the index/)
    expect(await readdir(releases)).toHaveLength(3)
  })

  it('by a build that finds an index with an entry too few', async () => {
    const workspace = await withThreeReleases()
    const releases = join(datasetFolder(workspace), 'releases')
    const path = join(releases, 'index.json')
    const index = await import(path, { with: { type: 'json' } })
    await writeFile(path, JSON.stringify({ ...index.default, releases: index.default.releases.slice(0, 2) }))
    await expect(buildIn(workspace)).rejects.toThrow(/does not list 20250307T120000Z/)
    expect(await readdir(releases)).toHaveLength(4)
  })
})

describe('the public folder has one writer', () => {
  it('another data folder makes no difference', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const other = await lock(join(workspace.publicDir, '.lock'))
    // In another process: this one may open a file again that it has locked.
    const { code, stderr } = await runProcess(['build'], settings(workspace, AS_OF))
    expect(stderr).toMatch(/another build is running/)
    expect(code).toBe(1)
    await other.release()
    expect((await buildIn(workspace)).outcome).toBe('released')
    expect(await readdir(workspace.publicDir)).not.toContain('.lock')
  })
})

describe('what stands beside a release is restored by the next build', () => {
  const released = copiesOf(async (workspace) => {
    await writeSource(workspace, { 'a.csv': `${HEADER}\n${ROW}\n` })
    await buildIn(workspace)
  })

  it.each(['index.html', 'datasets/rankings-daily/v1/latest', 'datasets/rankings-daily/v1/latest.json'])(
    '%s',
    async (path) => {
      const workspace = await released()
      await rm(join(workspace.publicDir, path))
      expect((await buildIn(workspace)).outcome).toBe('unchanged')
      await releaseFolder(workspace)
      expect(await readdir(join(workspace.publicDir, path, '..'))).toContain(path.split('/').at(-1))
    },
  )

  it('also where a copy made a folder of the latest link', async () => {
    const workspace = await released()
    const latest = join(datasetFolder(workspace), 'latest')
    await rm(latest)
    await mkdir(latest)
    expect((await buildIn(workspace)).outcome).toBe('unchanged')
    expect(await readdir(latest)).toContain('manifest.json')
  })
})

describe('input that looks whole and is not', () => {
  it.each([
    [
      'a quote that is never closed',
      'a.csv',
      `${HEADER}\n${ROW}\n2025-03-01,"a/b,1,1\n${ROW}\n${ROW}\n`,
      /a\.csv cannot be read whole: the quote that record \d+ opens/,
    ],
    [
      'a quote that is never closed, far from the end',
      'a.csv.gz',
      gzipSync(`${HEADER}\n${ROW}\n2025-03-01,a/b,1,"1\n${`${ROW}\n`.repeat(200_000)}`),
      /a\.csv\.gz cannot be read whole: the quote that record 2 opens is never closed/,
    ],
    [
      'a CSV record of 65 MiB',
      'a.csv',
      `${HEADER}\n${ROW}\n2025-03-01,a/b,1,${'1'.repeat(65 * 1024 * 1024)}\n${ROW}\n`,
      /a\.csv cannot be read whole: record 2 is longer than 64 MiB/,
    ],
    [
      'a line of 40 MB',
      'a.ndjson',
      `${JSON_ROW}\n{"note":"${'x'.repeat(40_000_000)}"}\n`,
      /a\.ndjson cannot be read whole: a line is longer/,
    ],
    [
      'zeros behind a gzip file',
      'a.csv.gz',
      Buffer.concat([gzipSync(`${HEADER}\n${ROW}\n`), Buffer.alloc(512)]),
      /^a\.csv\.gz cannot be read whole: there is data after/,
    ],
    [
      'a zero behind two gzip members',
      'a.ndjson.gz',
      Buffer.concat([gzipSync(`${JSON_ROW}\n`), gzipSync(`${JSON_ROW}\n`), Buffer.alloc(1)]),
      /^a\.ndjson\.gz cannot be read whole: there is data after/,
    ],
    ['no Parquet', 'a.parquet', 'PAR1PAR1', /^a\.parquet cannot be read whole: /],
  ])('%s fails the build, in plain words', async (_, name, content, message) => {
    const failed = expect(buildIn(await workspaceOf({ [name]: content }))).rejects
    await failed.toThrow(message)
    await failed.not.toThrow(/LINE \d|strict_mode|parameter/)
  })
})

it('a Parquet file with a damaged footer is told by its name, among others that are whole', async () => {
  const workspace = await workspaceOf({}, { files: ['raw/*.parquet'] })
  for (const name of ['a', 'b', 'c']) {
    const record = {
      timestamp: '2025-03-01T12:00:00Z',
      model_permaslug: 'a/b',
      prompt_tokens: '1',
      completion_tokens: '1',
    }
    await writeRecords(join(workspace.input, 'raw', `${name}.parquet`), [record], { columns: Object.keys(record) })
  }
  const path = join(workspace.input, 'raw/b.parquet')
  const bytes = await readFile(path)
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  await writeFile(path, bytes.fill(0xff, footer + 3, footer + 40))
  await expect(buildIn(workspace)).rejects.toThrow(/^raw\/b\.parquet cannot be read whole: /)
})

describe('values at the edge', () => {
  it('a relative timestamp beyond all time, or with digits in groups, is rejected and no error', async () => {
    const base = { base_time: '2025-03-01T00:00:00Z' }
    const lines = [
      '0,a/b,10,5',
      '1e18,a/b,1,1',
      '99999999999999999999999999999,a/b,1,1',
      '100000000000000000.5,a/b,1,1',
      '1_000,a/b,1,1',
    ]
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${lines.join('\n')}\n` }, base)
    expect(await rows(workspace)).toEqual(['2025-03-01,a/b,15'])
  })

  it('a slug that begins with a byte order mark is rejected and not taken for the one without', async () => {
    const marked = JSON_ROW.replace('a/b', '\\ufeffa/b')
    const workspace = await workspaceOf({ 'a.ndjson': `${JSON_ROW}\n${marked}\n` })
    const { records } = await buildIn(workspace)
    expect(records).toMatchObject({ read: 2, published: 1, rejected: { invalid_model: 1 } })
    expect(await publishedCsv(workspace)).toContain('a/b,15\n')
  })

  it('a record without a timestamp has no date in quality.json', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\nnever,a/b,1,1\n` })
    await buildIn(workspace)
    const quality = await import(join(await releaseFolder(workspace), 'quality.json'), { with: { type: 'json' } })
    expect(quality.default.days).toEqual([{ date: null, reason: 'invalid_timestamp', records: 1 }])
  })

  it('timestamps of some odd forms are read, and of others rejected', async () => {
    const read = [
      '2025-03-01T10:00Z',
      '2025-03-01T10:00:00 Z',
      '2025-03-01 11:00:00 +01:00',
      '2025-03-01T10:00:00,999Z',
      '2025-03-01t10:00:00z',
      '2025-03-01T15:30+0530',
    ]
    const rejected = [
      '2025-03-01T10:00:00+99:00',
      '2025-03-01T10:00:00.Z',
      '2025-03-01T1:02:03Z',
      '2025-03-01 10:00:00 Europe/Paris',
    ]
    const lines = [...read, ...rejected].map((timestamp) => `"${timestamp}","${timestamp}",10,5\n`)
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${lines.join('')}` })
    const { records } = await buildIn(workspace)
    const rows = read.toSorted().map((timestamp) => ['2025-03-01', timestamp, 15] as [string, string, number])
    expect(await publishedCsv(workspace)).toBe(csvOf(rows))
    expect(records.rejected).toEqual({ invalid_timestamp: rejected.length })
  })
})

describe('settings at the edge', () => {
  it('a time zone that only Node knows is wrong usage', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` }, { timezone: '+05:30' })
    await expect(buildIn(workspace)).rejects.toThrow(/timezone.*IANA/)
  })

  it('a time_unit without a base_time is wrong usage, and says how Unix time is written', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` }, { time_unit: 'milliseconds' })
    const failed = expect(buildIn(workspace)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/sources\[0\]\.time_unit: .*"base_time": "1970-01-01T00:00:00Z"/)
  })

  it('a column that is missing is not guessed to be one that the file is known to have', async () => {
    const workspace = await workspaceOf({ 'a.csv': 'timestamp,model_permaslug,prompt_tokens\n2025-03-01,a/b,1\n' })
    await expect(buildIn(workspace)).rejects.toThrow(
      /has no column "completion_tokens", which schema canonical needs\. /,
    )
  })

  it('a folder in the place of a file is wrong usage', async () => {
    const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n` }, { files: ['raw'] })
    const failed = expect(buildIn(workspace)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/"raw" is a folder.*"raw\/\*\*\/\*\.csv"/)
  })

  it.skipIf(process.platform !== 'linux')('a file whose name is no text is named, and not passed over', async () => {
    const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n` }, { files: ['raw/*.csv'] })
    const name = Buffer.concat([Buffer.from(join(workspace.input, 'raw/b')), Buffer.from([0xff]), Buffer.from('.csv')])
    await writeFile(name, `${HEADER}\n${ROW}\n`)
    await expect(buildIn(workspace)).rejects.toThrow(/raw\/b\ufffd\.csv: .*UTF-8; rename it/)
  })

  it('too little memory fails the build and says which setting to change', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const { code, stderr } = await runBuild(workspace, { MEMORY_LIMIT: '10MB' })
    expect(stderr).toMatch(/^tokenboard: out of memory; raise MEMORY_LIMIT .*\n$/)
    expect(code).toBe(1)
  })

  it.each(['dataDir', 'publicDir'] as const)('a question mark in the path of %s is wrong usage', async (folder) => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const failed = expect(buildIn({ ...workspace, [folder]: join(workspace.root, 'what?') })).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/what\?.*question mark/)
  })

  it.skipIf(process.platform !== 'linux')('a folder that cannot be made fails the build', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    await expect(buildIn({ ...workspace, publicDir: '/proc/tokenboard/public' })).rejects.toThrow(/mkdir '\/proc\//)
  })

  it('a state that is damaged inside fails the build and says what to do', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    await buildIn(workspace)
    const state = join(workspace.dataDir, 'state/build.duckdb')
    await truncate(state, (await stat(state)).size / 2)
    await expect(buildIn(workspace)).rejects.toThrow(
      /build\.duckdb is damaged; .* restore \S*\/state .* delete it: .* reads all files again .* missing ones/,
    )
    await rm(dirname(state), { recursive: true })
    expect((await buildIn(workspace)).outcome).toBe('unchanged')
  })

  it('a state that cannot be opened is not thrown away with the records that it alone has', async () => {
    const workspace = await workspaceWithLoss()
    const state = join(workspace.dataDir, 'state/build.duckdb')
    const whole = await readFile(state)
    await writeFile(state, Buffer.concat([Buffer.alloc(4096), whole.subarray(4096)]))
    await expect(buildIn(workspace)).rejects.toThrow(/is not a readable database; .* restore \S*\/state .* delete it: /)
    await writeFile(state, whole)
    await buildIn(workspace)
    expect(await rows(workspace)).toEqual(['2025-03-01,a/b,75'])
  })

  it.each([0, 4096, 8192])('a state of which a stopped build made only %d bytes is made anew', async (bytes) => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    await mkdir(join(workspace.dataDir, 'state'))
    await writeFile(join(workspace.dataDir, 'state/build.duckdb'), Buffer.alloc(bytes))
    await buildIn(workspace)
    expect(await rows(workspace)).toEqual(['2025-03-01,a/b,15'])
  })

  it('a state is never made anew while DuckDB has not yet written into it what it holds', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const state = join(workspace.dataDir, 'state/build.duckdb')
    await mkdir(dirname(state))
    await writeFile(state, Buffer.alloc(4096))
    await writeFile(`${state}.wal`, 'what a stopped build noted')
    await expect(buildIn(workspace)).rejects.toThrow(/build\.duckdb\.wal, move it away first/)
    const asDry = buildIn(workspace, undefined, {}, { dryRun: true })
    await expect(asDry).rejects.toThrow(`${state}.wal, move it away first`)
    await rm(`${state}.wal`)
    await buildIn(workspace)
    expect(await rows(workspace)).toEqual(['2025-03-01,a/b,15'])
  })

  it('releases and kept files may be links to another disk', async () => {
    const workspace = await workspaceWithLoss()
    await buildIn(workspace)
    const keptFolder = join(workspace.dataDir, 'archive/files')
    const [kept = ''] = await readdir(keptFolder)
    await mkdir(join(keptFolder, '.snapshot'))
    for (const folder of [join(datasetFolder(workspace), 'releases'), join(keptFolder, kept)]) {
      const elsewhere = join(workspace.root, `elsewhere-${basename(folder)}`)
      await rename(folder, elsewhere)
      await symlink(elsewhere, folder)
    }
    await writeInput(workspace, 'raw/c.csv', `${HEADER}\n${ROW}1\n`)
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    const { signal } = new AbortController()
    expect(await verify(workspace.publicDir, { signal, report: () => {} })).toMatchObject({
      latest: '20250310T130000Z',
    })
    expect(await readdir(keptFolder)).toEqual(['.snapshot', kept])
  })

  it('folders named key=value are no partitions', async () => {
    const workspace = await workspaceOf({}, { files: ['raw/*.parquet'] })
    await parquet(join(workspace.input, 'a.parquet'))
    const source = { name: 's', schema: 'canonical', files: ['a.parquet'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    const moved = {
      ...workspace,
      publicDir: join(workspace.root, 'env=prod'),
      dataDir: join(workspace.root, 'prompt_tokens=999'),
    }
    await writePublisher(moved.dataDir)
    expect(readPipelineConfig({ DATA_DIR: moved.dataDir }).dataDir).toBe(moved.dataDir)
    expect(await rows(moved)).toEqual(['2025-03-01,a/b,15'])
  })
})

async function parquet(path: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run(
    `COPY (SELECT '2025-03-01' AS timestamp, 'a/b' AS model_permaslug, 10 AS prompt_tokens, 5 AS completion_tokens)
     TO '${path}' (FORMAT parquet)`,
  )
}

describe('zstd files of several frames', () => {
  const csv = (rows: number) => Array.from({ length: rows }, () => `${ROW}\n`).join('')
  const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])

  it('a skippable frame before the data is read over, or the build fails and names the file', async () => {
    const bytes = Buffer.concat([skippable, zstdCompressSync(`${HEADER}\n${csv(2)}`)])
    const workspace = await workspaceOf({ 'a.csv.zst': bytes, 'b.csv': `${HEADER}\n${ROW}\n` })
    const built = await rows(workspace).catch((error: Error) => error.message)
    expect([['2025-03-01,a/b,45'], expect.stringContaining('a.csv.zst')]).toContainEqual(built)
  })
})
