import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { createRegistry } from '../../pipeline/raw/registry.ts'
import type { Sources } from '../../pipeline/raw/sources.ts'
import { Archive } from '../../pipeline/rollup/archive.ts'
import {
  type DaySums,
  enterDay,
  forgetDays,
  hashOf,
  knownDays,
  settleTies,
  wasFinal,
} from '../../pipeline/rollup/days.ts'
import { resolveModels } from '../../pipeline/rollup/result.ts'
import { forgetFiles, listFiles, openState } from '../../pipeline/rollup/state.ts'
import { buildIn, createWorkspace, removeWorkspace, type Workspace, writeSmallBuild } from '../support/pipeline.ts'

const ORIGIN = { name: 'gateway', visibility: 'public' } as const
const NOTHING: DaySums = { delivered: [], surplus: [], ties: [], rejected: [], conflicting_records: 0n }

let workspace: Workspace
let database: Database

beforeEach(async () => {
  workspace = await createWorkspace()
  database = await open(join(workspace.root, 'state.duckdb'))
  await openState(database)
  await (await Archive.open(join(workspace.root, 'archive'))).select(database, ORIGIN.name)
})

afterEach(async () => {
  database.close()
  await removeWorkspace(workspace)
})

function open(path: string): Promise<Database> {
  const temporaryFolder = join(workspace.root, 'spill')
  const { signal } = new AbortController()
  return Database.open({ path, temporaryFolder, memoryLimit: undefined, threads: 1, signal })
}

function enter(date: string, answer: DaySums, isKnown = false): Promise<void> {
  const asked = new Date('2025-03-05T12:00:00Z')
  return enterDay(database, { source: ORIGIN.name, date, asked, reading: 'so', isKnown }, answer)
}

/** What counts and what is repeated, as `model outcome records tokens`, when the registry gives these aliases. */
async function resultWith(aliases: Record<string, string>): Promise<string[]> {
  const list = Object.entries(aliases).map(([alias, model_permaslug]) => ({ alias, model_permaslug }))
  await resolveModels(database, ORIGIN, { registry: createRegistry([], list) } as unknown as Sources)
  await settleTies(database)
  await database.run('result/create')
  await database.run('result/create_rollup')
  await database.run('result/deliver')
  const rows = await database.rows<{ model_permaslug: string; reason: string; records: bigint; tokens: bigint }>(
    'result/excluded',
  )
  const [published] = await database.rows<{ records: bigint; models: bigint }>('rank/published', {
    first_date: '2025-01-01',
    last_date: '2025-12-31',
  })
  return [
    ...rows.map(({ model_permaslug, reason, records, tokens }) => `${model_permaslug} ${reason} ${records} ${tokens}`),
    `${published?.records} records of ${published?.models} models`,
  ]
}

/** Has a build of the workspace find these days in its state. */
async function inPlaceOfState(): Promise<void> {
  database.close()
  const state = join(workspace.dataDir, 'state')
  await mkdir(state)
  await rename(join(workspace.root, 'state.duckdb'), join(state, 'build.duckdb'))
  database = await open(join(workspace.root, 'other.duckdb'))
}

const usage = (model: string, records: bigint, tokens: bigint, contributor: string | null = null) => {
  return { model, contributor, records, tokens }
}
const delivered = (...[model, records, ...others]: Parameters<typeof usage>) => {
  return { ...usage(model, records, ...others), identified_records: records }
}

describe('days of a source in the state', () => {
  it('have their net records and the time when they were asked for', async () => {
    await enter('2025-03-01', {
      ...NOTHING,
      delivered: [delivered('a', 5n, 50n)],
      surplus: [usage('a', 2n, 20n)],
    })
    await enter('2025-03-02', { ...NOTHING, rejected: [{ reason: 'invalid_model', records: 3n }] })
    await enter('2025-03-03', NOTHING)
    const days = await knownDays(database)
    expect(days.map(({ date, net_records }) => [date, net_records])).toEqual([
      ['2025-03-01', 3n],
      ['2025-03-02', 0n],
      ['2025-03-03', 0n],
    ])
    expect(days.map(wasFinal)).toEqual([true, false, false])
  })

  it('replace what was known of them, and can be forgotten', async () => {
    await enter('2025-03-01', {
      ...NOTHING,
      delivered: [delivered('a', 5n, 50n)],
      surplus: [usage('a', 2n, 20n)],
    })
    await enter('2025-03-01', { ...NOTHING, delivered: [delivered('b', 1n, 7n)] }, true)
    expect(await resultWith({})).toEqual(['1 records of 1 models'])
    await forgetDays(database, ['2025-03-01'])
    expect(await knownDays(database)).toEqual([])
    expect(await resultWith({})).toEqual(['0 records of 0 models'])
  })

  it('are not reduced by duplicates among forgotten records', async () => {
    const surplus = [usage('a', 2n, 20n)]
    const ties = [{ models: ['a', 'b'], records: 1n, tokens: 10n }]
    await enter('2025-03-01', { ...NOTHING, delivered: [delivered('a', 5n, 50n)], surplus, ties })
    await forgetFiles(database, await listFiles(database))
    await enter('2025-03-01', { ...NOTHING, delivered: [delivered('a', 5n, 50n)] })
    expect(await resultWith({})).toEqual(['5 records of 1 models'])
  })

  it('keep the duplicate with the greatest slug by the current registry if counts are equal', async () => {
    const answer: DaySums = {
      ...NOTHING,
      delivered: [delivered('a', 1n, 9n), delivered('b', 1n, 9n)],
      surplus: [usage('a', 1n, 9n), usage('b', 1n, 9n)],
      ties: [{ models: ['a', 'b'], records: 1n, tokens: 9n }],
    }
    await enter('2025-03-01', answer)
    expect(await resultWith({})).toEqual(['a duplicate 1 9', '1 records of 1 models'])
    expect(await resultWith({})).toEqual(['a duplicate 1 9', '1 records of 1 models'])
    expect(await resultWith({ a: 'z' })).toEqual(['b duplicate 1 9', '1 records of 1 models'])
    expect(await resultWith({ a: 'z', b: 'zz' })).toEqual(['z duplicate 1 9', '1 records of 1 models'])
    expect((await knownDays(database)).map(({ net_records }) => net_records)).toEqual([1n])
  })

  it('leave nothing behind when raw files of the same source replace them', async () => {
    const surplus = [usage('acme/one', 2n, 20n)]
    await enter('2025-03-01', { ...NOTHING, delivered: [delivered('acme/one', 5n, 50n)], surplus })
    await inPlaceOfState()
    const record = {
      timestamp: '2025-03-01T12:00:00Z',
      model_permaslug: 'acme/one',
      prompt_tokens: '7',
      request_id: 'a',
    }
    await writeSmallBuild(workspace, {
      sources: [{ records: [record, record], settings: { name: ORIGIN.name } }],
      top: { on_missing: 'remove' },
    })
    const { records } = await buildIn(workspace)
    expect(records).toMatchObject({ read: 2, published: 1, duplicates: 1 })
  })

  it.each(['fail', 'keep'])(
    'are not kept beside raw files of the same source if on_missing is %s',
    async (on_missing) => {
      await enter('2025-03-01', { ...NOTHING, delivered: [delivered('acme/one', 5n, 50n)] })
      await inPlaceOfState()
      const record = { timestamp: '2025-03-01T12:00:00Z', model_permaslug: 'acme/one', prompt_tokens: '7' }
      await writeSmallBuild(workspace, {
        sources: [{ records: [record], settings: { name: ORIGIN.name } }],
        top: { on_missing },
      })
      const failed = buildIn(workspace)
      await expect(failed).rejects.toThrow(BuildError)
      await expect(failed).rejects.toThrow('raw files would replace 1 day from ClickHouse, such as 2025-03-01')
      await expect(failed).rejects.not.toThrow('"keep"')
    },
  )

  it('have a hash of their sums alone, as previous versions made it', () => {
    const sums = (anna: string | null, bert: string | null): DaySums => ({
      delivered: [delivered('a', 4n, 40n, anna), delivered('a', 5n, 50n, bert), delivered('b', 1n, 7n)],
      surplus: [usage('a', 5n, 50n, anna), usage('b', 1n, 7n), usage('a', -2n, -20n, bert)],
      ties: [{ models: ['a', 'b'], records: 1n, tokens: 7n }],
      rejected: [{ reason: 'invalid_model', records: 3n }],
      conflicting_records: 1n,
    })
    const hash = '3f93713eb534e81bbef81898e678cc02f12bdc7969637f403316d9a896e7225e'
    expect([sums('anna', 'bert'), sums(null, null)].map(hashOf)).toEqual([hash, hash])
  })
})
