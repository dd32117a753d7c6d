/** Closing of dates: what it says, what it leaves when it is stopped, and what it does beside other sources and files. */
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { type ArchiveSummary, archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { crashAfter, LOST, recordSteps } from '../support/crash.ts'
import { copyOf, Gateway, newGateway, useOn } from '../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  releaseFolder,
  removeWorkspace,
  runCli,
  settings,
  snapshotTree,
  writeInput,
} from '../support/pipeline.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1' })
const THURSDAY = useOn('2025-03-06', 'acme/thursday', 40, { request_id: 'h1' })
const ROWS = ['2025-03-03 acme/monday 10', '2025-03-04 acme/tuesday 20', '2025-03-06 acme/thursday 40']
const BEFORE = '2025-03-06'

/** Has built Monday's file, and one that holds Tuesday and Thursday; tests begin with copies of it. */
let built: Gateway
/** The same where `keep` has kept the records of Monday's file. */
let kept: Gateway
/** The same where all dates before `BEFORE` are closed. */
let closed: Gateway

beforeAll(async () => {
  built = await buildFiles({})
  closed = await buildFiles({})
  await close(closed)
  kept = await buildFiles({ on_missing: 'keep' })
  await kept.takeAway('monday.csv')
  expect(await kept.rows()).toEqual(ROWS)
})

afterAll(async () => {
  for (const { workspace } of [built, kept, closed]) await removeWorkspace(workspace)
})

async function buildFiles(top: Record<string, unknown>): Promise<Gateway> {
  const gateway = new Gateway(await createWorkspace())
  await gateway.configure(top)
  await gateway.deliver('monday.csv', [MONDAY])
  await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY])
  // A copy of a file has its time to the millisecond, and is to be no file that was touched.
  await utimes(gateway.path('monday.csv'), 0, new Date('2025-03-03T23:59:59Z'))
  await utimes(gateway.path('tuesday.ndjson'), 0, new Date('2025-03-06T23:59:59Z'))
  expect(await gateway.rows()).toEqual(ROWS)
  return gateway
}

function close(
  gateway: Gateway,
  { before = BEFORE, dryRun = false, ...effects }: Partial<Effects> & { before?: string; dryRun?: boolean } = {},
): Promise<ArchiveSummary> {
  const config = readPipelineConfig(settings(gateway.workspace, gateway.later()))
  const { signal } = new AbortController()
  const now = () => new Date('2026-11-20T00:12:00Z')
  return archiveDates(config, { now, report: () => {}, signal, files: realFiles, ...effects }, { before, dryRun })
}

function archiveFolder(gateway: Gateway): string {
  return join(gateway.workspace.dataDir, 'archive')
}

/** What the archive holds; the names alone of what is not part of it. */
async function parts(gateway: Gateway): Promise<string[]> {
  const folder = join(archiveFolder(gateway), 'dates')
  return existsSync(folder) ? (await readdir(folder)).sort() : []
}

function rawFile(gateway: Gateway, name: string): ArchiveSummary['deletable_files'][number] {
  return { source: 'gateway', file: `raw/${name}`, path: gateway.path(name) }
}

describe('the summary', () => {
  it('says what was archived, and which raw files may be deleted', async () => {
    const gateway = await copyOf(built)
    const summary = await close(gateway)
    expect(summary).toEqual({
      outcome: 'archived',
      before: BEFORE,
      as_of: '2025-03-10T12:02:00Z',
      records: 2,
      sources: [{ source: 'gateway', start_date: '2025-03-03', end_date: '2025-03-04', dates: 2, records: 2 }],
      deletable_files: [rawFile(gateway, 'monday.csv')],
      needed_files: [{ ...rawFile(gateway, 'tuesday.ndjson'), records_left: 1 }],
      path: join(archiveFolder(gateway), 'dates', BEFORE),
    })
  })

  it('is the same of a dry run, which keeps nothing', async () => {
    const gateway = await copyOf(built)
    const before = await snapshotTree(gateway.workspace.root)
    const { outcome, as_of: _, ...dry } = await close(gateway, { dryRun: true })
    expect(outcome).toBe('would_archive')
    expect(await snapshotTree(gateway.workspace.root)).toEqual(before)
    const { path, ...real } = await close(gateway)
    expect(real).toMatchObject(dry)
  })

  it('says of a second call that there is nothing to do, and the files that may go all the same', async () => {
    const gateway = await copyOf(closed)
    const archive = await snapshotTree(archiveFolder(gateway))
    for (const before of [BEFORE, '2025-03-04', '2025-01-01']) {
      const summary = await close(gateway, { before })
      expect(summary).toMatchObject({ outcome: 'unchanged', records: 0, sources: [] })
      expect(summary.deletable_files).toEqual([rawFile(gateway, 'monday.csv')])
      expect(summary).not.toHaveProperty('path')
    }
    expect(await snapshotTree(archiveFolder(gateway))).toEqual(archive)
  })

  it('makes no archive where there is nothing to put in', async () => {
    const gateway = await copyOf(built)
    expect((await close(gateway, { before: '2025-03-03' })).outcome).toBe('unchanged')
    expect(existsSync(archiveFolder(gateway))).toBe(false)
  })

  it('stands on stdout with --json, and in words on stderr', async () => {
    const gateway = await copyOf(built)
    const dry = await gateway.run(['archive', '--before', BEFORE, '--dry-run', '--json'])
    expect([dry.code, JSON.parse(dry.stdout).outcome]).toEqual([0, 'would_archive'])
    expect(dry.stderr).toContain('dry run: 2 records')
    const { code, stdout, stderr } = await gateway.run(['archive', '--before', BEFORE, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'archived', deletable_files: [{ file: 'raw/monday.csv' }] })
    expect(stderr).toContain('archived 2 records of dates before 2025-03-06')
    expect(stderr).toMatch(/gateway +2 records, 2 dates, 2025-03-03 to 2025-03-04/)
    expect(stderr).toMatch(/1 raw file may be deleted.*\n +raw\/monday\.csv\n/)
    expect(stderr).toContain('raw/tuesday.ndjson: 1 record not archived')
    expect(stderr).toContain(join(archiveFolder(gateway), 'dates', BEFORE))
    const again = await gateway.run(['archive', '--before', BEFORE])
    expect([again.code, again.stdout]).toEqual([0, ''])
    expect(again.stderr).toContain('nothing to archive')
  })

  it('lets a file go that has records without a date besides', async () => {
    const gateway = await copyOf(built)
    await gateway.configure({ max_rejected_share: 0.5 })
    await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm2', timestamp: 'soon' }])
    expect((await close(gateway)).deletable_files).toEqual([rawFile(gateway, 'monday.csv')])
    await gateway.takeAway('monday.csv')
    expect(await gateway.rows()).toEqual(ROWS)
  })
})

describe('closing stops', () => {
  it('for a larger share of rejected records than a build takes', async () => {
    const gateway = await copyOf(built)
    await gateway.deliver('bad.csv', [{ ...MONDAY, prompt_tokens: 'many' }])
    const closing = close(gateway)
    await expect(closing).rejects.toThrow(/1 of 4 records .*max_rejected_share(.|\n)*bad\.csv/)
    await expect(closing).rejects.toBeInstanceOf(BuildError)
    expect(existsSync(archiveFolder(gateway))).toBe(false)
  })

  it('for a file that cannot be read whole', async () => {
    const gateway = await copyOf(built)
    await writeInput(gateway.workspace, 'raw/cut.csv.gz', new Uint8Array([0x1f, 0x8b, 8, 0, 0]))
    await expect(close(gateway)).rejects.toThrow(/cut\.csv\.gz/)
    expect(existsSync(archiveFolder(gateway))).toBe(false)
  })

  it('where there are no sources but the synthetic sample', async () => {
    const { root, dataDir, publicDir } = await newWorkspace()
    const environment = { DATA_DIR: dataDir, PUBLIC_DIR: publicDir }
    const { code, stderr } = await runCli(['archive', '--before', '2025-03-01'], environment, root)
    expect(code).toBe(2)
    expect(stderr).toMatch(/synthetic sample is not archived/)
    expect(await readdir(dataDir)).toEqual(['publisher.json'])
  })

  it('when it is interrupted, and leaves the archive as it was', async () => {
    const gateway = await copyOf(built)
    const controller = new AbortController()
    const interrupted = close(gateway, {
      signal: controller.signal,
      files: { ...realFiles, makeFolder: (path) => abortAt(path).then(() => realFiles.makeFolder(path)) },
    })
    async function abortAt(path: string): Promise<void> {
      if (path.includes('.staging')) controller.abort()
    }
    await expect(interrupted).rejects.toThrow(/abort/i)
    expect(await parts(gateway)).toEqual([])
    await gateway.takeAway('monday.csv')
    expect(await gateway.failure()).toContain('monday.csv')
  })
})

it('a machine lost at any step leaves the former archive or the new one whole', async () => {
  const original = await copyOf(built)
  await close(original, { before: '2025-03-04' })
  const { files, steps } = recordSteps()
  await close(await copyOf(original), { files })
  expect(steps.length).toBeGreaterThan(10)
  const left = new Set<string>()
  // Some of the steps, and always the last one, before which the new archive is there; `make soak` stops at every one.
  for (let last = (steps.length - 1) % 9; last < steps.length; last += 9) {
    const gateway = await copyOf(original)
    await expect(close(gateway, { files: crashAfter(last) }), `after step ${last}`).rejects.toThrow(LOST)
    const held = (await parts(gateway)).filter((name) => !name.startsWith('.'))
    left.add(held.join())
    expect(await gateway.rows(), `after step ${last}`).toEqual(ROWS)
    await close(gateway)
    expect(await parts(gateway), `after step ${last}`).toEqual(['2025-03-04', BEFORE])
    await gateway.takeAway('monday.csv')
    await gateway.forget()
    expect(await gateway.rows(), `after step ${last}`).toEqual(ROWS)
  }
  expect([...left]).toEqual(['2025-03-04', `2025-03-04,${BEFORE}`])
})

describe('several sources', () => {
  const source = (name: string) => ({
    name,
    schema: 'canonical',
    files: [`raw/${name}*`],
    visibility: 'public',
  })
  const PARTNER = ['2025-03-03 partner/old 5', '2025-03-04 acme/tuesday 20']

  /** Monday and Tuesday of the first source are closed when the second one comes. */
  let withPartner: Gateway

  beforeAll(async () => {
    withPartner = new Gateway(await createWorkspace())
    await withPartner.configure({ sources: [source('monday'), source('tuesday')] })
    await withPartner.deliver('monday.csv', [MONDAY])
    await withPartner.deliver('tuesday.ndjson', [TUESDAY, THURSDAY])
    await close(withPartner)
    await withPartner.configure({ sources: [source('monday'), source('tuesday'), source('partner')] })
    await withPartner.deliver('partner.csv', [useOn('2025-03-03', 'partner/old', 5)])
  })

  afterAll(() => removeWorkspace(withPartner.workspace))

  it('count their old dates where they come after those of others were closed', async () => {
    const gateway = await copyOf(withPartner)
    expect(await gateway.rows()).toEqual([ROWS[0], ...PARTNER, ROWS[2]])
  })

  it('are each closed once, in parts of their own', async () => {
    const gateway = await copyOf(withPartner)
    expect((await close(gateway)).sources.map((part) => part.source)).toEqual(['partner'])
    expect(await parts(gateway)).toEqual([BEFORE, `${BEFORE}.2`])
    await gateway.takeAway('monday.csv')
    await gateway.takeAway('partner.csv')
    await gateway.forget()
    expect(await gateway.rows()).toEqual([ROWS[0], ...PARTNER, ROWS[2]])
    expect((await close(gateway)).outcome).toBe('unchanged')
  })

  it('stay open where they have nothing to close', async () => {
    const gateway = await newGateway({ sources: [source('monday'), source('tuesday')] })
    await gateway.deliver('monday.csv', [MONDAY])
    expect((await close(gateway)).sources.map((part) => part.source)).toEqual(['monday'])
    await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY])
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('cannot leave the sources file when dates of them are archived', async () => {
    const gateway = await copyOf(withPartner)
    await gateway.rows()
    await gateway.configure({ sources: [source('tuesday'), source('partner')] })
    const before = await snapshotTree(gateway.workspace.publicDir)
    const building = buildIn(gateway.workspace, gateway.later())
    await expect(building).rejects.toThrow(/archive has dates of source "monday"/)
    await expect(building).rejects.toBeInstanceOf(CliError)
    expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(before)
    await gateway.configure({
      sources: [{ ...source('monday'), visibility: 'private' }, source('tuesday'), source('partner')],
    })
    expect(await gateway.rows()).toEqual([...PARTNER, ROWS[2]])
  })
})

describe('records that come late', () => {
  async function late(gateway: Gateway): Promise<{ records: number; notice: string | undefined; rows: string[] }> {
    const { summary, notices, rows } = await gateway.build()
    const notice = notices.find((text) => text.includes('came after their date was archived'))
    return { records: summary.records.archived_date, notice, rows }
  }
  const more = (ids: string[]) => ids.map((request_id) => ({ ...MONDAY, request_id }))

  it('are told of by source and file', async () => {
    const gateway = await copyOf(closed)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      await gateway.deliver(`late-${name}.csv`, more([name, `${name}2`]))
    const { records, notice, rows } = await late(gateway)
    expect(rows).toEqual(ROWS)
    expect(records).toBe(12)
    expect(notice).toMatch(
      /^source "gateway": 12 records .*: raw\/late-a\.csv \(2 records\), .*late-e.* and 1 more files$/,
    )
    const { stderr } = await gateway.run(['build'])
    expect(stderr).toContain('12 of dates that were archived before they came')
  })

  it('stand in quality.json by date', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('late.csv', [...more(['m2', 'm3']), { ...TUESDAY, request_id: 't2' }])
    await gateway.deliver('later.csv', [{ ...THURSDAY, request_id: 'h2' }])
    await gateway.build()
    const quality = JSON.parse(await readFile(join(await releaseFolder(gateway.workspace), 'quality.json'), 'utf8'))
    expect(quality.records.archived_date).toBe(3)
    expect(quality.days).toEqual([
      { date: '2025-03-03', reason: 'archived_date', records: 2 },
      { date: '2025-03-04', reason: 'archived_date', records: 1 },
    ])
  })

  it('keep their file from being deleted: it holds what is not archived', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('late.csv', more(['m2', 'm3']))
    const { needed_files } = await close(gateway)
    expect(needed_files[0]).toEqual({ ...rawFile(gateway, 'late.csv'), records_left: 2 })
    await gateway.takeAway('late.csv')
    expect(await late(gateway)).toEqual({ records: 0, notice: undefined, rows: ROWS })
  })

  it('are the new ones alone of a file that grew', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('monday.csv', [MONDAY, ...more(['m2', 'm3'])])
    expect(await late(gateway)).toMatchObject({ records: 2, rows: ROWS })
    await gateway.forget()
    expect(await late(gateway)).toMatchObject({ records: 2, rows: ROWS })
  })

  it('are all of a new file that took the name of an archived one which was renamed', async () => {
    const gateway = await copyOf(closed)
    await gateway.rename('monday.csv', 'monday.csv.1.csv')
    await gateway.deliver('monday.csv', more(['m2']))
    expect(await late(gateway)).toMatchObject({ records: 1, rows: ROWS })
  })

  it('are not those of an archived file that came back, under whatever name', async () => {
    const gateway = await copyOf(closed)
    await gateway.takeAway('monday.csv')
    await gateway.build()
    await gateway.deliver('restored.csv', [MONDAY])
    expect(await late(gateway)).toEqual({ records: 0, notice: undefined, rows: ROWS })
  })

  it('are not those of a file that was archived in several parts, and grew between them', async () => {
    const gateway = await copyOf(built)
    await close(gateway, { before: '2025-03-05' })
    await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY, { ...THURSDAY, request_id: 'h2' }])
    expect((await close(gateway, { before: '2025-03-07' })).needed_files).toEqual([])
    expect(await late(gateway)).toMatchObject({ records: 0 })
  })
})

describe('a damaged archive', () => {
  /** Changes each file below a folder of copies of a gateway, and expects the build to name it. */
  async function damageEach(original: Gateway, folder: string): Promise<void> {
    const root = join(archiveFolder(original), folder)
    const names = Object.entries(await snapshotTree(root)).flatMap(([name, kind]) => (kind === 'folder' ? [] : [name]))
    expect(names.length).toBeGreaterThan(3)
    for (const name of names) {
      const gateway = await copyOf(original)
      const path = join(archiveFolder(gateway), folder, name)
      const bytes = await readFile(path)
      for (const position of [0, bytes.length >> 1, bytes.length - 1]) {
        const damaged = Buffer.from(bytes)
        damaged.writeUInt8(bytes.readUInt8(position) ^ 1, position)
        await writeFile(path, damaged)
        expect(await gateway.failure(), `${name} at ${position}`).toContain(name.split('/').at(-1))
      }
      await rm(path)
      expect(await gateway.failure(), `${name} away`).toContain(name.split('/').at(-1))
    }
  }

  it('of closed dates stops the build', async () => {
    await damageEach(closed, 'dates')
  })

  it('of files that are gone stops the build', async () => {
    await damageEach(kept, 'files')
  })

  it('stops archiving, and says to a dry run where it really lies', async () => {
    const gateway = await copyOf(kept)
    const [name = ''] = await readdir(join(archiveFolder(gateway), 'files'))
    const path = join(archiveFolder(gateway), 'files', name, 'sums.parquet')
    await writeFile(path, 'no Parquet')
    for (const dryRun of [true, false]) await expect(close(gateway, { dryRun })).rejects.toThrow(path)
  })

  it('stops the build where a part is missing before or between others', async () => {
    const gateway = await copyOf(built)
    for (const before of ['2025-03-04', '2025-03-05', '2025-03-07']) await close(gateway, { before })
    const parts = join(archiveFolder(gateway), 'dates')
    for (const missing of ['2025-03-04', '2025-03-05']) {
      await rename(join(parts, missing), join(parts, '.aside'))
      expect(await gateway.failure()).toContain(`"gateway": the part that ends before ${missing} is missing`)
      await rename(join(parts, '.aside'), join(parts, missing))
    }
  })

  it('stops the build where something lies in a part that does not belong there', async () => {
    const gateway = await copyOf(closed)
    await writeFile(join(archiveFolder(gateway), 'dates', BEFORE, 'usage-1.parquet'), '')
    expect(await gateway.failure()).toMatch(/usage-1\.parquet is not listed in SHA256SUMS/)
  })
})
