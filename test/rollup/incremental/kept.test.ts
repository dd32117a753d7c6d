/** Files whose records are kept when they are gone: decided late, with names that others take, and by builds that are stopped. */
import { readdir, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Files, realFiles } from '../../../pipeline/base/files.ts'
import { filesAfter, LOST } from '../../support/crash.ts'
import { copyOf, Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { createWorkspace, publishedCsv, removeWorkspace, rowsOf, writeInput } from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'

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

const withoutId = (record: FileRecord): FileRecord => ({ ...record, request_id: '' })

/** A gateway for several tests, that has built these files; who asks for it removes it. */
async function builtOriginal(files: Record<string, FileRecord[]>, top: Record<string, unknown> = {}): Promise<Gateway> {
  const gateway = new Gateway(await createWorkspace())
  await gateway.configure(top)
  for (const [index, [name, records]] of Object.entries(files).entries()) {
    await gateway.deliver(name, records)
    // A copy of a file has its time to the millisecond, and is to be no file that was touched.
    await utimes(gateway.path(name), 0, new Date(`2025-03-0${3 + index}T23:59:59Z`))
  }
  await gateway.build()
  return gateway
}

/** The rows of the next build, and of one from nothing after it, which must be the same. */
async function rowsAndAgain(gateway: Gateway): Promise<string[]> {
  const rows = await gateway.rows()
  expect(await gateway.rows()).toEqual(rows)
  await gateway.forget()
  expect(await gateway.rows()).toEqual(rows)
  return rows
}

describe('duplicates of a missing file, when `keep` is set after it went missing', () => {
  /** Every file shares records with the others. */
  let original: Gateway

  beforeAll(async () => {
    original = await builtOriginal({ 'a.csv': [ONE, TWO], 'b.csv': [TWO, THREE], 'c.csv': [ONE, THREE, FOUR] })
    expect(rowsOf(await publishedCsv(original.workspace))).toEqual(ROWS)
  })

  afterAll(() => removeWorkspace(original.workspace))

  it('are counted once, and duplicates among other files are still found', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.configure({ on_missing: 'keep' })
    expect(await rowsAndAgain(gateway)).toEqual(ROWS)
  })

  it('are counted once when several files are missing, and are not rejected records', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.takeAway('b.csv')
    await gateway.configure({ on_missing: 'keep' })
    expect(await gateway.rows()).toEqual(ROWS)
    const quality = JSON.parse(await readFile(join(gateway.workspace.dataDir, 'state/quality.json'), 'utf8'))
    expect(quality.rejected_in_files).toEqual([])
    expect(await gateway.rows()).toEqual(ROWS)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(ROWS)
  })

  it('are subtracted by the old registry; a new registry decides between the other records', async () => {
    const gateway = await newGateway({ models: 'models.json' })
    const models = (alias: string) => [
      { model_permaslug: 'acme/three', aliases: [], public: true },
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
    expect(await rowsAndAgain(gateway)).toEqual([THREE_ROW, '2025-03-03 zz/one 10'])
  })

  it('stop the build when a file that has them too was replaced', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.deliver('b.csv', [TWO, THREE, FOUR])
    await gateway.configure({ on_missing: 'keep' })
    const message = await gateway.failure()
    expect(message).toContain('raw/a.csv')
    expect(message).toContain('raw/b.csv')
    await gateway.configure({ on_missing: 'remove' })
    expect(await rowsAndAgain(gateway)).toEqual(ROWS)
  })

  it('are none on dates without a duplicate, whatever else changed', async () => {
    const gateway = await newGateway()
    await gateway.deliver('a.csv', [ONE])
    await gateway.deliver('b.csv', [TWO])
    await gateway.rows()
    await gateway.takeAway('a.csv')
    await gateway.deliver('b.csv', [TWO, THREE])
    await gateway.configure({ on_missing: 'keep' })
    expect(await rowsAndAgain(gateway)).toEqual([THREE_ROW, TWO_ROW, ONE_ROW])
  })

  it('are counted once after a build that stopped at any step in the archive', async () => {
    const gateway = await copyOf(original)
    await gateway.takeAway('a.csv')
    await gateway.takeAway('b.csv')
    await gateway.configure({ on_missing: 'keep' })
    await expectMadeGood(gateway, ROWS)
  })
})

it('the next build completes one that stopped while a file without ids replaced a kept one', async () => {
  const gateway = await newGateway({ on_missing: 'keep' })
  await gateway.deliver('a.csv', [withoutId(ONE)])
  await gateway.deliver('c.csv', [THREE])
  await gateway.rows()
  await gateway.takeAway('a.csv')
  expect(await gateway.rows()).toEqual([THREE_ROW, ONE_ROW])
  await gateway.deliver('a.csv', [withoutId(ONE), withoutId(TWO)])
  await expectMadeGood(gateway, [THREE_ROW, TWO_ROW, ONE_ROW])
})

/** Stops a build after every other of its steps in the archive; the next one must publish `rows`, with the state and without. */
async function expectMadeGood(gateway: Gateway, rows: string[]): Promise<void> {
  const isInArchive = (path: unknown) => /\/archive\/files\/(?!\.staging)/.test(String(path))
  for (let last = 0; ; last += 2) {
    const stopped = await copyOf(gateway)
    let steps = 0
    const files = filesAfter((...given) => {
      if (given.some(isInArchive) || steps > last) steps += 1
      if (steps > last) throw new Error(LOST)
    })
    const outcome = await stopped.build(stopped.later(), files).catch((error: unknown) => error)
    if (!(outcome instanceof Error)) {
      expect(steps).toBeGreaterThan(1)
      return
    }
    expect(outcome.message).toBe(LOST)
    expect(await stopped.rows(), `after step ${last}`).toEqual(rows)
    await stopped.forget()
    expect(await stopped.rows(), `after step ${last}`).toEqual(rows)
  }
}

describe('logs that are rotated, with ids and without, the oldest dropped', () => {
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
    const source = (name: string) => ({ name, schema: 'canonical', files: [`raw/${name}/*`], visibility: 'public' })
    const gateway = await newGateway({ on_missing: mode, sources: sources.map(source) })
    for (const ids of sources) {
      await gateway.deliver(`${ids}/usage.2.csv`, [inSource(ids, ONE)])
      await gateway.deliver(`${ids}/usage.1.csv`, [inSource(ids, TWO)])
      await gateway.deliver(`${ids}/usage.csv`, [inSource(ids, THREE)])
      // Logs of several days do not have one size and one time to the tick of the clock, which these may.
      for (const [day, name] of ['usage.2.csv', 'usage.1.csv', 'usage.csv'].entries()) {
        await utimes(gateway.path(`${ids}/${name}`), 0, new Date(`2025-03-0${day + 3}T23:59:59Z`))
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

  it.each(IDS)('are a loss under `fail`, %s ids, although every name is there', async (ids) => {
    const gateway = await rotatedGateway('fail', [ids])
    expect(await gateway.failure()).toContain(`raw/${ids}/usage.2.csv`)
    expect(await gateway.failure()).toContain(`raw/${ids}/usage.2.csv`)
  })

  it('go on counting under `keep`, once each', async () => {
    const gateway = await rotatedGateway('keep')
    expect(await rowsAndAgain(gateway)).toEqual(rowsOfBoth(ROWS))
    await rotate(gateway, FIVE)
    expect(await rowsAndAgain(gateway)).toEqual(rowsOfBoth([...ROWS, '2025-03-05 acme/five 160']))
  })

  it('count as long as they are there under `remove`', async () => {
    const gateway = await rotatedGateway('remove')
    expect(await rowsAndAgain(gateway)).toEqual(rowsOfBoth([THREE_ROW, TWO_ROW, FOUR_ROW]))
  })
})

describe('a file that is back leaves the archive', () => {
  /** Its records are kept, and it is there again. */
  let original: Gateway

  beforeAll(async () => {
    original = await builtOriginal({ 'a.csv': [ONE], 'b.csv': [TWO] }, { on_missing: 'keep' })
    await original.takeAway('a.csv')
    await original.build()
    await original.deliver('a.csv', [ONE])
  })

  afterAll(() => removeWorkspace(original.workspace))

  const archived = ({ workspace }: Gateway) => readdir(join(workspace.dataDir, 'archive/files'))

  it('once the state has it, and nothing of it stays', async () => {
    const gateway = await copyOf(original)
    expect(await archived(gateway)).toHaveLength(1)
    await gateway.build()
    expect(await archived(gateway)).toEqual([])
  })

  it('and is put back if the build stopped before, because the file may be missing again', async () => {
    const gateway = await copyOf(original)
    const files: Files = {
      ...realFiles,
      async rename(from, to) {
        await realFiles.rename(from, to)
        if (to.includes('.removed-')) throw new Error(LOST)
      },
    }
    await expect(gateway.build(gateway.later(), files)).rejects.toThrow(LOST)
    await gateway.takeAway('a.csv')
    expect(await rowsAndAgain(gateway)).toEqual([TWO_ROW, ONE_ROW])
  })
})
