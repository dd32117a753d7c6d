import { mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { filesAfter } from '../support/crash.ts'
import {
  buildIn,
  csvOf,
  datasetFolder,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  runBuild,
  runProcess,
  settings,
  type Workspace,
  workspaceOf as workspaceWith,
  writeInput,
  writeSource,
} from '../support/pipeline.ts'
import { writePublisher } from '../support/publisher.ts'
import { query, sqlText, writeRecords } from '../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const ROW = '2025-03-01T10:00:00Z,a/b,10,5'
const JSON_ROW = '{"timestamp":"2025-03-01T10:00:00Z","model_permaslug":"a/b","prompt_tokens":10,"completion_tokens":5}'

const workspaceOf = (files: Record<string, string | Uint8Array>, settings = {}) =>
  workspaceWith(files, settings, { max_rejected_share: 1 })

/** A workspace of two raw files that were read and are to be kept, one of which is gone since. */
async function workspaceWithLoss(): Promise<Workspace> {
  const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n`, 'raw/b.csv': `${HEADER}\n${ROW}0\n` })
  await writeSource(workspace, ['raw/*'], {}, { on_missing: 'keep' })
  await buildIn(workspace)
  await rm(join(workspace.input, 'raw/b.csv'))
  return workspace
}

async function rows(workspace: Workspace): Promise<string[]> {
  await buildIn(workspace)
  return (await publishedCsv(workspace)).split('\n').slice(1, -1)
}

describe('published releases', () => {
  it('are listed again by a build that finds an incomplete index or none', async () => {
    const workspace = await newWorkspace()
    await writeSource(workspace, ['a.csv'])
    for (const [day, tokens] of [
      ['05', 1],
      ['06', 2],
      ['07', 3],
    ] as const) {
      await writeInput(workspace, 'a.csv', `${HEADER}\n2025-03-01,a/b,${tokens},0\n`)
      await buildIn(workspace, `2025-03-${day}T12:00:00Z`)
    }
    const releases = join(datasetFolder(workspace), 'releases')
    const path = join(releases, 'index.json')
    const index = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...index, releases: index.releases.slice(0, 2) }))
    for (const harm of [async () => {}, () => rm(path)]) {
      await harm()
      expect(await buildIn(workspace)).toMatchObject({ outcome: 'unchanged' })
      expect(await readdir(releases)).toHaveLength(4)
      expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(index)
    }
  })
})

describe('two builds at once', () => {
  it('do not share a data folder: the second build or archive exits with 1, and the first goes on', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const [reached, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // Its first step on the file system after it has made its folders; by then it has the lock.
    let steps = 0
    const files = filesAfter(async () => {
      steps += 1
      if (steps < 5) return
      reached.resolve()
      await mayGoOn.promise
    })
    const first = buildIn(workspace, undefined, { files })
    await reached.promise
    try {
      for (const words of [['build'], ['archive', '--before', '2025-03-03']]) {
        const { code, stderr } = await runProcess(words, settings(workspace, '2025-03-10T13:00:00Z'))
        expect([code, stderr]).toEqual([1, expect.stringMatching(/another command \(process \d+\) is running/)])
        expect(stderr).not.toMatch(/^\s+at /m)
      }
    } finally {
      mayGoOn.resolve()
    }
    expect((await first).outcome).toBe('released')
    expect((await buildIn(workspace)).outcome).toBe('unchanged')
  })
})

it('the next build restores what is missing beside a release, also where a copy made a folder of the link latest', async () => {
  const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
  await buildIn(workspace)
  const latest = join(datasetFolder(workspace), 'latest')
  for (const path of [join(workspace.publicDir, 'index.html'), latest, `${latest}.json`]) await rm(path)
  expect((await buildIn(workspace)).outcome).toBe('unchanged')
  await releaseFolder(workspace)
  expect(await readdir(workspace.publicDir)).toContain('index.html')
  expect(await readdir(latest)).toContain('manifest.json')
  await rm(latest)
  await mkdir(latest)
  expect((await buildIn(workspace)).outcome).toBe('unchanged')
  expect(await readdir(latest)).toContain('manifest.json')
})

describe('a build', () => {
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
      'a CSV record of 65 MiB with line ends, whose quote is most likely closed by another one',
      'a.csv.gz',
      gzipSync(`${HEADER}\n${ROW}\n2025-03-01,"a/b,1,1\n${'1'.repeat(65 * 1024 * 1024)}"\n${ROW}\n`, { level: 1 }),
      /a\.csv\.gz cannot be read whole: record 2 is longer than 64 MiB and has line ends within quotes/,
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
  ])('fails in plain words for a file that is not whole: %s', async (_, name, content, message) => {
    const failed = expect(buildIn(await workspaceOf({ [name]: content }))).rejects
    await failed.toThrow(message)
    await failed.not.toThrow(/LINE \d|strict_mode|parameter/)
  })
})

it('a build names the Parquet file of several whose footer is damaged', async () => {
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

it('a build reads some odd timestamps and rejects others, and a byte order mark before a slug is none of it', async () => {
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
  const beyondAllTime = ['1e18', '99999999999999999999999999999', '100000000000000000.5', '1_000']
  const lines = [...read, ...rejected].map((timestamp) => `"${timestamp}","${timestamp}",10,5\n`)
  const workspace = await workspaceOf({
    'a.csv': `${HEADER}\n${lines.join('')}`,
    'b.ndjson': `${JSON_ROW.replace('a/b', '\\ufeffa/b')}\n`,
    'c.csv': `${HEADER}\n${['0', ...beyondAllTime].map((timestamp) => `${timestamp},relative,10,5\n`).join('')}`,
  })
  const source = { schema: 'canonical', visibility: 'public' }
  await writeInput(workspace, 'sources.json', {
    max_rejected_share: 1,
    sources: [
      { ...source, name: 'absolute', files: ['a.csv', 'b.ndjson'] },
      { ...source, name: 'relative', files: ['c.csv'], base_time: '2025-03-01T00:00:00Z' },
    ],
  })
  const { records } = await buildIn(workspace)
  const rows = [...read, 'relative', 'a/b']
    .toSorted()
    .map((model) => ['2025-03-01', model, 15] as [string, string, number])
  expect(await publishedCsv(workspace)).toBe(csvOf(rows))
  expect(records.rejected).toEqual({ invalid_timestamp: rejected.length + beyondAllTime.length })
})

describe('a build in odd surroundings', () => {
  it('refuses a folder in the place of a file', async () => {
    const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n` }, { files: ['raw'] })
    const failed = expect(buildIn(workspace)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/"raw" is a folder.*"raw\/\*\*\/\*\.csv"/)
  })

  it.skipIf(process.platform !== 'linux')('names a file whose name is not UTF-8, and does not skip it', async () => {
    const workspace = await workspaceOf({ 'raw/a.csv': `${HEADER}\n${ROW}\n` }, { files: ['raw/*.csv'] })
    const name = Buffer.concat([Buffer.from(join(workspace.input, 'raw/b')), Buffer.from([0xff]), Buffer.from('.csv')])
    await writeFile(name, `${HEADER}\n${ROW}\n`)
    await expect(buildIn(workspace)).rejects.toThrow(/raw\/b\ufffd\.csv: .*UTF-8; rename it/)
  })

  it('fails with too little memory, says which setting to change, and names a file with very many columns', async () => {
    // A count that only DuckDB reads, so that the file is not summed without it.
    const small = await runBuild(await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}.0\n` }), { MEMORY_LIMIT: '10MB' })
    expect([small.code, small.stderr]).toEqual([
      1,
      expect.stringMatching(/^tokenboard: out of memory; raise MEMORY_LIMIT .*\n$/),
    ])
    const width = 9990
    const header = [HEADER, ...Array.from({ length: width }, (_, column) => `c${column}`)].join()
    // DuckDB reads records whose quotes have line ends.
    const record = [`${ROW}.0`, ...Array<string>(width).fill('"x\ny"')].join()
    const workspace = await workspaceOf({ 'narrow.csv': `${HEADER}\n${ROW}\n`, 'wide.csv': `${header}\n${record}\n` })
    const { code, stderr } = await runBuild(workspace, { MEMORY_LIMIT: '20MB' })
    expect(stderr).toMatch(/^tokenboard: wide\.csv: 9,99\d columns; out of memory; raise MEMORY_LIMIT .*\n$/)
    expect(code).toBe(1)
  })

  it.each(['dataDir', 'publicDir'] as const)('refuses a question mark in the path of %s', async (folder) => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    const failed = expect(buildIn({ ...workspace, [folder]: join(workspace.root, 'what?') })).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(/what\?.*question mark/)
  })

  it.skipIf(process.platform !== 'linux')('fails if a folder cannot be made', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
    await expect(buildIn({ ...workspace, publicDir: '/proc/tokenboard/public' })).rejects.toThrow(/mkdir '\/proc\//)
  })

  it('does not throw away a state that is damaged or cannot be opened, and says what to do', async () => {
    const workspace = await workspaceWithLoss()
    const state = join(workspace.dataDir, 'state/build.duckdb')
    const whole = await readFile(state)
    await truncate(state, whole.length / 2)
    await expect(buildIn(workspace)).rejects.toThrow(
      /build\.duckdb is damaged; .* restore \S*\/state .* delete it: .* reads all files again .* missing ones/,
    )
    await writeFile(state, Buffer.concat([Buffer.alloc(4096), whole.subarray(4096)]))
    await expect(buildIn(workspace)).rejects.toThrow(/is not a readable database; .* restore \S*\/state .* delete it: /)
    await writeFile(state, whole)
    await buildIn(workspace)
    expect(await rows(workspace)).toEqual(['2025-03-01,a/b,75'])
  })

  it('makes a state anew of which a stopped build wrote only the first bytes, unless it has a write-ahead log', async () => {
    for (const bytes of [0, 4096]) {
      const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${ROW}\n` })
      const state = join(workspace.dataDir, 'state/build.duckdb')
      await mkdir(dirname(state))
      await writeFile(state, Buffer.alloc(bytes))
      await writeFile(`${state}.wal`, 'what a stopped build noted')
      for (const dryRun of [true, false])
        await expect(buildIn(workspace, undefined, {}, { dryRun })).rejects.toThrow(`${state}.wal, move it away first`)
      await rm(`${state}.wal`)
      await buildIn(workspace)
      expect(await rows(workspace)).toEqual(['2025-03-01,a/b,15'])
    }
  })

  it('accepts links to another disk for releases and kept files', async () => {
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

  it('does not take folders named key=value for partitions', async () => {
    const workspace = await workspaceOf({}, { files: ['raw/*.parquet'] })
    await query(`COPY (SELECT '2025-03-01' AS timestamp, 'a/b' AS model_permaslug, 10 AS prompt_tokens,
      5 AS completion_tokens) TO ${sqlText(join(workspace.input, 'a.parquet'))}`)
    await writeSource(workspace, ['a.parquet'])
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
