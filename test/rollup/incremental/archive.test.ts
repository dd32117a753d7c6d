/** `tokenboard archive`: closed days outlive their raw logs (DESIGN.md §5, sources file). */
import { cp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../../pipeline/base/config.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { UtcDate } from '../../../pipeline/contract/utc-date.ts'
import { type ArchiveSummary, archiveDates } from '../../../pipeline/rollup/archive-dates.ts'
import { copyOf, Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { createWorkspace, removeWorkspace, settings, snapshotTree, writeInput } from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'
import { HASH_A, HASH_B, readUsageOf } from '../../support/usage.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1', api_key_hash: HASH_A, cost_usd: '1.5' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1', api_key_hash: HASH_B, cost_usd: '2' })
const THURSDAY = useOn('2025-03-06', 'acme/thursday', 40, { request_id: 'h1', api_key_hash: HASH_A, cost_usd: '4' })
const SATURDAY = useOn('2025-03-08', 'acme/saturday', 60, { request_id: 's1' })

const ROWS = [
  '2025-03-03 acme/monday 10',
  '2025-03-04 acme/tuesday 20',
  '2025-03-06 acme/thursday 40',
  '2025-03-08 acme/saturday 60',
]
const [MONDAY_ROW, TUESDAY_ROW, THURSDAY_ROW, SATURDAY_ROW] = ROWS

/** Everything before this date is to be archived: Monday's file, and half of Tuesday's. */
const BEFORE = '2025-03-06'
/** The builds are on 10 March: 7 March is the first date that is not final yet. */
const LATEST_BEFORE = '2025-03-07'
const NEXT_DAY = '2025-03-11T12:00:00Z'

/** Built once, and a copy of it that the command has archived: tests begin with copies of them. */
let built: Gateway
let archived: Gateway

beforeAll(async () => {
  built = await emptyGateway()
  await built.configure()
  await deliverAll(built, [MONDAY])
  expect(await built.rows()).toEqual(ROWS)
  archived = await emptyGateway(built.minute)
  await cp(built.workspace.root, archived.workspace.root, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  })
  const { code, stderr } = await archived.run(['archive', '--before', BEFORE])
  expect(code, stderr).toBe(0)
})

afterAll(async () => {
  for (const { workspace } of [built, archived]) await removeWorkspace(workspace)
})

/** For several tests: who asks for it removes it. */
async function emptyGateway(minute = 0): Promise<Gateway> {
  return new Gateway(await createWorkspace(), minute)
}

async function deliverAll(gateway: Gateway, mondays: FileRecord[]): Promise<void> {
  await gateway.deliver('monday.csv', mondays)
  await gateway.deliver('tuesday.ndjson.gz', [TUESDAY, THURSDAY])
  await gateway.deliver('saturday.parquet', [SATURDAY])
  // A copy of a file has its time to the millisecond, and is to be no file that was touched.
  for (const [day, name] of ['monday.csv', 'tuesday.ndjson.gz', 'saturday.parquet'].entries()) {
    await utimes(gateway.path(name), 0, new Date(`2025-03-0${7 + day}T23:59:59Z`))
  }
}

/** What the command does, in this process. */
function archive(gateway: Gateway, before = BEFORE): Promise<ArchiveSummary> {
  const config = { ...readPipelineConfig(settings(gateway.workspace, gateway.later())), threads: 1 }
  const { signal } = new AbortController()
  const now = () => new Date('2026-11-20T00:12:00Z')
  return archiveDates(config, { now, report: () => {}, signal, files: realFiles }, { before: UtcDate.parse(before) })
}

/** The folder that is no cache. */
function archiveFolder(gateway: Gateway): string {
  return join(gateway.workspace.dataDir, 'archive')
}

describe('after `archive`, raw files wholly before its date', () => {
  it.each(['fail', 'keep', 'remove'])('may be deleted, and the next builds change nothing: `%s`', async (mode) => {
    const gateway = await copyOf(archived)
    await gateway.configure({ on_missing: mode })
    await gateway.takeAway('monday.csv')
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual(ROWS)
    expect(summary.outcome).toBe('unchanged')
    expect(await gateway.rows(NEXT_DAY)).toEqual(ROWS)
  })

  it('may be deleted together with the state', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    await gateway.forget()
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual(ROWS)
    expect(summary.outcome).toBe('unchanged')
  })

  it('may stay without the state, and are not counted twice', async () => {
    const gateway = await copyOf(archived)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('may all be deleted when every date is archived, where a new date is then added', async () => {
    const gateway = await copyOf(built)
    await gateway.takeAway('saturday.parquet')
    await gateway.configure({ on_missing: 'remove' })
    await gateway.rows()
    await archive(gateway, LATEST_BEFORE)
    await gateway.takeAway('monday.csv')
    await gateway.takeAway('tuesday.ndjson.gz')
    await gateway.forget()
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, THURSDAY_ROW])
    await gateway.deliver('saturday.csv', [SATURDAY])
    expect(await gateway.rows()).toEqual(ROWS)
  })
})

describe('a file with dates before and after', () => {
  it('still counts for its later dates', async () => {
    const gateway = await copyOf(archived)
    await gateway.forget()
    await gateway.deliver('tuesday.ndjson.gz', [TUESDAY, { ...THURSDAY, prompt_tokens: '41' }])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, '2025-03-06 acme/thursday 41', SATURDAY_ROW])
  })

  it('is a loss when it vanishes', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.failure()).toContain('raw/tuesday.ndjson.gz')
    await gateway.configure({ on_missing: 'remove' })
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, SATURDAY_ROW])
  })
})

describe('records that arrive for archived dates', () => {
  it('are not counted, and the build says how many', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    const late = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7'].map((id) => ({ ...MONDAY, request_id: id }))
    await gateway.deliver('late.csv', [...late, useOn('2025-03-06', 'acme/thursday', 2, { request_id: 'h2' })])
    const { rows, notices } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW, '2025-03-06 acme/thursday 42', SATURDAY_ROW])
    expect(notices.join('\n')).toMatch(/archive/)
    expect(notices.join('\n')).toMatch(/\b7\b/)
  })

  it('are in the account of the records that were read', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    await gateway.deliver('tuesday.ndjson.gz', [THURSDAY, { ...THURSDAY, request_id: 'h2' }])
    await gateway.deliver('late.csv', [MONDAY, { ...MONDAY, request_id: 'l1' }])
    await gateway.forget()
    const { read, rejected, withheld, ...counts } = (await gateway.build()).summary.records
    expect([rejected, withheld]).toEqual([{}, []])
    const accounts = Object.values(counts).filter((count) => typeof count === 'number')
    expect(accounts.reduce((sum, count) => sum + count, 0)).toBe(read)
    const late = Object.entries(counts).filter(([name]) => name.includes('archive'))
    expect(late.map(([, count]) => count)).toContain(2)
  })

  it('do not move what was published, whatever copies of archived records they hold', async () => {
    const gateway = await copyOf(archived)
    await gateway.deliver('again.csv', [
      { ...MONDAY, prompt_tokens: '999' },
      { ...TUESDAY, model_permaslug: 'zz' },
    ])
    expect(await gateway.rows()).toEqual(ROWS)
  })
})

describe('archive', () => {
  it('changes nothing that is published', async () => {
    const gateway = await copyOf(built)
    const before = await snapshotTree(gateway.workspace.publicDir)
    await archive(gateway)
    expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(before)
  })

  it('with a later date adds to what was archived, whose raw files are gone', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await archive(gateway, LATEST_BEFORE)
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.rows()).toEqual(ROWS)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('with an earlier date takes nothing back', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    await archive(gateway, '2025-03-01')
    await gateway.forget()
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('takes the first date that is not final yet, and no later one: it says which is the latest', async () => {
    const gateway = await copyOf(built)
    const { code, stderr } = await gateway.run(['archive', '--before', '2025-03-08'])
    expect([1, 2]).toContain(code)
    expect(stderr).toContain(LATEST_BEFORE)
    expect(stderr).not.toMatch(/^\s+at /m)
    await gateway.takeAway('monday.csv')
    expect(await gateway.failure()).toContain('monday.csv')
    const other = await copyOf(built)
    await archive(other, LATEST_BEFORE)
  })

  it.each([
    ['no date of the calendar', ['--before', '2025-02-30']],
    ['no date', ['--before', 'yesterday']],
    ['an empty text', ['--before', '']],
    ['nothing', []],
  ])('is wrong usage with %s', async (_, args) => {
    const { code, stderr } = await (await newGateway()).run(['archive', ...args])
    expect(code).toBe(2)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it('says with --help what it does', async () => {
    const { code, stdout } = await (await newGateway()).run(['archive', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--before')
    expect(stdout).toContain('--dry-run')
  })

  it('keeps what each API key used', async () => {
    const gateway = await copyOf(built)
    const { rows } = await readUsageOf(gateway.workspace)
    expect(rows.map(({ date, cost_usd }) => [date, cost_usd])).toEqual([
      ['2025-03-03', '1.5'],
      ['2025-03-04', '2'],
      ['2025-03-06', '4'],
    ])
    await archive(gateway)
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    expect((await readUsageOf(gateway.workspace)).rows).toEqual(rows)
    await gateway.forget()
    await gateway.rows()
    expect((await readUsageOf(gateway.workspace)).rows).toEqual(rows)
  })
})

describe('the registry still decides about archived dates', () => {
  const models = (monday: Record<string, unknown>) => [
    { model_permaslug: 'acme/monday', aliases: [], public: true, ...monday },
    ...['tuesday', 'thursday', 'saturday'].map((day) => ({
      model_permaslug: `acme/${day}`,
      aliases: [],
      public: true,
    })),
  ]

  /** Monday's file is gone, and one of its records is of a model that nobody has named yet. */
  let registered: Gateway

  beforeAll(async () => {
    registered = await emptyGateway()
    await registered.configure({ models: 'models.json' }, { visibility: 'registry' })
    await writeInput(registered.workspace, 'models.json', models({}))
    await deliverAll(registered, [MONDAY, { ...MONDAY, request_id: 'm2', model_permaslug: 'unlisted' }])
    expect(await registered.rows()).toEqual(ROWS)
    await archive(registered)
    await registered.takeAway('monday.csv')
  })

  afterAll(() => removeWorkspace(registered.workspace))

  it('when a model becomes private, and public again', async () => {
    const gateway = await copyOf(registered)
    await writeInput(gateway.workspace, 'models.json', models({ public: false }))
    expect(await gateway.rows()).toEqual([TUESDAY_ROW, THURSDAY_ROW, SATURDAY_ROW])
    await writeInput(gateway.workspace, 'models.json', models({}))
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('when a model that was withheld gets a name', async () => {
    const gateway = await copyOf(registered)
    await writeInput(gateway.workspace, 'models.json', models({ aliases: ['unlisted'] }))
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 20', TUESDAY_ROW, THURSDAY_ROW, SATURDAY_ROW])
    await gateway.forget()
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 20', TUESDAY_ROW, THURSDAY_ROW, SATURDAY_ROW])
  })

  it('and still says which models are withheld, and how much', async () => {
    const gateway = await copyOf(registered)
    const { summary } = await gateway.build()
    expect(summary.records.withheld).toMatchObject([{ model: 'unlisted', records: 1, tokens: '10' }])
  })
})

describe('when the newest part of the archive is taken away again', () => {
  async function reopened(change: (gateway: Gateway) => Promise<void>, top = {}, source = {}): Promise<Gateway> {
    const gateway = await newGateway(top, source)
    await gateway.deliver('monday.csv', [MONDAY])
    await gateway.deliver('copy.csv', [{ ...MONDAY, model_permaslug: 'acme/copy' }])
    if ('models' in top) await writeInput(gateway.workspace, 'models.json', models('acme/monday'))
    expect(await gateway.rows()).toEqual([MONDAY_ROW])
    await archive(gateway)
    await change(gateway)
    await gateway.rows()
    await rm(archiveFolder(gateway), { recursive: true })
    return gateway
  }

  const models = (slug: string) => [
    { model_permaslug: slug, aliases: ['acme/monday'].filter((alias) => alias !== slug), public: true },
    { model_permaslug: 'acme/copy', aliases: [], public: true },
  ]

  it('the files decide, as they are by now', async () => {
    const gateway = await reopened((changed) => changed.takeAway('monday.csv'))
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/copy 10'])
    await gateway.forget()
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/copy 10'])
  })

  it('the registry decides, as it is by now', async () => {
    const gateway = await reopened(
      (changed) => writeInput(changed.workspace, 'models.json', models('a/monday')),
      { models: 'models.json' },
      { visibility: 'registry' },
    )
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/copy 10'])
  })
})

describe('a damaged archive', () => {
  it('fails the build, which names the file, whichever it is', async () => {
    const gateway = await copyOf(archived)
    await gateway.takeAway('monday.csv')
    const names = (await readdir(archiveFolder(gateway), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(archiveFolder(gateway).length + 1))
    expect(names).not.toEqual([])
    for (const name of names) {
      const damaged = await copyOf(gateway)
      const path = join(archiveFolder(damaged), name)
      const bytes = await readFile(path)
      const middle = bytes.length >> 1
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
      await writeFile(path, bytes)
      expect(await damaged.failure(), name).toContain(name.split('/').at(-1) ?? name)
    }
  })
})
