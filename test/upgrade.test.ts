/** Upgrades an installation of version 0.1.0. `test/fixtures/installation-0.1.0/README.md` describes it. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { BuildEvent } from '../pipeline/base/effects.ts'
import { withTemporaryDatabase } from '../pipeline/base/scratch.ts'
import { contentHash } from '../pipeline/base/text.ts'
import type { BuildOptions } from '../pipeline/build.ts'
import type { BuildSummary } from '../pipeline/build-summary.ts'
import { standingEntries } from '../pipeline/release/index.ts'
import { readHistory } from '../pipeline/release/read-back.ts'
import { type Answer, answersOf, type Keys, RELEASES, SERVED_AT } from './fixtures/installation-0.1.0/ask.ts'
import { readCoverage, readIndex, readRestatements, text } from './support/history.ts'
import { buildIn, datasetFolder, publishedCsv, rowsOf, runCli, settings, type Workspace } from './support/pipeline.ts'
import { verifyFolder } from './support/releases.ts'
import { start } from './support/running-server.ts'
import { serveFolder } from './support/static-host.ts'

const run = promisify(execFile)
const FIXTURE = join(import.meta.dirname, 'fixtures/installation-0.1.0')

/** Between the last release of 0.1.0 and the next day. */
const UPGRADED_AT = '2025-03-08T01:00:00Z'
const NEXT_DAY = '2025-03-09T00:30:00Z'

/** Dates whose logs are archived or missing. */
const OLD_DATES = ['2025-02-24', '2025-02-25', '2025-02-26', '2025-02-27']
/** Dates that are final in the last release of 0.1.0 and whose logs are there. */
const FINAL_DATES = ['2025-02-28', '2025-03-01', '2025-03-02', '2025-03-03', '2025-03-04']
const PROVISIONAL_DATES = ['2025-03-05', '2025-03-06', '2025-03-07']

async function unpack(): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-upgrade-'))
  await run('tar', ['-xzf', join(FIXTURE, 'installation.tar.gz'), '-C', root])
  const dataDir = join(root, 'data')
  return { root, input: dataDir, dataDir, publicDir: join(root, 'public'), sources: join(dataDir, 'sources.json') }
}

interface Built {
  /** The summary, or the error. */
  result: BuildSummary | Error
  notices: string[]
  /** The sources of which files were read. */
  read: string[]
}

async function buildOf(installation: Workspace, asOf: string, options: BuildOptions = {}): Promise<Built> {
  const events: BuildEvent[] = []
  const result = await buildIn(installation, asOf, { report: (event) => events.push(event) }, options).catch(
    (error: Error) => error,
  )
  const stages = events.flatMap((event) => (event.kind === 'progress' ? [event.stage] : []))
  const read = stages.flatMap((stage) => /^(?:read|compare) (.*)/.exec(stage)?.[1] ?? [])
  const notices = events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []))
  return { result, notices, read: [...new Set(read)] }
}

async function copyOf(installation: Workspace): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-upgrade-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await cp(installation.root, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const dataDir = join(root, 'data')
  return { root, input: dataDir, dataDir, publicDir: join(root, 'public'), sources: join(dataDir, 'sources.json') }
}

/** What the rows of a model are on some dates. */
async function tokensOf(installation: Workspace, model: string): Promise<Record<string, string>> {
  const rows = rowsOf(await publishedCsv(installation)).map((row) => row.split(' '))
  return Object.fromEntries(rows.flatMap(([date = '', name, tokens = '']) => (name === model ? [[date, tokens]] : [])))
}

const each = (dates: readonly string[], tokens: string) => Object.fromEntries(dates.map((date) => [date, tokens]))

/** The files of the releases that 0.1.0 made. */
async function filesOfReleases(installation: Workspace): Promise<string[]> {
  const paths = RELEASES.map((release) => join(datasetFolder(installation), 'releases', release, 'SHA256SUMS'))
  return Promise.all(paths.map((path) => readFile(path, 'utf8')))
}

let original: Workspace
let upgraded: Workspace
/** The first build of this version, which stops, and the one that accepts old counts and the new reading. */
let refused: Built
let accepted: Built

beforeAll(async () => {
  original = await unpack()
  upgraded = await unpack()
  refused = await buildOf(upgraded, UPGRADED_AT)
  accepted = await buildOf(upgraded, UPGRADED_AT, { accept: ['old_counts', 'new_reading'] })
})

afterAll(async () => {
  for (const { root } of [original, upgraded]) await rm(root, { recursive: true })
})

describe('an installation of 0.1.0, before the first build', () => {
  it('verifies, except its pages, which are listed', async () => {
    const { code, stderr } = await runCli(['verify'], settings(original, UPGRADED_AT))
    for (const release of RELEASES) expect(stderr).toContain(`${release}: `)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('verified 5 releases') })
    expect(stderr).toMatch(
      /not verified: \d+ pages made by another version; the next build replaces them: .* and \d+ more/,
    )
  })

  it('can be verified at an address and exported, without a history', async () => {
    const { url } = await serveFolder(original.publicDir)
    expect(await runCli(['verify', url], settings(original, UPGRADED_AT))).toMatchObject({ code: 0 })
    const folder = join(original.root, 'copy')
    const { code, stderr } = await runCli(['export', folder], settings(original, UPGRADED_AT))
    expect(code, stderr).toBe(0)
    expect(await readdir(join(folder, 'datasets/rankings-daily/v1'))).not.toContain('history.parquet')
  })
})

describe('an installation of 0.1.0, in its first build', () => {
  it('stops and names the dates that cannot be read again', () => {
    expect(String(refused.result)).toContain('source "helicone", raw files missing: 2025-02-27\n')
    expect(String(refused.result)).toContain('source "helicone", archived: 2025-02-24 to 2025-02-26\n')
    expect(String(refused.result)).toContain('tokenboard build --accept old_counts')
    expect(String(refused.result)).not.toContain('"gateway"')
    for (const date of FINAL_DATES) expect(String(refused.result)).toContain(`  ${date}: `)
    expect(String(refused.result)).toContain('tokenboard build --accept new_reading')
  })

  it('reads all files again, once', () => {
    expect(refused.read).toEqual(expect.arrayContaining(['gateway', 'helicone']))
    expect(refused.notices).toContainEqual(expect.stringMatching(/^source "helicone": 8 files are read again/))
    expect(accepted.read).toEqual([])
  })

  it('counts the tokens that 0.1.0 did not count, and keeps the counts of dates that cannot be read', async () => {
    expect(await tokensOf(upgraded, 'claude/opus')).toEqual({
      ...each(OLD_DATES, '127'),
      ...each([...FINAL_DATES, ...PROVISIONAL_DATES], '130635'),
    })
    for (const model of ['acme/one', 'acme/two', 'umber/chat']) {
      expect(await tokensOf(upgraded, model)).toEqual(await tokensOf(original, model))
    }
  })

  it('restates final dates with the reason reading, and marks the dates with old counts in coverage.json', async () => {
    const restatements = await readRestatements(upgraded)
    expect(restatements.map(({ reason }) => reason)).toEqual(['late_data', 'reading'])
    expect(restatements.at(-1)?.dates.map(({ date }) => date)).toEqual(FINAL_DATES)
    const { days } = await readCoverage(upgraded)
    expect(days.filter(({ old_counts }) => old_counts).map(({ date }) => date)).toEqual(OLD_DATES)
  })

  it('has weeks and months from then on: another schema, and nothing of them before', async () => {
    const { releases } = await readIndex(upgraded)
    expect(releases.map(({ tables }) => tables !== undefined)).toEqual([false, false, false, false, false, true])
    expect(releases.at(-1)).toMatchObject({
      changed: expect.arrayContaining(['schema']),
      data_version: expect.stringMatching(/^\d+\.0\.0$/),
    })
    const { weekly, monthly, release } = await readCoverage(upgraded)
    expect(weekly?.map(({ date }) => date)).toEqual(['2025-02-24', '2025-03-03'])
    expect(monthly?.map((month) => [month.date, month.release])).toEqual([
      ['2025-02-01', release],
      ['2025-03-01', release],
    ])
  })

  it('renames the kept records', async () => {
    const names = await readdir(join(upgraded.dataDir, 'state/records'))
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      expect(name).toMatch(
        /-(canonical|litellm-daily-user-spend|helicone-requests)-\d+\.\d+-[0-9a-f]{16}(\+contributors)?\.parquet$/,
      )
    }
  })

  it('changes no release of 0.1.0, and verifies', async () => {
    expect(await filesOfReleases(upgraded)).toEqual(await filesOfReleases(original))
    const before = JSON.parse(await text(original, 'releases/index.json')).releases
    const after = JSON.parse(await text(upgraded, 'releases/index.json')).releases
    expect(after.map(({ hash }: { hash: string }) => hash).slice(0, -1)).toEqual(
      before.map(({ hash }: { hash: string }) => hash),
    )
    const { code, stderr } = await runCli(['verify'], settings(upgraded, UPGRADED_AT))
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('verified 6 releases') })
  })

  it('has a history that says what each release says', async () => {
    const folder = datasetFolder(upgraded)
    const { signal } = new AbortController()
    await withTemporaryDatabase('test', { signal, folders: [folder] }, async (database) => {
      for (const { release, content_hash } of standingEntries(await readIndex(upgraded))) {
        const rows = await readHistory(database, join(folder, 'history.parquet'), { release, table: 'daily' })
        expect(contentHash(rows), release).toBe(content_hash)
      }
    })
  })

  it('can be reproduced', async () => {
    const { code, stderr } = await runCli(['reproduce'], settings(upgraded, UPGRADED_AT))
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('have the bytes that were published'),
    })
  })
})

describe('an installation of 0.1.0, in later builds', () => {
  it('makes no release without new data, and asks for nothing again', async () => {
    const { result, read } = await buildOf(await copyOf(upgraded), '2025-03-08T02:00:00Z')
    expect({ result, read }).toMatchObject({ result: { outcome: 'unchanged' }, read: [] })
  })

  it('publishes new data, and keeps the marks in coverage.json', async () => {
    const installation = await copyOf(upgraded)
    const header = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n'
    const day = `${header}2025-03-08T09:00:00Z,acme/one,70,7,new\n`
    await writeFile(join(installation.dataDir, 'raw/gateway/2025-03-08.csv'), day)
    const { result, read } = await buildOf(installation, NEXT_DAY)
    expect(result).toMatchObject({ outcome: 'released', end_date: '2025-03-08' })
    expect(read).toEqual(['gateway'])
    expect((await tokensOf(installation, 'acme/one'))['2025-03-08']).toBe('77')
    expect((await readRestatements(installation)).map(({ reason }) => reason)).toEqual(['late_data', 'reading'])
    const { days } = await readCoverage(installation)
    expect(days.filter(({ old_counts }) => old_counts).map(({ date }) => date)).toEqual(OLD_DATES)
    expect((await readIndex(installation)).releases.at(-1)?.changed).not.toContain('schema')
  })

  it('reads the archive and the kept files without the state', async () => {
    const installation = await copyOf(upgraded)
    await rm(join(installation.dataDir, 'state'), { recursive: true })
    expect(await buildOf(installation, '2025-03-08T02:00:00Z')).toMatchObject({ result: { outcome: 'unchanged' } })
  })
})

describe('an installation of 0.1.0, with a signing key', () => {
  it('is signed whole, and says which releases were not signed when they were made', async () => {
    const installation = await copyOf(upgraded)
    const environment = { ...settings(installation, '2025-03-08T02:00:00Z'), XDG_CONFIG_HOME: installation.root }
    const file = join(installation.root, 'signing.key')
    const { signing } = JSON.parse((await runCli(['keygen', file, '--json'], environment)).stdout)
    const keyed = { ...environment, SIGNING_KEY_FILE: file }
    expect(await runCli(['build'], keyed)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`signed    by ${signing.fingerprint}`),
    })
    const later = { ...keyed, AS_OF: NEXT_DAY }
    expect(await runCli(['build'], later)).toMatchObject({ code: 0 })
    const { url } = await serveFolder(installation.publicDir)
    for (const place of [installation.publicDir, url]) {
      const { code, stdout, stderr } = await runCli(['verify', place, '--key', signing.fingerprint, '--json'], later)
      expect(code, stderr).toBe(0)
      const unsigned_releases = (await readIndex(upgraded)).releases.length
      expect(JSON.parse(stdout).signature).toMatchObject({ signed_by: signing.fingerprint, unsigned_releases })
    }
  })
})

describe('an installation of 0.1.0, on the server', () => {
  it('has the same keys, and the same responses for presets and previous releases, although these are dropped', async () => {
    const installation = await copyOf(upgraded)
    const sources = JSON.parse(await readFile(installation.sources, 'utf8'))
    await writeFile(installation.sources, JSON.stringify({ ...sources, retention: { keep_releases: 1 } }))
    const { result } = await buildOf(installation, '2025-03-08T02:00:00Z')
    expect(result).toMatchObject({ outcome: 'unchanged', dropped: RELEASES })
    expect(await verifyFolder(installation.publicDir)).toMatchObject({ dropped: RELEASES.length })
    const recorded: { key: Keys; answers: Answer[] } = JSON.parse(await readFile(join(FIXTURE, 'answers.json'), 'utf8'))
    const { url } = await start(installation, { AS_OF: SERVED_AT })
    const answers = await answersOf(url, recorded.key)
    const ofKeys = (all: Answer[]) =>
      all.filter(({ path }) => path === '/api/v1/key').map(({ body }) => JSON.parse(body).data)
    const others = (all: Answer[]) => all.filter(({ path }) => path !== '/api/v1/key')
    expect(others(answers)).toEqual(others(recorded.answers))
    const lasting = ({
      label,
      creator_user_id,
      limit,
      limit_reset,
      is_management_key,
      usage,
    }: Record<string, unknown>) => {
      return { label, creator_user_id, limit, limit_reset, is_management_key, usage }
    }
    expect(ofKeys(answers).map(lasting)).toEqual(ofKeys(recorded.answers).map(lasting))
  })
})
