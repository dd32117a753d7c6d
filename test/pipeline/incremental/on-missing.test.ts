/** Raw files that vanish, shrink, come back and move between two builds (DESIGN.md §5, `on_missing`). */
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { UsageError } from '../../../pipeline/base/errors.ts'
import { copyOf, Gateway, newGateway, use, useOn } from '../../support/gateway.ts'
import { buildIn, createWorkspace, removeWorkspace, snapshotTree, writeInput } from '../../support/pipeline.ts'

const MONDAY = useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1' })
const WEDNESDAY = useOn('2025-03-05', 'acme/wednesday', 30, { request_id: 'w1' })
const MONDAY_ROW = '2025-03-03 acme/monday 10'
const TUESDAY_ROW = '2025-03-04 acme/tuesday 20'
const WEDNESDAY_ROW = '2025-03-05 acme/wednesday 30'
const MODES = ['fail', 'keep', 'remove'] as const

/** A public source with these files of `raw/`. */
const source = (name: string, files: string) => {
  return { name, schema: 'canonical', files: [`raw/${files}`], visibility: 'public' }
}

const originals = new Map<string | undefined, Promise<Gateway>>()

afterAll(async () => {
  for (const original of originals.values()) await removeWorkspace((await original).workspace)
})

/** A gateway that has built two files, `monday.csv` and `tuesday.ndjson.gz`: a copy of one that is built once. */
async function builtGateway(onMissing?: string): Promise<Gateway> {
  const original = originals.get(onMissing) ?? buildOriginal(onMissing)
  originals.set(onMissing, original)
  return copyOf(await original)
}

async function buildOriginal(onMissing?: string): Promise<Gateway> {
  const gateway = new Gateway(await createWorkspace())
  await gateway.configure(onMissing === undefined ? {} : { on_missing: onMissing })
  await gateway.deliver('monday.csv', [MONDAY])
  await gateway.deliver('tuesday.ndjson.gz', [TUESDAY])
  // A copy of a file has its time to the millisecond, and is to be no file that was touched.
  await utimes(gateway.path('monday.csv'), 0, new Date('2025-03-03T23:59:59Z'))
  await utimes(gateway.path('tuesday.ndjson.gz'), 0, new Date('2025-03-04T23:59:59Z'))
  expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  return gateway
}

describe('a file that is gone stops the build by default', () => {
  it('which names the file, where it is set, and what else may be done', async () => {
    const gateway = await builtGateway()
    await gateway.takeAway('monday.csv')
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).not.toContain('tuesday')
    expect(message).toContain('on_missing')
    expect(message).toContain('keep')
    expect(message).toContain('remove')
  })

  it('which ends the CLI with exit code 1 and leaves the release before current', async () => {
    const gateway = await builtGateway('fail')
    const before = await snapshotTree(gateway.workspace.publicDir)
    await gateway.takeAway('monday.csv')
    const { code, stdout, stderr } = await gateway.run(['build', '--json'])
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('raw/monday.csv')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(before)
  })

  it('however often it is tried, and whatever else was delivered meanwhile', async () => {
    const gateway = await builtGateway()
    await gateway.takeAway('monday.csv')
    await gateway.failure()
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    expect(await gateway.failure()).toContain('raw/monday.csv')
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('until it is back', async () => {
    const gateway = await builtGateway()
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    await gateway.failure()
    await writeFile(gateway.path('monday.csv'), bytes)
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
    expect(summary.outcome).toBe('unchanged')
    expect(summary.records.read).toBe(2)
  })

  it('also when the entry names the file and is no pattern', async () => {
    const gateway = await newGateway({}, { files: ['raw/monday.csv', 'raw/tuesday.csv'] })
    await gateway.deliver('monday.csv', [MONDAY])
    await gateway.deliver('tuesday.csv', [TUESDAY])
    await gateway.rows()
    await gateway.takeAway('monday.csv')
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('until the maintainer decides otherwise: the decision counts for the loss that was noticed before', async () => {
    const kept = await builtGateway()
    await kept.takeAway('monday.csv')
    await kept.failure()
    await kept.configure({ on_missing: 'keep' })
    expect(await kept.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])

    const removed = await builtGateway()
    await removed.takeAway('monday.csv')
    await removed.failure()
    await removed.configure({ on_missing: 'remove' })
    expect(await removed.rows()).toEqual([TUESDAY_ROW])
  })

  it('and names every file when all are gone', async () => {
    const gateway = await builtGateway()
    await gateway.takeAway('monday.csv')
    await gateway.takeAway('tuesday.ndjson.gz')
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).toContain('raw/tuesday.ndjson.gz')
  })

  it('but a file that no build has finished reading is none that was lost', async () => {
    const gateway = await builtGateway()
    await gateway.deliver('wednesday.csv.gz', [WEDNESDAY])
    const bytes = await readFile(gateway.path('wednesday.csv.gz'))
    await writeFile(gateway.path('wednesday.csv.gz'), bytes.subarray(0, bytes.length - 9))
    expect(await gateway.failure()).toContain('wednesday.csv.gz')
    await gateway.takeAway('wednesday.csv.gz')
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

describe('`keep`', () => {
  it('keeps the rows of a file that is gone, in this build, which says so, and in the ones after it', async () => {
    const gateway = await builtGateway('keep')
    await gateway.takeAway('monday.csv')
    const { summary, rows, notices } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
    expect(summary.outcome).toBe('unchanged')
    expect(notices.join('\n')).toContain('monday.csv')
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it('keeps them when the state is thrown away after the build that noticed', async () => {
    const gateway = await builtGateway('keep')
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await gateway.forget()
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
    await gateway.deliver('wednesday.csv', [WEDNESDAY])
    await gateway.forget()
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it('counts a kept record once that another file delivers again, the state thrown away or not', async () => {
    const gateway = await builtGateway('keep')
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await gateway.deliver('again.parquet', [MONDAY, WEDNESDAY])
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
    expect(summary.records).toMatchObject({ duplicates: 1, published: 3 })
    await gateway.forget()
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW, WEDNESDAY_ROW])
  })

  it('lets a kept record and its later copy disagree by the rule for copies', async () => {
    const gateway = await builtGateway('keep')
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await gateway.deliver('again.csv', [{ ...MONDAY, prompt_tokens: '9' }])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
    await gateway.deliver('and-again.csv', [{ ...MONDAY, prompt_tokens: '11' }])
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', TUESDAY_ROW])
  })

  it('counts the records of a file that comes back once, also those without an id', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: '' }])
    await gateway.deliver('tuesday.csv', [TUESDAY])
    const rows = await gateway.rows()
    const bytes = await readFile(gateway.path('monday.csv'))
    await gateway.takeAway('monday.csv')
    expect(await gateway.rows()).toEqual(rows)
    await writeFile(gateway.path('monday.csv'), bytes)
    expect(await gateway.rows()).toEqual(rows)
  })

  it('publishes the kept rows although no file at all is left', async () => {
    const gateway = await builtGateway('keep')
    await gateway.takeAway('monday.csv')
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
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
    await gateway.rows()
    await writeInput(gateway.workspace, 'models.json', models(false))
    expect(await gateway.rows()).toEqual([TUESDAY_ROW])
    await writeInput(gateway.workspace, 'models.json', models(true))
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

describe('`remove`', () => {
  it('takes the rows of a file that is gone away, and lists the change', async () => {
    const gateway = await builtGateway('remove')
    await gateway.takeAway('monday.csv')
    const { summary, rows, notices } = await gateway.build()
    expect(rows).toEqual([TUESDAY_ROW])
    expect(summary.records.read).toBe(1)
    expect(notices.join('\n')).toContain('monday.csv')
  })

  it('gives back to a record that stays what its copy in the removed file had taken', async () => {
    const gateway = await builtGateway('remove')
    await gateway.deliver('again.csv', [{ ...MONDAY, prompt_tokens: '11' }])
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', TUESDAY_ROW])
    await gateway.takeAway('again.csv')
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })

  it('counts the file again when it comes back', async () => {
    const gateway = await builtGateway('remove')
    await gateway.takeAway('monday.csv')
    await gateway.rows()
    await gateway.deliver('monday.csv', [MONDAY])
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })

  it('fails like every build without a publishable row when no file is left', async () => {
    const gateway = await builtGateway('remove')
    await gateway.takeAway('monday.csv')
    await gateway.takeAway('tuesday.ndjson.gz')
    expect(await gateway.failure()).toMatch(/publish/)
  })
})

describe.each(MODES)('under `%s`', (mode) => {
  it('a file with the same records and another time, another name or compressed is no change, with ids or without', async () => {
    const models = ['gzip', 'renamed', 'touched', 'zstd']
    const gateway = await newGateway({
      on_missing: mode,
      sources: models.map((model) => source(model, `${model}/*`)),
    })
    const records = (model: string) => [
      useOn('2025-03-03', model, 10, { request_id: 'm1' }),
      useOn('2025-03-03', model, 10),
    ]
    for (const model of models) await gateway.deliver(`${model}/monday.csv`, records(model))
    const rows = models.map((model) => `2025-03-03 ${model} 20`)
    expect(await gateway.rows()).toEqual(rows)

    await gateway.touch('touched/monday.csv')
    await gateway.rename('renamed/monday.csv', 'renamed/other-name.csv')
    for (const [model, ending] of [
      ['gzip', 'gz'],
      ['zstd', 'zst'],
    ] as const) {
      // biome-ignore format: pairs
      await gateway.takeAway(`${model}/monday.csv`)
      await gateway.deliver(`${model}/monday.csv.${ending}`, records(model))
    }
    const built = await gateway.build()
    expect(built.rows).toEqual(rows)
    expect([built.summary.outcome, built.summary.records.read, built.notices]).toEqual(['unchanged', 8, []])
    await gateway.forget()
    expect(await gateway.rows()).toEqual(rows)
  })

  it('logs that are rotated are no loss: every name has other bytes, and all bytes are there', async () => {
    const gateway = await newGateway({ on_missing: mode })
    await gateway.deliver('usage.1.csv', [MONDAY, { ...MONDAY, request_id: '' }])
    await gateway.deliver('usage.csv', [TUESDAY, { ...TUESDAY, request_id: '' }])
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 20', '2025-03-04 acme/tuesday 40'])
    await gateway.rename('usage.1.csv', 'usage.2.csv')
    await gateway.rename('usage.csv', 'usage.1.csv')
    await gateway.deliver('usage.csv', [WEDNESDAY])
    const rows = ['2025-03-03 acme/monday 20', '2025-03-04 acme/tuesday 40', WEDNESDAY_ROW]
    const built = await gateway.build()
    expect(built.rows).toEqual(rows)
    expect(built.summary.records.read).toBe(5)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(rows)
  })

  it('a file with more records, or with as many, replaces what it had contributed', async () => {
    const gateway = await builtGateway(mode)
    await gateway.deliver('monday.csv', [{ ...MONDAY, prompt_tokens: '11' }, WEDNESDAY])
    await gateway.deliver('tuesday.ndjson.gz', [useOn('2025-03-06', 'acme/as-many', 40, { request_id: 'h1' })])
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', WEDNESDAY_ROW, '2025-03-06 acme/as-many 40'])
  })

  it('a file that no entry of `files` matches any more, still on disk, is a change of the sources', async () => {
    const gateway = await builtGateway(mode)
    await gateway.configure({ on_missing: mode }, { files: ['raw/*.csv'] })
    const { rows, notices } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW])
    expect(notices.join('\n')).toContain('tuesday.ndjson.gz')
  })

  it('a source that the sources file no longer names is a change of the sources', async () => {
    const gateway = await builtGateway(mode)
    await gateway.configure({
      on_missing: mode,
      sources: [source('gateway', 'monday.csv'), source('partner', 'tuesday.ndjson.gz')],
    })
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
    await gateway.configure({ on_missing: mode, sources: [source('gateway', 'monday.csv')] })
    expect(await gateway.rows()).toEqual([MONDAY_ROW])
  })

  it('a source of another name with the same files is a change of the sources', async () => {
    const gateway = await builtGateway(mode)
    await gateway.configure({ on_missing: mode }, { name: 'renamed' })
    const { summary, rows } = await gateway.build()
    expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
    expect(summary.records.read).toBe(2)
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

  it('stops the build under `fail`, which names the file and both counts', async () => {
    const gateway = await shrunkGateway('fail')
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).toMatch(/\b3\b/)
    expect(message).toMatch(/\b1\b/)
    expect(message).toContain('on_missing')
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('replaces what it had contributed under `remove`', async () => {
    const gateway = await shrunkGateway('remove')
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/monday 11', TUESDAY_ROW])
  })

  it('adds to what it had contributed under `keep`, copies counted once', async () => {
    const gateway = await shrunkGateway('keep')
    const rows = ['2025-03-03 acme/monday 11', TUESDAY_ROW, WEDNESDAY_ROW, '2025-03-05 acme/more 1']
    expect(await gateway.rows()).toEqual(rows)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(rows)
  })

  it('keeps what it held then although it grows again later, the state thrown away or not', async () => {
    const gateway = await shrunkGateway('keep')
    await gateway.rows()
    await gateway.deliver('monday.csv', [
      ...SHRUNK,
      ...['m2', 'm3', 'm4'].map((id) => useOn('2025-03-03', 'acme/new', 1, { request_id: id })),
    ])
    const rows = [
      '2025-03-03 acme/monday 11',
      '2025-03-03 acme/new 3',
      TUESDAY_ROW,
      WEDNESDAY_ROW,
      '2025-03-05 acme/more 1',
    ]
    expect(await gateway.rows()).toEqual(rows)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(rows)
  })

  it('is refused under `keep` where records have no id, since copies could not be told', async () => {
    const gateway = await newGateway({ on_missing: 'keep' })
    await gateway.deliver('monday.csv', [use('acme/one', 1), use('acme/one', 2)])
    expect(await gateway.rows()).toEqual(['2025-03-02 acme/one 3'])
    await gateway.deliver('monday.csv', [use('acme/one', 1)])
    const message = await gateway.failure()
    expect(message).toContain('raw/monday.csv')
    expect(message).toMatch(/request_id|\bids?\b/)
  })

  it('is one that has become empty, too', async () => {
    const gateway = await builtGateway('fail')
    await gateway.deliver('monday.csv', [])
    expect(await gateway.failure()).toContain('raw/monday.csv')
  })

  it('can be told only of whole files: a cut one fails and is not taken for a shorter one', async () => {
    const gateway = await builtGateway('remove')
    const bytes = await readFile(gateway.path('tuesday.ndjson.gz'))
    await writeFile(gateway.path('tuesday.ndjson.gz'), bytes.subarray(0, bytes.length - 9))
    expect(await gateway.failure()).toContain('tuesday.ndjson.gz')
    await writeFile(gateway.path('tuesday.ndjson.gz'), bytes)
    expect(await gateway.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
  })
})

describe('on_missing', () => {
  it.each(['kep', 'ignore', ''])('%j is wrong usage', async (mode) => {
    const gateway = await newGateway({ on_missing: mode })
    await gateway.deliver('monday.csv', [MONDAY])
    const built = buildIn(gateway.workspace)
    await expect(built).rejects.toThrow(UsageError)
    await expect(built).rejects.toThrow(/on_missing/)
  })

  it('can change between builds, and nothing that is there changes with it', async () => {
    const gateway = await builtGateway('fail')
    for (const mode of ['keep', 'remove', 'fail']) {
      await gateway.configure({ on_missing: mode })
      const { summary, rows } = await gateway.build()
      expect(rows).toEqual([MONDAY_ROW, TUESDAY_ROW])
      expect(summary.outcome).toBe('unchanged')
    }
  })
})
