/** Raw files that vanish, shrink, come back and move between two builds (DESIGN.md §5, `on_missing`). */
import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { type Gateway, newGateway, use, useOn } from '../../support/gateway.ts'
import { buildIn, snapshotTree, writeInput } from '../../support/pipeline.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1' })
const WEDNESDAY = useOn('2025-03-05', 'acme/wednesday', 30, { request_id: 'w1' })
const MONDAY_ROW = '2025-03-03 acme/monday 10'
const TUESDAY_ROW = '2025-03-04 acme/tuesday 20'
const WEDNESDAY_ROW = '2025-03-05 acme/wednesday 30'
const MODES = ['fail', 'keep', 'remove'] as const

const withoutId = (record: typeof MONDAY) => ({ ...record, request_id: '' })

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

describe('a missing file under `fail`, the default', () => {
  it('stops each build with its name and what may be done, until it is back', async () => {
    const gateway = await builtGateway({}, { files: ['raw/monday.csv', 'raw/*day.*'] })
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    const message = await gateway.failure()
    for (const words of ['raw/monday.csv', 'on_missing', 'keep', 'remove']) expect(message).toContain(words)
    expect(message).not.toContain('tuesday')
    const before = await snapshotTree(gateway.workspace.publicDir)
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    const { code, stdout, stderr } = await gateway.run(['build', '--json'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('raw/monday.csv')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(before)
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.failure()).toMatch(/raw\/monday\.csv[\s\S]*raw\/tuesday\.ndjson\.gz/)
    await writeFile(gateway.path('monday.csv'), bytes)
    await gateway.deliver('tuesday.ndjson.gz', [TUESDAY])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it.each([
    ['keep', [MONDAY_ROW, TUESDAY_ROW]],
    ['remove', [TUESDAY_ROW]],
  ])('is decided about by `%s`, said after the loss was noticed', async (mode, rows) => {
    const gateway = await builtGateway()
    await gateway.takeAway('monday.csv')
    await gateway.failure()
    await gateway.configure({ on_missing: mode })
    expect(await gateway.rows()).toEqual(rows)
  })

  it('is no file that no build has finished reading', async () => {
    const gateway = await builtGateway()
    await gateway.deliver('wednesday.csv.gz', [WEDNESDAY])
    await cutShort(gateway, 'wednesday.csv.gz')
    expect(await gateway.failure()).toContain('wednesday.csv.gz')
    await gateway.takeAway('wednesday.csv.gz')
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

describe('a missing file under `keep`', () => {
  it('keeps its rows in this build, which names it, and in later ones, with the state and without', async () => {
    const gateway = await builtGateway({ on_missing: 'keep' })
    await gateway.takeAway('monday.csv')
    const { summary, rows, notices } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
    expect(summary.outcome).toBe('unchanged')
    expect(notices.join('\n')).toContain('monday.csv')
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    await expectRows(gateway, [MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
    await gateway.takeAway('tuesday.ndjson.gz')
    await gateway.takeAway('wednesday.csv')
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it('counts a kept record once that another file delivers again, by the rule for duplicates', async () => {
    const gateway = await builtGateway({ on_missing: 'keep' })
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await gateway.deliver('again.parquet', [{ ...MONDAY, prompt_tokens: '9' }, WEDNESDAY])
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
    expect(summary.records).toMatchObject({ duplicates: 1, published: 3 })
    await gateway.deliver('and-again.csv', [{ ...MONDAY, prompt_tokens: '11' }])
    await expectRows(gateway, ['2025-03-03 acme/monday 11', TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it('counts the records of a file that comes back once, also those without an id', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [MONDAY, withoutId(MONDAY)])
    await gateway.deliver('tuesday.csv', [TUESDAY])
    const rows = await gateway.rows()
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    expect(await gateway.rows()).toEqual(rows)
    await writeFile(gateway.path('monday.csv'), bytes)
    expect(await gateway.rows()).toEqual(rows)
  })

  it('lets a later registry decide about kept records', async () => {
    const gateway = await newGateway({ on_missing: 'keep', models: 'models.json' }, { visibility: 'registry' })
    const models = (isPublic: boolean) => [
      { model_permaslug: 'acme/monday', aliases: [], public: isPublic },
      { model_permaslug: 'acme/tuesday', aliases: [], public: true },
    ]
    await writeInput(gateway.workspace, 'models.json', models(true))
    await gateway.deliver('monday.csv', [MONDAY])
    await gateway.deliver('tuesday.csv', [TUESDAY])
    await gateway.rows()
    await gateway.takeAway('monday.csv')
    await writeInput(gateway.workspace, 'models.json', models(false))
    expect(await gateway.rows()).toEqual([TUESDAY_ROW])
    await writeInput(gateway.workspace, 'models.json', models(true))
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

it('a missing file under `remove` takes its rows away, gives back what its duplicates had taken, and may come back', async () => {
  const gateway = await builtGateway({ on_missing: 'remove' })
  await gateway.deliver('again.csv', [{ ...MONDAY, prompt_tokens: '11' }])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', TUESDAY_ROW])
  await gateway.takeAway('again.csv')
  const { summary, rows, notices } = await gateway.build()
  expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
  expect(summary.records.read).toBe(2)
  expect(notices.join('\n')).toContain('again.csv')
  await gateway.takeAway('monday.csv')
  expect(await gateway.rows()).toEqual([TUESDAY_ROW])
  await gateway.deliver('monday.csv', [MONDAY])
  expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  await gateway.takeAway('monday.csv')
  await gateway.takeAway('tuesday.ndjson.gz')
  expect(await gateway.failure()).toMatch(/publish/)
})

describe.each(MODES)('under `%s`', (mode) => {
  it('a file that is touched, renamed, rotated or compressed is no change, with ids and without', async () => {
    const models = ['gzip', 'renamed', 'rotated', 'touched', 'zstd']
    const gateway = await newGateway({
      on_missing: mode,
      sources: models.map((model) => source(model, `${model}/*`)),
    })
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

  it('a file with as many records replaces its own, and sources may be renamed, narrowed and removed', async () => {
    const gateway = await builtGateway({ on_missing: mode })
    await gateway.deliver('monday.csv', [{ ...MONDAY, prompt_tokens: '11' }, WEDNESDAY])
    await gateway.deliver('tuesday.ndjson.gz', [useOn('2025-03-06', 'acme/as-many', 40, { request_id: 'h1' })])
    const monday = ['2025-03-03 acme/monday 11', WEDNESDAY_ROW]
    const all = [...monday, '2025-03-06 acme/as-many 40']
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({ on_missing: mode }, { name: 'renamed' })
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({ on_missing: mode }, { name: 'renamed', files: ['raw/*.csv'] })
    const { rows, notices } = await gateway.build()
    expect(rows).toEqual(monday)
    expect(notices.join('\n')).toContain('tuesday.ndjson.gz')
    const partner = source('partner', 'tuesday.ndjson.gz')
    await gateway.configure({ on_missing: mode, sources: [source('renamed', '*.csv'), partner] })
    expect(await gateway.rows()).toEqual(all)
    await gateway.configure({ on_missing: mode, sources: [partner] })
    expect(await gateway.rows()).toEqual(['2025-03-06 acme/as-many 40'])
  })
})

describe('a file that holds fewer records than before', () => {
  const THREE = [MONDAY, WEDNESDAY, useOn('2025-03-05', 'acme/more', 1, { request_id: 'w2' })]
  const SHRUNK = [{ ...MONDAY, prompt_tokens: '11' }]

  async function shrunkGateway(mode: string): Promise<Gateway> {
    const gateway = await newGateway({ on_missing: mode })
    await gateway.deliver('monday.csv', THREE)
    await gateway.deliver('tuesday.csv', [TUESDAY])
    await gateway.rows()
    await gateway.deliver('monday.csv', SHRUNK)
    return gateway
  }

  it('stops the build under `fail`, which names the file and both counts, also when it has become empty', async () => {
    const gateway = await shrunkGateway('fail')
    const message = await gateway.failure()
    for (const words of ['raw/monday.csv', 'on_missing']) expect(message).toContain(words)
    expect(message).toMatch(/\b3\b/)
    expect(message).toMatch(/\b1\b/)
    await gateway.deliver('monday.csv', [])
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('replaces what it had contributed under `remove`; a cut file fails and is not taken for a shorter one', async () => {
    const gateway = await shrunkGateway('remove')
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', TUESDAY_ROW])
    await gateway.deliver('late.ndjson.gz', [WEDNESDAY])
    const rows = await gateway.rows()
    const bytes = await readFile(gateway.path('late.ndjson.gz'))
    await cutShort(gateway, 'late.ndjson.gz')
    expect(await gateway.failure()).toContain('late.ndjson.gz')
    await writeFile(gateway.path('late.ndjson.gz'), bytes)
    expect(await gateway.rows()).toEqual(rows)
  })

  it('adds to what it had contributed under `keep`, and so when it grows again', async () => {
    const gateway = await shrunkGateway('keep')
    const later = [TUESDAY_ROW, WEDNESDAY_ROW, '2025-03-05 acme/more 1']
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', ...later])
    await gateway.deliver('monday.csv', [
      ...SHRUNK,
      ...['m2', 'm3', 'm4'].map((id) => useOn('2025-03-03', 'acme/new', 1, { request_id: id })),
    ])
    await expectRows(gateway, ['2025-03-03 acme/monday 11', '2025-03-03 acme/new 3', ...later])
  })

  it('is refused under `keep` where records have no id, since duplicates could not be told', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [use('acme/one', 1), use('acme/one', 2)])
    expect(await gateway.rows()).toEqual(['2025-03-02 acme/one 3'])
    await gateway.deliver('monday.csv', [use('acme/one', 1)])
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).toMatch(/request_id|\bids?\b/)
  })
})

describe('on_missing', () => {
  it.each(['kep', 'ignore', ''])('%j is wrong usage', async (mode) => {
    const gateway = await newGateway({ on_missing: mode })
    const built = buildIn(gateway.workspace)
    await expect(built).rejects.toThrow(CliError)
    await expect(built).rejects.toThrow(/on_missing/)
  })

  it('can change between builds, and nothing that is there changes with it', async () => {
    const gateway = await builtGateway({ on_missing: 'fail' })
    for (const mode of ['keep', 'remove', 'fail']) {
      await gateway.configure({ on_missing: mode })
      expect((await gateway.build()).summary.outcome).toBe('unchanged')
    }
  })
})
