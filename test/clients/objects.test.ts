/**
 * Sources in buckets, with DuckDB's httpfs and a service that is S3 to it. Where PyPI has not both, this is skipped and
 * says so.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type CliResult,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  runProcess,
  settings,
  sha256,
  snapshotTree,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { finish } from '../system/clone.ts'
import { skipLoudly } from '../system/hosting.ts'
import { type ObjectService, python, serveHttpfs, startService } from './object-service.ts'

const found = await python()
const FIRST = '2025-03-10T12:00:00Z'
const SECOND = '2025-03-10T13:00:00Z'
const THIRD = '2025-03-10T14:00:00Z'

/** Where DuckDB finds the extension. */
let home: string
let service: ObjectService
let buckets = 0

beforeAll(async () => {
  if ('reason' in found) return
  home = await mkdtemp(join(tmpdir(), 'tokenboard-objects-'))
  service = await startService(found.bin)
})

afterAll(async () => {
  if ('reason' in found) return
  await service.stop()
  await rm(home, { recursive: true })
})

/** Records of one day as CSV: model and prompt tokens of each; ids are those of the file. */
function csv(file: string, date: string, tokens: readonly number[]): string {
  const lines = tokens.map((count, index) => `${date}T10:00:00Z,acme/model-${index},${count},0,${file}-${index}`)
  return `timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n${lines.join('\n')}\n`
}

/** Keys with all that a file system, a URL, DuckDB or a shell may take for something else, but for `?`. */
const OBJECTS: Record<string, string | Uint8Array> = {
  'gateway/2025-03-01.csv': csv('a', '2025-03-01', [10, 20]),
  'gateway/2025-03-02.csv.gz': gzipSync(csv('b', '2025-03-02', [30, 40])),
  'gateway/deep/er/2025-03-03.csv': csv('c', '2025-03-03', [50, 60]),
  "gateway/odd/ü [x]*+&=%41#'.csv": csv('d', '2025-03-04', [70, 80]),
  'gateway/odd//empty name.csv': csv('e', '2025-03-05', [90]),
  [`gateway/odd/${'long'.repeat(100)}.csv`]: csv('f', '2025-03-06', [5]),
  'other/never.csv': csv('g', '2025-03-06', [999]),
  'gateway/notes.txt': 'no log',
}
const COUNTED = Object.keys(OBJECTS).filter((key) => key.startsWith('gateway/') && key.includes('.csv'))

/** A bucket of its own with these objects, and a workspace whose one source they are. */
async function withBucket(
  objects: Record<string, string | Uint8Array>,
  options: { files?: string[]; top?: Record<string, unknown> } = {},
): Promise<{ bucket: string; workspace: Workspace }> {
  buckets += 1
  const bucket = `logs-${buckets}`
  await service.createBucket(bucket)
  for (const [key, body] of Object.entries(objects)) await service.put(bucket, key, body)
  const workspace = await newWorkspace()
  await name(workspace, options.files ?? [`s3://${bucket}/gateway/**/*.{csv,csv.gz}`], options.top)
  return { bucket, workspace }
}

async function name(workspace: Workspace, files: string[], top: Record<string, unknown> = {}): Promise<void> {
  const source = { name: 'gateway', schema: 'canonical', files, visibility: 'public' }
  await writeInput(workspace, 'sources.json', { ...top, sources: [source] })
}

function environment(workspace: Workspace, asOf: string): Record<string, string> {
  return { ...settings(workspace, asOf), ...service.environment, HOME: home }
}

async function cli(
  workspace: Workspace,
  words: string[],
  asOf = FIRST,
  more: Record<string, string> = {},
): Promise<CliResult> {
  service.asked.length = 0
  return runProcess(words, { ...environment(workspace, asOf), ...more })
}

async function build(workspace: Workspace, asOf = FIRST, ...words: string[]): Promise<string> {
  const { code, stderr } = await cli(workspace, ['build', ...words], asOf)
  expect(code, stderr).toBe(0)
  return stderr
}

/** What was fetched of the keys of a bucket. */
function fetched(bucket: string): string[] {
  const gets = service.asked.filter((question) => question.startsWith('GET '))
  return gets.map((question) => question.slice(`GET ${bucket}/`.length)).sort()
}

async function copies(workspace: Workspace): Promise<string[]> {
  return readdir(join(workspace.dataDir, 'state/objects'))
}

if ('reason' in found) {
  it('sources in buckets are not tested: PyPI lacks a package', ({ skip }) => {
    skipLoudly(skip, `sources in buckets: ${found.reason}`)
  })
}

describe.runIf('bin' in found)('sources in buckets', () => {
  it('need one command first, which downloads the extension and loads it', async () => {
    const proxy = await serveHttpfs('bin' in found ? found.bin : '')
    onTestFinished(proxy.stop)
    const { code, stdout, stderr } = await runProcess(['httpfs', '--json'], { HOME: home, HTTP_PROXY: proxy.url })
    expect(code, stderr).toBe(0)
    const { path } = JSON.parse(stdout)
    expect(path.startsWith(join(home, '.duckdb/extensions'))).toBe(true)
    expect((await stat(path)).size).toBeGreaterThan(1e6)
  })

  it('give the same release as local files, whatever their keys', async () => {
    const { bucket, workspace } = await withBucket(OBJECTS)
    expect(await build(workspace)).toContain(`fetch gateway: ${COUNTED.length} objects, ${COUNTED.length} new`)
    expect(fetched(bucket)).toEqual([...COUNTED].sort())
    const local = await newWorkspace()
    for (const [index, key] of COUNTED.entries()) {
      const ending = key.endsWith('.gz') ? 'csv.gz' : 'csv'
      await writeInput(local, `raw/${index}.${ending}`, OBJECTS[key])
    }
    await name(local, ['raw/*'])
    await build(local)
    expect(await snapshotTree(await releaseFolder(workspace))).toEqual(await snapshotTree(await releaseFolder(local)))
    expect(rowsOf(await publishedCsv(workspace)).length).toBe(10)
  })

  it('are found by init, and fetched once for it and the build', async () => {
    const { bucket, workspace } = await withBucket({
      'gateway/2025-03-01.csv': csv('a', '2025-03-01', [10, 20]),
      'gateway/deep/2025-03-02.csv.gz': gzipSync(csv('b', '2025-03-02', [30])),
      'gateway/notes.txt': 'no log',
    })
    const words = [
      '--yes',
      '--publisher-name',
      'Test',
      '--publisher-url',
      'https://a.example',
      '--contact',
      'a@b.example',
    ]
    const { code, stderr } = await cli(workspace, ['init', `s3://${bucket}/gateway/`, '--force', ...words])
    expect(code, stderr).toBe(0)
    expect(fetched(bucket)).toHaveLength(2)
    const { sources } = JSON.parse(await readFile(workspace.sources, 'utf8'))
    expect(sources[0].files).toEqual([`s3://${bucket}/gateway/**/*.csv`, `s3://${bucket}/gateway/**/*.csv.gz`])
    await build(workspace)
    expect(fetched(bucket)).toEqual([])
    expect(rowsOf(await publishedCsv(workspace))).toHaveLength(3)
  })

  it('are fetched once for two sources that name them', async () => {
    const { bucket, workspace } = await withBucket({
      'gateway/a.csv': csv('a', '2025-03-01', [10]),
      'partner/b.csv': csv('b', '2025-03-01', [20]),
    })
    const source = (label: string, files: string[]) => {
      return { name: label, schema: 'canonical', files, visibility: 'public' }
    }
    const [one, two] = [source('one', [`s3://${bucket}/gateway/*.csv`]), source('two', [`s3://${bucket}/*/*.csv`])]
    await writeInput(workspace, 'sources.json', { sources: [one, two] })
    await build(workspace)
    expect(fetched(bucket)).toEqual(['gateway/a.csv', 'partner/b.csv'])
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-01 acme/model-0 40'])
  })

  it('are only listed when nothing is new, and reproduced from kept bytes', async () => {
    const { bucket, workspace } = await withBucket(OBJECTS)
    await build(workspace)
    expect(await build(workspace, SECOND)).toMatch(/objects, none new .*nothing changed/s)
    expect(new Set(service.asked)).toEqual(new Set([`LIST ${bucket}/gateway/`]))
    const { code, stderr } = await cli(workspace, ['reproduce'])
    expect(code, stderr).toBe(0)
    expect(fetched(bucket)).toEqual([])
  })

  it('are fetched only when they are new or replaced', async () => {
    const { bucket, workspace } = await withBucket({
      'gateway/a.csv': csv('a', '2025-03-01', [10]),
      'gateway/b.csv': csv('b', '2025-03-02', [20]),
    })
    await build(workspace)
    await service.put(bucket, 'gateway/b.csv', csv('b', '2025-03-02', [2000]))
    await service.put(bucket, 'gateway/c.csv', csv('c', '2025-03-03', [30]))
    await build(workspace, SECOND)
    expect(fetched(bucket)).toEqual(['gateway/b.csv', 'gateway/c.csv'])
    expect(rowsOf(await publishedCsv(workspace))).toEqual([
      '2025-03-01 acme/model-0 10',
      '2025-03-02 acme/model-0 2000',
      '2025-03-03 acme/model-0 30',
    ])
  })

  it('are not kept in a dry run', async () => {
    const { bucket, workspace } = await withBucket({ 'gateway/a.csv': csv('a', '2025-03-01', [10]) })
    await build(workspace)
    await service.put(bucket, 'gateway/a.csv', csv('a', '2025-03-01', [1000]))
    await service.put(bucket, 'gateway/b.csv', csv('b', '2025-03-02', [20]))
    const before = await snapshotTree(join(workspace.dataDir, 'state/objects'))
    expect(await build(workspace, SECOND, '--dry-run')).toContain('2025-03-02')
    expect(fetched(bucket)).toEqual(['gateway/a.csv', 'gateway/b.csv'])
    expect(await snapshotTree(join(workspace.dataDir, 'state/objects'))).toEqual(before)
  })

  describe('with a missing object', () => {
    const two = { 'gateway/a.csv': csv('a', '2025-03-01', [10]), 'gateway/b.csv': csv('b', '2025-03-02', [20]) }

    async function lose(on_missing: string): Promise<{ workspace: Workspace; result: CliResult }> {
      const { bucket, workspace } = await withBucket(two, { top: { on_missing } })
      await build(workspace)
      await service.remove(bucket, 'gateway/b.csv')
      return { workspace, result: await cli(workspace, ['build'], SECOND) }
    }

    it('fail, name it, and keep its copy', async () => {
      const { workspace, result } = await lose('fail')
      expect(result.code).toBe(1)
      expect(result.stderr).toMatch(/are missing: s3:\/\/logs-\d+\/gateway\/b\.csv \(1 record\)/)
      expect(await copies(workspace)).toHaveLength(2)
    })

    it.each([
      ['keep', ['2025-03-01 acme/model-0 10', '2025-03-02 acme/model-0 20']],
      ['remove', ['2025-03-01 acme/model-0 10']],
    ])('%s its records when on_missing says so, and delete its copy', async (on_missing, rows) => {
      const { workspace, result } = await lose(on_missing)
      expect(result.code, result.stderr).toBe(0)
      expect(rowsOf(await publishedCsv(workspace))).toEqual(rows)
      expect(await copies(workspace)).toHaveLength(1)
    })

    it('report an object that the source no longer names', async () => {
      const { bucket, workspace } = await withBucket(two)
      await build(workspace)
      await name(workspace, [`s3://${bucket}/gateway/a.csv`])
      expect(await build(workspace, SECOND)).toContain('gateway/b.csv is no longer named by the source')
      expect(service.asked).toEqual([`LIST ${bucket}/gateway/a.csv`])
      expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-01 acme/model-0 10'])
    })
  })

  it('are refused by source and key when DuckDB cannot list them', async () => {
    const { bucket, workspace } = await withBucket({ 'gateway/what?.csv': csv('a', '2025-03-01', [10]) })
    const { code, stderr } = await cli(workspace, ['build'])
    expect(code).toBe(1)
    expect(stderr).toContain('source "gateway": ')
    expect(stderr).toContain(`s3://${bucket}/gateway/what?.csv has a question mark in its name`)
  })

  it('are not read if a key has a segment of dots, and the summary names them', async () => {
    const objects = {
      'gateway/a.csv': csv('a', '2025-03-01', [10]),
      'gateway/2025/../b.csv': csv('b', '2025-03-01', [20]),
    }
    const { bucket, workspace } = await withBucket(objects)
    const output = await build(workspace)
    expect(output).toContain('fetch gateway: 1 object, 1 new')
    expect(output).toContain(
      `skipped   s3://${bucket}/gateway/2025/../b.csv is not read: its key has a segment . or ..`,
    )
  })

  it('are refused when one is no log by its ending and its text', async () => {
    const objects = { 'gateway/a.csv': csv('a', '2025-03-01', [10]), 'gateway/notes.txt': 'no log' }
    const { bucket, workspace } = await withBucket(objects)
    await name(workspace, [`s3://${bucket}/gateway/*`])
    const { code, stderr } = await cli(workspace, ['build'])
    expect(code).toBe(2)
    expect(stderr).toContain(`s3://${bucket}/gateway/notes.txt: a raw file must be CSV, JSON or Parquet`)
  })

  it('are refused when an object needs more memory than allowed', async () => {
    const large = csv('a', '2025-03-01', [10]).padEnd(12e6, '\n')
    const { bucket, workspace } = await withBucket({ 'gateway/a.csv': large })
    const { code, stderr } = await cli(workspace, ['build'], FIRST, { MEMORY_LIMIT: '10MiB' })
    expect(code).toBe(1)
    expect(stderr).toContain(`s3://${bucket}/gateway/a.csv cannot be fetched: out of memory`)
  })

  it('fail with the name of a missing bucket or of a service that does not answer', async () => {
    const { workspace } = await withBucket({}, { files: ['s3://no-such-bucket/*.csv'] })
    const missing = await cli(workspace, ['build'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toMatch(/source "gateway": s3:\/\/no-such-bucket\/\*\.csv cannot be listed: .*NoSuchBucket/)
    service.intercept((_, response) => response.destroy() !== undefined)
    onTestFinished(() => service.intercept(undefined))
    const silent = await cli(workspace, ['build'])
    expect(silent.code).toBe(1)
    expect(silent.stderr).toContain('source "gateway": s3://no-such-bucket/*.csv cannot be listed: ')
  })

  describe('whose service fails midway', () => {
    const four = Object.fromEntries(
      [1, 2, 3, 4].map((day) => [
        `gateway/${day}.csv`,
        csv(`${day}`, `2025-03-0${day}`, [day]).padEnd(17 * 2 ** 20, '\n'),
      ]),
    )

    async function expectWhole(workspace: Workspace): Promise<void> {
      const whole = Object.values(four).map(sha256)
      for (const copy of await copies(workspace)) {
        expect(whole).toContain(sha256(await readFile(join(workspace.dataDir, 'state/objects', copy))))
      }
    }

    it('fail with the name of the object, keep whole copies, and fetch the rest next time', async () => {
      const { bucket, workspace } = await withBucket(four)
      service.intercept((question, response) => {
        if (!question.startsWith('GET ') || question < `GET ${bucket}/gateway/3`) return false
        response.writeHead(206, { 'content-length': `${17 * 2 ** 20}` })
        response.write('timestamp')
        setImmediate(() => response.destroy())
        return true
      })
      onTestFinished(() => service.intercept(undefined))
      const { code, stderr } = await cli(workspace, ['build'])
      expect(code).toBe(1)
      expect(stderr).toContain(`source "gateway": s3://${bucket}/gateway/3.csv cannot be fetched: `)
      expect(await copies(workspace)).toHaveLength(2)
      await expectWhole(workspace)
      service.intercept(undefined)
      await build(workspace)
      expect(new Set(fetched(bucket))).toEqual(new Set(['gateway/3.csv', 'gateway/4.csv']))
      await expectWhole(workspace)
      expect(rowsOf(await publishedCsv(workspace))).toHaveLength(4)
    })

    it('stop at Ctrl-C, and leave no half copy', async () => {
      const { bucket, workspace } = await withBucket(four)
      const { PATH = '' } = process.env
      const child = spawn(process.execPath, [join(import.meta.dirname, '../../pipeline/cli.ts'), 'build'], {
        env: { PATH, ...environment(workspace, FIRST) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      service.intercept((question, response) => {
        if (!question.startsWith('GET ') || question < `GET ${bucket}/gateway/2`) return false
        child.kill('SIGINT')
        response.writeHead(206, { 'content-length': `${17 * 2 ** 20}` })
        response.end(Buffer.alloc(17 * 2 ** 20, '\n'))
        return true
      })
      onTestFinished(() => service.intercept(undefined))
      const { code, stderr } = await finish(child)
      expect(code, stderr).toBe(1)
      expect(stderr).toContain('stopped; no release was made')
      expect(await copies(workspace)).toHaveLength(1)
      await expectWhole(workspace)
      expect(await readdir(join(workspace.dataDir, 'state'))).not.toContain('tmp')
    })
  })

  it('are requested with the credentials of the environment, which are never printed', async () => {
    const { bucket, workspace } = await withBucket({ 'gateway/a.csv': csv('a', '2025-03-01', [10]) })
    const login = await service.requireLogin()
    const secret = 'N0TTHESECRET'
    const refused = await cli(workspace, ['build'], FIRST, { ...login, AWS_SECRET_ACCESS_KEY: secret })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /source "gateway": s3:\/\/logs-\d+\/gateway\/.* cannot be listed: .*403 Forbidden.*SignatureDoesNotMatch.*AWS_SECRET_ACCESS_KEY/,
    )
    expect(`${refused.stdout}${refused.stderr}`).not.toContain(secret)
    const accepted = await cli(workspace, ['build'], THIRD, login)
    expect(accepted.code, accepted.stderr).toBe(0)
    expect(fetched(bucket)).toEqual(['gateway/a.csv'])
  })
})
