/** What `tokenboard status` says of folders, and that it changes none of them. */
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { lock } from '../../pipeline/base/lock.ts'
import type { LockHolder } from '../../pipeline/base/lock-holder.ts'
import { describeStatus } from '../../pipeline/commands/status.ts'
import { type BuildOutcome, outcomePath } from '../../pipeline/operation/build-outcome.ts'
import { readStatus, type Status } from '../../pipeline/operation/read-status.ts'
import { readKnownFiles } from '../../pipeline/rollup/known-files.ts'
import { temporaryFolder } from '../support/folder.ts'
import { newGateway, useOn } from '../support/gateway.ts'
import { runCli, settings, snapshotTree } from '../support/pipeline.ts'
import { PUBLISHED, writeCatalog } from '../support/status.ts'

const NOON = '2025-03-10T12:00:00Z'
const signal = new AbortController().signal

const OUTCOME: BuildOutcome = {
  outcome: 'unchanged',
  started: '2025-03-10T12:00:00.000Z',
  ended: '2025-03-10T12:00:02.500Z',
  exit_code: 0,
  error: null,
  stages: [],
  counts: null,
  release: '20250310T120000Z',
  warnings: [{ check: 'silent_source', date: '2025-03-09', finding: 'source "gateway" delivered no record' }],
  checks: ['silent_source'],
  last_success: '2025-03-10T12:00:02.500Z',
}

async function newPlace() {
  const root = await temporaryFolder()
  for (const folder of ['data/state', 'public']) await mkdir(join(root, folder), { recursive: true })
  const environment = {
    SOURCES: join(root, 'sources.json'),
    DATA_DIR: join(root, 'data'),
    PUBLIC_DIR: join(root, 'public'),
  }
  const at = (AS_OF: string) => readPipelineConfig({ ...environment, AS_OF })
  const free = async (): Promise<LockHolder | null | undefined> => null
  const read = (AS_OF = NOON, holderOf = free) => readStatus(at(AS_OF), { now: new Date(0), signal, holderOf })
  await writeFile(
    environment.SOURCES,
    toJson({ sources: [{ name: 'gateway', schema: 'canonical', files: ['raw/*.csv'], visibility: 'public' }] }),
  )
  return { root, read, config: at(NOON), environment }
}

const textOf = (status: Status) => describeStatus(status).split('\n')

describe('the status', () => {
  it.each([
    ['2025-03-10T12:00:00Z', 'fresh', '0 minutes old, fresh until 2025-03-12T01:00:00Z'],
    ['2025-03-12T00:59:59Z', 'fresh', '36 hours old, fresh until 2025-03-12T01:00:00Z'],
    ['2025-03-12T01:00:00Z', 'stale', '37 hours old, stale since 2025-03-12T01:00:00Z'],
    ['2025-03-14T12:00:00Z', 'stale', '4 days old, stale since 2025-03-12T01:00:00Z'],
  ])('at %s is %s', async (at, state, age) => {
    const { read, config } = await newPlace()
    await writeCatalog(config.publicDir)
    const status = await read(at)
    expect(status).toMatchObject({ state, at, published: PUBLISHED, problems: [] })
    expect(textOf(status).slice(0, 2)).toEqual([
      `${state}: release 20250310T120000Z is ${age}`,
      '  published 2025-03-01 to 2025-03-09, 42 rows, version 1.2.3',
    ])
  })

  it('says that nothing is published, also where there are no folders', async () => {
    const { read, root, config } = await newPlace()
    expect(textOf(await read())[0]).toBe(`nothing is published in ${config.publicDir}`)
    for (const folder of ['data', 'public']) await rm(join(root, folder), { recursive: true })

    expect(await read()).toMatchObject({ state: 'nothing_published', published: null, last_build: null, problems: [] })
  })

  it.each([
    ['released', null, ['released 20250310T120000Z at 2025-03-10T12:00:02Z, after 2.5 s']],
    ['unchanged', null, ['nothing changed at 2025-03-10T12:00:02Z, after 2.5 s: release 20250310T120000Z stayed current']],
    ['failed', '2 faults:\n  a.csv', ['FAILED at 2025-03-10T12:00:02Z, after 2.5 s, with exit code 0', '2 faults:', '  a.csv']],
    ['blocked', 'new findings', ['BLOCKED by a check at 2025-03-10T12:00:02Z, after 2.5 s, with exit code 0', 'new findings']],
    ['interrupted', 'stopped', ['STOPPED at 2025-03-10T12:00:02Z, after 2.5 s, with exit code 0', 'stopped']],
  ] as const)('says of a last build that it %s, and its warnings', async (outcome, error, lines) => {
    const { read, config } = await newPlace()
    await writeCatalog(config.publicDir)
    await writeFile(outcomePath(config), toJson({ ...OUTCOME, outcome, error }))
    const status = await read()
    expect(status.state).toBe('fresh')
    const text = textOf(status)
    expect(text.slice(2, 2 + lines.length)).toEqual(
      lines.map((line, position) => `  ${(position === 0 ? 'built' : '').padEnd(10)}${line}`),
    )
    expect(text).toContain('  warnings  2025-03-09 source "gateway" delivered no record (silent_source)')
  }) // biome-ignore format: one line an outcome

  it('names files that it cannot read, and goes on', async () => {
    const { read, config, environment } = await newPlace()
    for (const path of [join(config.publicDir, 'catalog.json'), outcomePath(config), environment.SOURCES])
      await writeFile(path, '{')
    await writeFile(join(config.dataDir, 'state/build.duckdb'), 'no database')
    const status = await read()

    expect(status).toMatchObject({ state: 'unknown', published: null, last_build: null, next_build: null })
    expect(textOf(status)[0]).toBe('what is published cannot be read')
    expect(status.problems).toEqual(
      ['catalog.json:1:', 'build-outcome.json:1:', 'build.duckdb', 'sources.json:1:'].map((name) =>
        expect.stringContaining(name),
      ),
    )
  })

  it.each([
    [{ command: 'export', process: 7 }, 'export (process 7) holds a lock'],
    [{ command: null, process: 7 }, 'another program (process 7) holds a lock'],
    [undefined, 'this system does not tell whether a command is running'],
  ])('says who holds a lock: %o', async (holder, line) => {
    const { read } = await newPlace()
    const status = await read(NOON, async () => holder)

    expect(status.running).toEqual(holder === undefined ? null : [holder])
    expect(textOf(status)).toContain(`  running   ${line}`)
  })

  it('reads while another command holds the locks, and does not look into the state then', async () => {
    const { read, config } = await newPlace()
    const held = await Promise.all(
      ['data/state/build.duckdb', 'public/.lock'].map((path) => lock(join(config.dataDir, '..', path))),
    )
    try {
      const status = await read(NOON, async () => ({ command: 'build', process: 7 }))
      expect(status).toMatchObject({
        problems: [],
        next_build: { sources: [{ source: 'gateway', files: 0, new: null }] },
      })
    } finally {
      for (const each of held) await each.release()
    }
  })

  it('names ClickHouse and does not ask it', async () => {
    const { read, environment } = await newPlace()
    const clickhouse = { url: 'https://clickhouse.example.org:8443', view: 'usage' }
    await writeFile(environment.SOURCES, toJson({ engine: { clickhouse, visibility: 'public' } }))

    const line = '  next      asks ClickHouse at https://clickhouse.example.org:8443 for default.usage, from '
    expect(textOf(await read()).some((each) => each.startsWith(line))).toBe(true)
  })

  it('goes on after a source whose files cannot be found', async () => {
    const { read, root, environment } = await newPlace()
    const of = (name: string, file: string) => ({ name, schema: 'canonical', files: [file], visibility: 'public' })
    await writeFile(environment.SOURCES, toJson({ sources: [of('wrong', 'loop/*.csv'), of('right', 'usage.csv')] }))
    await writeFile(join(root, 'usage.csv'), 'abc')
    await symlink('loop', join(root, 'loop'))
    const status = await read()

    expect(status.problems).toEqual([expect.stringContaining('loop')])
    expect(status.next_build?.sources).toEqual([
      { source: 'right', files: 1, bytes: 3, new: 1, changed: 0, missing: 0 },
    ])
  })

  it('does not copy a state that is too large', async () => {
    const { config } = await newPlace()
    await writeFile(join(config.dataDir, 'state/build.duckdb'), 'abc')

    await expect(readKnownFiles(config, signal, 2)).rejects.toThrow('3 bytes, too much')
  })
})

describe('tokenboard status', () => {
  it('compares the files with those that the last build read, and exits with 1 when the release is stale', async () => {
    const gateway = await newGateway()
    for (const day of ['06', '07', '08', '09'])
      await gateway.deliver(`${day}.csv`, [useOn(`2025-03-${day}`, 'acme/one', 5)])
    await gateway.build(NOON)
    await gateway.deliver('10.csv', [useOn('2025-03-10', 'acme/one', 5)])
    await gateway.deliver('09.csv', [useOn('2025-03-09', 'acme/one', 123456)])
    await utimes(gateway.path('08.csv'), 1, 1)
    await gateway.takeAway('07.csv')
    const before = await snapshotTree(gateway.workspace.root)

    const { code, stdout } = await gateway.run(['status', '--json'], '2025-03-10T13:00:00Z')
    expect(code).toBe(0)
    const status: Status = JSON.parse(stdout)
    expect(status).toMatchObject({ state: 'fresh', age_seconds: 3600, last_build: null, problems: [] })
    expect(status.next_build?.sources).toMatchObject([{ source: 'gateway', files: 4, new: 1, changed: 2, missing: 1 }])

    const stale = await runCli(['status'], settings(gateway.workspace, '2025-03-13T00:00:00Z'))
    expect([stale.code, stale.stderr]).toEqual([1, ''])
    expect(stale.stdout).toMatch(/^stale: release 20250310T120000Z is 2 days old/)
    expect(stale.stdout).toMatch(/\nsource +files +bytes +new +changed +missing\ngateway +4 +\d+ bytes +1 +2 +1\n$/)
    expect(await snapshotTree(gateway.workspace.root)).toEqual(before)
  })
})
