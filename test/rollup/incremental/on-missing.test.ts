/** Raw files that vanish, shrink, come back, move and change between builds (`on_missing`). */
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { readSources } from '../../../pipeline/raw/sources.ts'
import { copyOf, Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { createWorkspace, removeWorkspace, writeInput } from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1' })
const WEDNESDAY = useOn('2025-03-05', 'acme/wednesday', 30, { request_id: 'w1' })
const MONDAY_ROW = '2025-03-03 acme/monday 10'
const TUESDAY_ROW = '2025-03-04 acme/tuesday 20'
const WEDNESDAY_ROW = '2025-03-05 acme/wednesday 30'

const withoutId = (record: FileRecord): FileRecord => ({ ...record, request_id: '' })

/** A public source with these files of `raw/`. */
const source = (name: string, files: string) => {
  return { name, schema: 'canonical', files: [`raw/${files}`], visibility: 'public' }
}

/** A gateway that has built two files, `monday.csv` and `tuesday.ndjson.gz`. */
async function builtGateway(top: Record<string, unknown> = {}, of: Record<string, unknown> = {}): Promise<Gateway> {
  const gateway = await newGateway(top, of)
  await gateway.deliver('monday.csv', [MONDAY])
  await gateway.deliver('tuesday.ndjson.gz', [TUESDAY])
  expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  return gateway
}

/** Expects rows of the next build, and of one without its state. */
async function expectRows(gateway: Gateway, rows: string[]): Promise<void> {
  expect(await gateway.rows()).toEqual(rows)
  await gateway.forget()
  expect(await gateway.rows()).toEqual(rows)
}

async function cutShort(gateway: Gateway, name: string): Promise<void> {
  const bytes = await readFile(gateway.path(name))
  await writeFile(gateway.path(name), bytes.subarray(0, bytes.length - 9))
}

/** Gives a file a time to the second: a copy of it keeps its time only to the millisecond. */
function setDay(gateway: Gateway, name: string, day: number): Promise<void> {
  return utimes(gateway.path(name), 0, new Date(`2025-03-0${day}T23:59:59Z`))
}

it('the sources file refuses an on_missing that is none', async () => {
  const { workspace } = await newGateway({ on_missing: 'kep' })
  await expect(readSources(workspace.sources)).rejects.toThrow(CliError)
  await expect(readSources(workspace.sources)).rejects.toThrow(/on_missing/)
})

it('a file that is back leaves the archive once the state has it, and is put back if the build stopped before', async () => {
  const gateway = await builtGateway({ on_missing: 'keep' })
  await gateway.takeAway('monday.csv')
  await gateway.build()
  await gateway.deliver('monday.csv', [MONDAY])
  const stopped = await copyOf(gateway)
  const kept = join(gateway.workspace.dataDir, 'archive/files')
  expect(await readdir(kept)).toHaveLength(1)
  await gateway.build()
  expect(await readdir(kept)).toEqual([])
  const rename = async (from: string, to: string) => {
    await realFiles.rename(from, to)
    if (to.includes('.removed-')) throw new Error('lost')
  }
  await expect(stopped.build(stopped.later(), { ...realFiles, rename })).rejects.toThrow('lost')
  await stopped.takeAway('monday.csv')
  await expectRows(stopped, [MONDAY_ROW, TUESDAY_ROW])
})

describe('a missing file', () => {
  it('stops each build under `fail`, which names it and what to do, until it is back', async () => {
    const gateway = await builtGateway({}, { files: ['raw/monday.csv', 'raw/*day.*'] })
    // What no build has finished reading is not missed.
    await gateway.deliver('thursday.csv.gz', [WEDNESDAY])
    await cutShort(gateway, 'thursday.csv.gz')
    expect(await gateway.failure()).toContain('thursday.csv.gz')
    await gateway.takeAway('thursday.csv.gz')
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    const message = await gateway.failure()
    for (const words of ['raw/monday.csv', 'on_missing', 'keep', 'remove']) expect(message).toContain(words)
    expect(message).not.toContain('tuesday')
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.failure()).toMatch(/raw\/monday\.csv[\s\S]*raw\/tuesday\.ndjson\.gz/)
    await writeFile(gateway.path('monday.csv'), bytes)
    await gateway.deliver('tuesday.ndjson.gz', [TUESDAY])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  // `losses.test.ts` loses, shortens and brings back files with ids in any order, under `keep` and `remove`.
  it('keeps its rows under `keep` also if they have no ids, and its duplicates count once', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [MONDAY, withoutId(MONDAY)])
    await gateway.deliver('tuesday.ndjson.gz', [TUESDAY])
    const rows = ['2025-03-03 acme/monday 20', TUESDAY_ROW]
    expect(await gateway.rows()).toEqual(rows)
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    const first = await gateway.build()
    expect([first.rows, first.summary.outcome]).toEqual([rows, 'unchanged'])
    expect(first.notices.join('\n')).toContain('monday.csv')
    await gateway.deliver('again.parquet', [{ ...MONDAY, prompt_tokens: '11' }, WEDNESDAY])
    expect((await gateway.build()).summary.records).toMatchObject({ duplicates: 1, published: 4 })
    const all = ['2025-03-03 acme/monday 21', TUESDAY_ROW, WEDNESDAY_ROW]
    await expectRows(gateway, all)
    await writeFile(gateway.path('monday.csv'), bytes)
    expect(await gateway.rows()).toEqual(all)
  })

  it('takes its rows away under `remove`, and says so, until nothing is left to publish', async () => {
    const gateway = await builtGateway({ on_missing: 'remove' })
    await gateway.takeAway('monday.csv')
    const { summary, rows, notices } = await gateway.build()
    expect([rows, summary.records.read]).toEqual([[TUESDAY_ROW], 1])
    expect(notices.join('\n')).toContain('monday.csv')
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.failure()).toMatch(/publish/)
  })
})

describe('a file that is still there', () => {
  it('is no change when it is touched, renamed, rotated or compressed, with ids and without', async () => {
    const models = ['gzip', 'renamed', 'rotated', 'touched', 'zstd']
    const gateway = await newGateway({ sources: models.map((model) => source(model, `${model}/*`)) })
    const records = (model: string) => [
      useOn('2025-03-03', model, 10, { request_id: 'm1' }),
      useOn('2025-03-03', model, 10),
    ]
    for (const model of models) await gateway.deliver(`${model}/usage.csv`, records(model))
    const rows = models.map((model) => `2025-03-03 ${model} 20`)
    expect(await gateway.rows()).toEqual(rows)

    await gateway.touch('touched/usage.csv')
    await gateway.rename('renamed/usage.csv', 'renamed/other-name.csv')
    await gateway.rename('rotated/usage.csv', 'rotated/usage.1.csv')
    await gateway.deliver('rotated/usage.csv', [useOn('2025-03-04', 'rotated', 5)])
    for (const [model, ending] of [
      ['gzip', 'gz'],
      ['zstd', 'zst'],
    ] as const) {
      await gateway.takeAway(`${model}/usage.csv`)
      await gateway.deliver(`${model}/usage.csv.${ending}`, records(model))
    }
    const built = await gateway.build()
    expect(built.rows).toEqual([...rows, '2025-03-04 rotated 5'])
    expect([built.summary.records.read, built.notices]).toEqual([11, []])
    await gateway.forget()
    expect(await gateway.rows()).toEqual([...rows, '2025-03-04 rotated 5'])
  })

  it('replaces its records if there are as many, and its source may be renamed, narrowed and removed', async () => {
    const gateway = await builtGateway()
    await gateway.deliver('monday.csv', [{ ...MONDAY, prompt_tokens: '11' }, WEDNESDAY])
    await gateway.deliver('tuesday.ndjson.gz', [useOn('2025-03-06', 'acme/as-many', 40, { request_id: 'h1' })])
    const monday = ['2025-03-03 acme/monday 11', WEDNESDAY_ROW]
    const all = [...monday, '2025-03-06 acme/as-many 40']
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({}, { name: 'renamed' })
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({}, { name: 'renamed', files: ['raw/*.csv'] })
    const { rows, notices } = await gateway.build()
    expect(rows).toEqual(monday)
    expect(notices.join('\n')).toContain('tuesday.ndjson.gz')
    const partner = source('partner', 'tuesday.ndjson.gz')
    await gateway.configure({ on_missing: 'keep', sources: [source('renamed', '*.csv'), partner] })
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({ on_missing: 'keep', sources: [partner] })
    expect(await gateway.rows()).toEqual(['2025-03-06 acme/as-many 40'])
  })
})

describe('a file with fewer records than before', () => {
  it('stops the build under `fail`, which names the file and both counts, and also if it is empty', async () => {
    const gateway = await newGateway()
    await gateway.deliver('monday.csv', [MONDAY, TUESDAY, WEDNESDAY])
    await gateway.rows()
    await gateway.deliver('monday.csv', [MONDAY])
    const message = await gateway.failure()
    for (const words of [/raw\/monday\.csv/, /on_missing/, /\b3\b/, /\b1\b/]) expect(message).toMatch(words)
    await gateway.deliver('monday.csv', [])
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('is refused under `keep` if records have no id, because duplicates could not be found', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [MONDAY, TUESDAY].map(withoutId))
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
    await gateway.deliver('monday.csv', [withoutId(MONDAY)])
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).toMatch(/request_id|\bids?\b/)
  })
})

const [ONE, TWO, THREE, FOUR] = [
  useOn('2025-03-03', 'acme/one', 10, { request_id: '1' }),
  useOn('2025-03-03', 'acme/two', 20, { request_id: '2' }),
  useOn('2025-03-03', 'acme/three', 40, { request_id: '3' }),
  useOn('2025-03-04', 'acme/four', 80, { request_id: '4' }),
]
const [ONE_ROW, TWO_ROW, THREE_ROW, FOUR_ROW] = [
  '2025-03-03 acme/one 10',
  '2025-03-03 acme/two 20',
  '2025-03-03 acme/three 40',
  '2025-03-04 acme/four 80',
]
const ROWS = [THREE_ROW, TWO_ROW, ONE_ROW, FOUR_ROW]

describe('duplicates of a missing file, if `keep` is set after it went missing', () => {
  /** Every file shares records with the others. */
  let original: Gateway

  beforeAll(async () => {
    original = new Gateway(await createWorkspace())
    await original.configure()
    const files = { 'a.csv': [ONE, TWO], 'b.csv': [TWO, THREE], 'c.csv': [ONE, THREE, FOUR] }
    for (const [index, [name, records]] of Object.entries(files).entries()) {
      await original.deliver(name, records)
      await setDay(original, name, 3 + index)
    }
    expect(await original.rows()).toEqual(ROWS)
  })

  afterAll(() => removeWorkspace(original.workspace))

  it('count once while other files have them, and when those are missing too, and are not rejected', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.configure({ on_missing: 'keep' })
    await expectRows(gateway, ROWS)
    const other = await copyOf(original)
    for (const name of ['a.csv', 'b.csv']) await other.takeAway(name)
    await other.configure({ on_missing: 'keep' })
    await expectRows(other, ROWS)
    const quality = JSON.parse(await readFile(join(other.workspace.dataDir, 'state/quality.json'), 'utf8'))
    expect(quality.rejected_in_files).toEqual([])
  })

  it('are decided by the old registry, while a new one decides about kept and other records', async () => {
    const gateway = await newGateway({ models: 'models.json' })
    const models = (alias: string, isThreePublic = true) => [
      { model_permaslug: 'acme/three', aliases: [], public: isThreePublic },
      { model_permaslug: 'acme/two', aliases: ['2'], public: true },
      { model_permaslug: alias, aliases: ['1'], public: true },
    ]
    await writeInput(gateway.workspace, 'models.json', models('acme/one'))
    await gateway.deliver('a.csv', [THREE])
    await gateway.deliver('b.csv', [THREE, { ...ONE, model_permaslug: '1' }])
    await gateway.deliver('c.csv', [{ ...ONE, model_permaslug: '2' }])
    expect(await gateway.rows()).toEqual([THREE_ROW, '2025-03-03 acme/two 10'])
    await gateway.takeAway('a.csv')
    await gateway.configure({ models: 'models.json', on_missing: 'keep' })
    await writeInput(gateway.workspace, 'models.json', models('zz/one'))
    await expectRows(gateway, [THREE_ROW, '2025-03-03 zz/one 10'])
    await gateway.configure({ models: 'models.json', on_missing: 'keep' }, { visibility: 'registry' })
    await writeInput(gateway.workspace, 'models.json', models('zz/one', false))
    expect(await gateway.rows()).toEqual(['2025-03-03 zz/one 10'])
  })

  it('stop the build if a file that has them too was replaced', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.deliver('b.csv', [TWO, THREE, FOUR])
    await gateway.configure({ on_missing: 'keep' })
    const message = await gateway.failure()
    expect(message).toContain('raw/a.csv')
    expect(message).toContain('raw/b.csv')
    await gateway.configure({ on_missing: 'remove' })
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('do not stop the build on dates without duplicates, whatever else changed', async () => {
    const gateway = await newGateway()
    await gateway.deliver('a.csv', [ONE])
    await gateway.deliver('b.csv', [TWO])
    await gateway.rows()
    await gateway.takeAway('a.csv')
    await gateway.deliver('b.csv', [TWO, THREE])
    await gateway.configure({ on_missing: 'keep' })
    await expectRows(gateway, [THREE_ROW, TWO_ROW, ONE_ROW])
  })
})

describe('rotated logs, with ids and without, of which the oldest is dropped', () => {
  const FIVE = useOn('2025-03-05', 'acme/five', 160, { request_id: '5' })
  const IDS = ['with', 'without'] as const
  type Ids = (typeof IDS)[number]

  /** The rows of both sources, whose models tell them apart. */
  function rowsOfBoth(rows: string[]): string[] {
    return rows.flatMap((row) => IDS.map((ids) => row.replace('acme/', `${ids}/`)))
  }

  function inSource(ids: Ids, record: FileRecord): FileRecord {
    const { model_permaslug = '' } = record
    const own = { ...record, model_permaslug: model_permaslug.replace('acme/', `${ids}/`) }
    return ids === 'with' ? own : withoutId(own)
  }

  async function rotatedGateway(mode: string, sources: readonly Ids[] = IDS): Promise<Gateway> {
    const gateway = await newGateway({ on_missing: mode, sources: sources.map((ids) => source(ids, `${ids}/*`)) })
    for (const [age, record] of [THREE, TWO, ONE].entries()) {
      for (const ids of sources) {
        const name = `${ids}/usage${age === 0 ? '' : `.${age}`}.csv`
        await gateway.deliver(name, [inSource(ids, record)])
        await setDay(gateway, name, 5 - age)
      }
    }
    await gateway.rows()
    await rotate(gateway, FOUR, sources)
    return gateway
  }

  async function rotate(gateway: Gateway, newest: FileRecord, sources: readonly Ids[] = IDS): Promise<void> {
    for (const ids of sources) {
      await gateway.rename(`${ids}/usage.1.csv`, `${ids}/usage.2.csv`)
      await gateway.rename(`${ids}/usage.csv`, `${ids}/usage.1.csv`)
      await gateway.deliver(`${ids}/usage.csv`, [inSource(ids, newest)])
    }
  }

  it.each(IDS)('stop the build under `fail`, %s ids, although every name is there', async (ids) => {
    const gateway = await rotatedGateway('fail', [ids])
    expect(await gateway.failure()).toContain(`raw/${ids}/usage.2.csv`)
  })

  it('go on counting under `keep`, once each', async () => {
    const gateway = await rotatedGateway('keep')
    expect(await gateway.rows()).toEqual(rowsOfBoth(ROWS))
    await rotate(gateway, FIVE)
    await expectRows(gateway, rowsOfBoth([...ROWS, '2025-03-05 acme/five 160']))
  })

  it('count as long as they are there under `remove`', async () => {
    const gateway = await rotatedGateway('remove')
    expect(await gateway.rows()).toEqual(rowsOfBoth([THREE_ROW, TWO_ROW, FOUR_ROW]))
  })
})

describe('files of equal bytes whose paths have other dates', () => {
  const PATHS = { hive: true, columns: { timestamp: 'date' } }
  const COLUMNS = ['model_permaslug', 'prompt_tokens', 'completion_tokens']
  const deliver = (gateway: Gateway, day: number, tokens: number) =>
    gateway.deliver(`date=2025-03-0${day}/x.csv`, [useOn('', 'acme/one', tokens)], COLUMNS)
  const row = (day: number, tokens: number) => `2025-03-0${day} acme/one ${tokens}`

  it('are missing one by one under `fail`, and are no duplicates', async () => {
    const gateway = await newGateway({}, PATHS)
    for (const day of [3, 4, 5]) await deliver(gateway, day, 10)
    const { rows, notices } = await gateway.build()
    expect(rows).toEqual([row(3, 10), row(4, 10), row(5, 10)])
    expect(notices.filter((notice) => notice.includes('the same records'))).toEqual([])
    await gateway.takeAway('date=2025-03-04/x.csv')
    await deliver(gateway, 6, 10)
    expect(await gateway.failure()).toContain('raw/date=2025-03-04/x.csv')
  })

  it('stay kept under `keep` when a later date has these bytes, and are read again where they are', async () => {
    const gateway = await newGateway({ on_missing: 'keep' }, PATHS)
    await deliver(gateway, 3, 10)
    await deliver(gateway, 4, 20)
    await gateway.build()
    await gateway.takeAway('date=2025-03-04/x.csv')
    await gateway.build()
    await deliver(gateway, 5, 20)
    expect(await gateway.rows()).toEqual([row(3, 10), row(4, 20), row(5, 20)])
    await deliver(gateway, 4, 20)
    await gateway.configure({ on_missing: 'keep' }, { ...PATHS, timezone: 'Etc/UTC' })
    expect(await gateway.rows()).toEqual([row(3, 10), row(4, 20), row(5, 20)])
  })
})
