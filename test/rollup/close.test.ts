/** `tokenboard archive`: what it says and keeps, how archived dates outlive their raw files, and what damages them. */
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { ArchiveSummary } from '../../pipeline/rollup/archive-dates.ts'
import { crashAfter, LOST, recordSteps } from '../support/crash.ts'
import { copyOf, Gateway, newGateway, useOn } from '../support/gateway.ts'
import {
  archiveIn,
  buildIn,
  createWorkspace,
  newWorkspace,
  releaseFolder,
  removeWorkspace,
  runCli,
  snapshotTree,
  writeInput,
} from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'
import { HASH_A, HASH_B, readUsageOf } from '../support/usage.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1', api_key_hash: HASH_A, cost_usd: '1.5' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1', api_key_hash: HASH_B, cost_usd: '2' })
const THURSDAY = useOn('2025-03-06', 'acme/thursday', 40, { request_id: 'h1', api_key_hash: HASH_A, cost_usd: '4' })
const ROWS = ['2025-03-03 acme/monday 10', '2025-03-04 acme/tuesday 20', '2025-03-06 acme/thursday 40']
const [MONDAY_ROW = '', TUESDAY_ROW = '', THURSDAY_ROW = ''] = ROWS
/** Everything before this date is archived: Monday's file, and one of the two records of Tuesday's. */
const BEFORE = '2025-03-06'
/** The builds are on 10 March: this is the first date that is not final. */
const LATEST_BEFORE = '2025-03-07'

/** Has built Monday's file, and one that holds Tuesday and Thursday; tests begin with copies of it. */
let built: Gateway
/** The same after `keep` has kept the records of Monday's file. */
let kept: Gateway
/** The same after all dates before `BEFORE` were archived. */
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
  // A copy of a file keeps its time only to the millisecond.
  await utimes(gateway.path('monday.csv'), 0, new Date('2025-03-03T23:59:59Z'))
  await utimes(gateway.path('tuesday.ndjson'), 0, new Date('2025-03-06T23:59:59Z'))
  expect(await gateway.rows()).toEqual(ROWS)
  return gateway
}

function close(
  gateway: Gateway,
  { before = BEFORE, ...effects }: Parameters<typeof archiveIn>[3] & { before?: string } = {},
): Promise<ArchiveSummary> {
  return archiveIn(gateway.workspace, before, gateway.later(), effects)
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

/** Expects rows of the next build, and of one without its state. */
async function expectRows(gateway: Gateway, rows: string[]): Promise<void> {
  expect(await gateway.rows()).toEqual(rows)
  await gateway.forget()
  expect(await gateway.rows()).toEqual(rows)
}

describe('archive', () => {
  it('sums up what it archived and which raw files may be deleted, and does so once', async () => {
    const gateway = await copyOf(built)
    expect((await close(gateway, { before: '2025-03-03' })).outcome).toBe('unchanged')
    const before = await snapshotTree(gateway.workspace.root)
    const { outcome, as_of: _, ...dry } = await close(gateway, { dryRun: true })
    expect(outcome).toBe('would_archive')
    expect(await snapshotTree(gateway.workspace.root)).toEqual(before)

    const published = await snapshotTree(gateway.workspace.publicDir)
    const summary = await close(gateway)
    expect(summary).toMatchObject(dry)
    expect(summary).toEqual({
      outcome: 'archived',
      before: BEFORE,
      as_of: '2025-03-10T12:04:00Z',
      records: 2,
      sources: [{ source: 'gateway', start_date: '2025-03-03', end_date: '2025-03-04', dates: 2, records: 2 }],
      deletable_files: [rawFile(gateway, 'monday.csv')],
      needed_files: [{ ...rawFile(gateway, 'tuesday.ndjson'), records_left: 1 }],
      path: join(archiveFolder(gateway), 'dates', BEFORE),
    })
    expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(published)

    const archive = await snapshotTree(archiveFolder(gateway))
    for (const earlier of [BEFORE, '2025-03-04', '2025-01-01']) {
      const again = await close(gateway, { before: earlier })
      expect(again).toMatchObject({ outcome: 'unchanged', records: 0, sources: [] })
      expect(again.deletable_files).toEqual([rawFile(gateway, 'monday.csv')])
      expect(again).not.toHaveProperty('path')
    }
    expect(await snapshotTree(archiveFolder(gateway))).toEqual(archive)
  })

  it('prints the summary as text to stderr, and with --json to stdout', async () => {
    const gateway = await copyOf(built)
    // It takes no date after the first that is not final.
    const refused = await gateway.run(['archive', '--before', '2025-03-08'])
    expect([refused.code > 0, refused.stderr]).toEqual([true, expect.stringContaining(LATEST_BEFORE)])
    expect(await parts(gateway)).toEqual([])
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
  })

  it('lists a file for deletion that has rejected records without a date besides archived ones', async () => {
    const gateway = await copyOf(built)
    await gateway.configure({ max_rejected_share: 0.5 })
    await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm2', timestamp: 'soon' }])
    expect((await close(gateway)).deletable_files).toEqual([rawFile(gateway, 'monday.csv')])
    await gateway.takeAway('monday.csv')
    expect(await gateway.rows()).toEqual(ROWS)
  })
})

describe('archive that cannot finish', () => {
  it('fails and writes nothing if too many records are rejected, or a file cannot be read to its end', async () => {
    const gateway = await copyOf(built)
    await gateway.deliver('bad.csv', [{ ...MONDAY, prompt_tokens: 'many' }])
    const closing = close(gateway)
    await expect(closing).rejects.toThrow(/1 of 4 records .*max_rejected_share(.|\n)*bad\.csv/)
    await expect(closing).rejects.toBeInstanceOf(BuildError)
    await writeInput(gateway.workspace, 'raw/cut.csv.gz', new Uint8Array([0x1f, 0x8b, 8, 0, 0]))
    await expect(close(gateway)).rejects.toThrow(/cut\.csv\.gz/)
    expect(existsSync(archiveFolder(gateway))).toBe(false)
  })

  it('refuses the synthetic sample', async () => {
    const { root, dataDir, publicDir } = await newWorkspace()
    const environment = { DATA_DIR: dataDir, PUBLIC_DIR: publicDir }
    const { code, stderr } = await runCli(['archive', '--before', '2025-03-01'], environment, root)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/synthetic sample is not archived/)])
    expect(await readdir(dataDir)).toEqual(['publisher.json'])
  })
})

it('a machine lost at any step of archive leaves the previous archive or the new one whole', async () => {
  const original = await copyOf(built)
  await close(original, { before: '2025-03-04' })
  const { files, steps } = recordSteps()
  await close(await copyOf(original), { files })
  expect(steps.length).toBeGreaterThan(10)
  const left = new Set<string>()
  const controller = new AbortController()
  const aborting = {
    ...realFiles,
    makeFolder(path: string) {
      if (path.includes('.staging')) controller.abort()
      return realFiles.makeFolder(path)
    },
  }
  const interrupted = await copyOf(original)
  await expect(close(interrupted, { files: aborting, signal: controller.signal })).rejects.toThrow(/abort/i)
  expect(await parts(interrupted)).toEqual(['2025-03-04'])
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

describe('raw files of archived dates', () => {
  it('can be deleted whatever on_missing says: rankings and usage of keys stay, with the state and without', async () => {
    const gateway = await copyOf(closed)
    const usage = (await readUsageOf(gateway.workspace)).rows
    await gateway.forget()
    expect(await gateway.rows()).toEqual(ROWS)
    expect(usage.map(({ date, cost_usd }) => `${date} ${cost_usd}`)).toEqual([
      '2025-03-03 1.5',
      '2025-03-04 2',
      '2025-03-06 4',
    ])
    await gateway.takeAway('monday.csv')
    for (const on_missing of ['fail', 'keep', 'remove']) {
      await gateway.configure({ on_missing })
      expect((await gateway.build()).summary.outcome).toBe('unchanged')
    }
    await expectRows(gateway, ROWS)
    expect((await readUsageOf(gateway.workspace)).rows).toEqual(usage)
    await close(gateway, { before: LATEST_BEFORE })
    await gateway.takeAway('tuesday.ndjson')
    await expectRows(gateway, ROWS)
    await gateway.deliver('saturday.csv', [useOn('2025-03-08', 'acme/saturday', 60)])
    expect(await gateway.rows()).toEqual([...ROWS, '2025-03-08 acme/saturday 60'])
  })

  it('still count for their later dates, and are missed', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('tuesday.ndjson', [TUESDAY, { ...THURSDAY, prompt_tokens: '41' }])
    await expectRows(gateway, [MONDAY_ROW, TUESDAY_ROW, '2025-03-06 acme/thursday 41'])
    await gateway.takeAway('tuesday.ndjson')
    expect(await gateway.failure()).toContain('raw/tuesday.ndjson')
    await gateway.configure({ on_missing: 'remove' })
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

it('the registry still decides about archived dates, and names withheld models of them', async () => {
  const models = (monday: Record<string, unknown>) => [
    { model_permaslug: 'acme/monday', aliases: [], public: true, ...monday },
    ...['tuesday', 'thursday'].map((day) => ({ model_permaslug: `acme/${day}`, aliases: [], public: true })),
  ]
  const gateway = await newGateway({ models: 'models.json' }, { visibility: 'registry' })
  await writeInput(gateway.workspace, 'models.json', models({}))
  await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm2', model_permaslug: 'unlisted' }])
  await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY])
  await close(gateway)
  await gateway.takeAway('monday.csv')
  const { rows, summary } = await gateway.build()
  expect(rows).toEqual(ROWS)
  expect(summary.records.withheld).toMatchObject([{ model: 'unlisted', records: 1, tokens: '10' }])
  await writeInput(gateway.workspace, 'models.json', models({ public: false }))
  expect(await gateway.rows()).toEqual([TUESDAY_ROW, THURSDAY_ROW])
  await writeInput(gateway.workspace, 'models.json', models({ aliases: ['unlisted'] }))
  await expectRows(gateway, ['2025-03-03 acme/monday 20', TUESDAY_ROW, THURSDAY_ROW])
})

describe('several sources', () => {
  const source = (name: string) => ({ name, schema: 'canonical', files: [`raw/${name}*`], visibility: 'public' })
  const PARTNER = ['2025-03-03 partner/old 5', TUESDAY_ROW]

  it('are archived once each, in parts of their own, also a source that comes later', async () => {
    const sources = [source('monday'), source('tuesday'), source('partner')]
    const gateway = await newGateway({ sources })
    await gateway.deliver('monday.csv', [MONDAY])
    await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY])
    // One without records is not.
    expect((await close(gateway)).sources.map((part) => part.source)).toEqual(['monday', 'tuesday'])
    await gateway.deliver('partner.csv', [useOn('2025-03-03', 'partner/old', 5)])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, ...PARTNER, THURSDAY_ROW])
    expect((await close(gateway)).sources.map((part) => part.source)).toEqual(['partner'])
    expect(await parts(gateway)).toEqual([BEFORE, `${BEFORE}.2`])
    for (const name of ['monday.csv', 'partner.csv']) await gateway.takeAway(name)
    await gateway.forget()
    expect(await gateway.rows()).toEqual([MONDAY_ROW, ...PARTNER, THURSDAY_ROW])
    expect((await close(gateway)).outcome).toBe('unchanged')

    // A source of which dates are archived cannot leave the sources file.
    await gateway.configure({ sources: [source('tuesday'), source('partner')] })
    const building = buildIn(gateway.workspace, gateway.later())
    await expect(building).rejects.toThrow(/archive has dates of source "monday"/)
    await expect(building).rejects.toBeInstanceOf(CliError)
    await gateway.configure({
      sources: [{ ...source('monday'), visibility: 'private' }, source('tuesday'), source('partner')],
    })
    expect(await gateway.rows()).toEqual([...PARTNER, THURSDAY_ROW])
  })
})

describe('late records of archived dates', () => {
  async function late(gateway: Gateway): Promise<{ records: number; notice: string | undefined; rows: string[] }> {
    const { summary, notices, rows } = await gateway.build()
    const notice = notices.find((text) => text.includes('came after their date was archived'))
    return { records: summary.records.archived_date, notice, rows }
  }
  const more = (ids: string[]): FileRecord[] => ids.map((request_id) => ({ ...MONDAY, request_id }))

  it('are excluded, counted by date in quality.json, and reported by source and file', async () => {
    const gateway = await copyOf(closed)
    await gateway.takeAway('monday.csv')
    for (const name of ['a', 'b', 'c', 'd', 'e']) await gateway.deliver(`late-${name}.csv`, more([name, `${name}2`]))
    const copies = [
      { ...MONDAY, prompt_tokens: '999' },
      { ...TUESDAY, model_permaslug: 'zz' },
    ]
    await gateway.deliver('late-f.csv', [...copies, useOn('2025-03-06', 'acme/thursday', 2, { request_id: 'h2' })])
    const { records, notice, rows } = await late(gateway)
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW, '2025-03-06 acme/thursday 42'])
    expect(records).toBe(12)
    expect(notice).toMatch(
      /^source "gateway": 12 records .*: raw\/late-a\.csv \(2 records\), .*late-e.* and 1 more file$/,
    )
    const { stderr } = await gateway.run(['build'])
    expect(stderr).toContain('12 of dates that were archived before they came')
    const quality = JSON.parse(await readFile(join(await releaseFolder(gateway.workspace), 'quality.json'), 'utf8'))
    expect(quality.records.archived_date).toBe(12)
    expect(quality.days).toEqual([
      { date: '2025-03-03', reason: 'archived_date', records: 11 },
      { date: '2025-03-04', reason: 'archived_date', records: 1 },
    ])
  })

  it('keep their file needed until it is deleted', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('late.csv', more(['m2', 'm3']))
    const { needed_files } = await close(gateway)
    expect(needed_files[0]).toEqual({ ...rawFile(gateway, 'late.csv'), records_left: 2 })
    await gateway.takeAway('late.csv')
    expect(await late(gateway)).toEqual({ records: 0, notice: undefined, rows: ROWS })
    // Nor are those late of an archived file that comes back under another name.
    await gateway.takeAway('monday.csv')
    await gateway.build()
    await gateway.deliver('restored.csv', [MONDAY])
    expect(await late(gateway)).toEqual({ records: 0, notice: undefined, rows: ROWS })
  })

  it('are only the new ones of a file that grew, and all of a new file with the name of a renamed one', async () => {
    const gateway = await copyOf(closed)
    await gateway.deliver('monday.csv', [MONDAY, ...more(['m2', 'm3'])])
    expect(await late(gateway)).toMatchObject({ records: 2, rows: ROWS })
    await gateway.forget()
    expect(await late(gateway)).toMatchObject({ records: 2, rows: ROWS })
    await gateway.rename('monday.csv', 'monday.csv.1.csv')
    await gateway.deliver('monday.csv', more(['m4']))
    expect(await late(gateway)).toMatchObject({ records: 3, rows: ROWS })
  })

  it('are not those of a file that was archived in several parts, and grew between them', async () => {
    const gateway = await copyOf(built)
    await close(gateway, { before: '2025-03-05' })
    await gateway.deliver('tuesday.ndjson', [TUESDAY, THURSDAY, { ...THURSDAY, request_id: 'h2' }])
    expect((await close(gateway, { before: LATEST_BEFORE })).needed_files).toEqual([])
    expect(await late(gateway)).toMatchObject({ records: 0 })
  })
})

describe('a damaged archive', () => {
  it.each([
    ['archived dates', 'dates', () => closed],
    ['kept files', 'files', () => kept],
  ])('stops builds and archives, which name each changed and each missing file of %s', async (_, folder, original) => {
    const gateway = await copyOf(original())
    const root = join(archiveFolder(gateway), folder)
    const names = Object.entries(await snapshotTree(root)).flatMap(([name, kind]) => (kind === 'folder' ? [] : [name]))
    expect(names.length).toBeGreaterThan(3)
    for (const [index, name] of names.entries()) {
      const path = join(root, name)
      const bytes = await readFile(path)
      const damaged = Buffer.from(bytes)
      const position = [0, bytes.length >> 1, bytes.length - 1][index % 3] ?? 0
      damaged.writeUInt8(bytes.readUInt8(position) ^ 1, position)
      await writeFile(path, damaged)
      expect(await gateway.failure(), `${name} at ${position}`).toContain(name.split('/').at(-1))
      await rm(path)
      expect(await gateway.failure(), `${name} away`).toContain(name.split('/').at(-1))
      await writeFile(path, bytes)
    }
    expect(await gateway.rows()).toEqual(ROWS)
    const path = join(root, names.find((name) => name.endsWith('.parquet')) ?? '')
    await writeFile(path, 'no Parquet')
    for (const dryRun of [true, false]) await expect(close(gateway, { dryRun })).rejects.toThrow(path)
  })

  it('stops the build if a part is missing before or between others, or has another file', async () => {
    const gateway = await copyOf(built)
    for (const before of ['2025-03-04', '2025-03-05', LATEST_BEFORE]) await close(gateway, { before })
    const folder = join(archiveFolder(gateway), 'dates')
    for (const missing of ['2025-03-04', '2025-03-05']) {
      await rename(join(folder, missing), join(folder, '.aside'))
      expect(await gateway.failure()).toContain(`"gateway": the part that ends before ${missing} is missing`)
      await rename(join(folder, '.aside'), join(folder, missing))
    }
    await writeFile(join(folder, '2025-03-04', 'usage-1.parquet'), '')
    expect(await gateway.failure()).toMatch(/usage-1\.parquet is not listed in SHA256SUMS/)
  })
})
