/** What a build makes of the history that it finds, in folders with nothing but Parquet files and manifests. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { type Manifest, type ReleaseIndex, releasePath } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { followHistory } from '../../pipeline/publication/follow-history.ts'
import { NextTree } from '../../pipeline/publication/next-tree.ts'
import { appendRelease, EMPTY_INDEX } from '../../pipeline/release/index.ts'
import { openMemory } from '../support/database.ts'
import { writeRelease } from '../support/history-table.ts'
import { unsigned } from '../support/signing.ts'

const COUNT = 8
const nameOf = (day: number) => `202503${String(day + 1).padStart(2, '0')}T001500Z`

interface Installation {
  publicDir: string
  stateDir: string
}

let original: Installation
let index: ReleaseIndex = EMPTY_INDEX
const manifests: Manifest[] = []

/** Releases of one row, of which every fifth has another number. */
beforeAll(async () => {
  original = await newInstallation()
  const database = await openMemory()
  for (let day = 0; day < COUNT; day += 1) {
    const row = { date: '2025-03-01', model_permaslug: 'a', total_tokens: String(1 + Math.floor(day / 5)) }
    const folder = join(original.publicDir, releasePath(nameOf(day)))
    const manifest = await writeRelease(database, folder, [nameOf(day), { daily: [row] }])
    manifests.push(manifest)
    index = appendRelease(index, manifest, 'ab'.repeat(32))
  }
  database.close()
})

afterAll(() => remove(original))

async function newInstallation(): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  const [publicDir, stateDir] = [join(root, 'public'), join(root, 'state')]
  for (const folder of [publicDir, stateDir]) await mkdir(folder)
  return { publicDir, stateDir }
}

const remove = ({ publicDir }: Installation) => rm(join(publicDir, '..'), { recursive: true })

async function copy(): Promise<Installation> {
  const made = await newInstallation()
  onTestFinished(() => remove(made))
  await cp(original.publicDir, made.publicDir, { recursive: true })
  return made
}

interface Followed {
  /** The staged files; none if the published ones are right. */
  staged: string[]
  events: BuildEvent[]
}

/** Stages the history of the index and makes the switch. */
async function follow({ publicDir, stateDir }: Installation, { of = index } = {}): Promise<Followed> {
  const { signal } = new AbortController()
  const database = await openMemory({ signal })
  const events: BuildEvent[] = []
  const report = (event: BuildEvent) => void events.push(event)
  const saltOf = async () => ''
  const signing = unsigned('2026-11-20T00:12:00Z', signal)
  const tree = new NextTree({ publicDir, dataDir: stateDir, stateDir, files: realFiles, report, saltOf, signing })
  try {
    const current = manifests[of.releases.length - 1]
    if (current === undefined) throw new Error('there is no release')
    await followHistory(tree, of, current, database)
    const staged = Object.values(HISTORY_PATHS).filter((path) => tree.rootOf(path) !== publicDir)
    await tree.flush()
    await tree.commit()
    await realFiles.remove(join(publicDir, '.staging'))
    return { staged, events }
  } finally {
    database.close()
  }
}

function bytesOf({ publicDir }: Installation): Promise<Buffer[]> {
  return Promise.all(Object.values(HISTORY_PATHS).map((path) => readFile(join(publicDir, path))))
}

const first = (count: number): ReleaseIndex => ({ ...index, releases: index.releases.slice(0, count) })

it('goes on from the published history, tells the progress, and writes the same bytes', async () => {
  const whole = await copy()
  const { events } = await follow(whole)
  expect(events.at(-1)).toEqual({ kind: 'done', stage: 'history', detail: `${COUNT} releases added` })
  expect(events.length).toBe(COUNT + 1)
  const installation = await copy()
  await follow(installation, { of: first(COUNT - 2) })
  expect((await follow(installation)).events.length).toBe(2 + 1)
  expect(await bytesOf(installation)).toEqual(await bytesOf(whole))
  expect(await follow(installation)).toEqual({ staged: [], events: [] })
  await rm(join(installation.publicDir, HISTORY_PATHS.csv))
  expect((await follow(installation)).events).toEqual([])
  expect(await bytesOf(installation)).toEqual(await bytesOf(whole))
})

it('takes over no history of another chain, even if its releases have the same names', async () => {
  const installation = await copy()
  await follow(installation, { of: first(3) })
  const other = { ...first(4), releases: first(4).releases.map((entry) => ({ ...entry, hash: `${entry.hash}0` })) }
  expect((await follow(installation, { of: other })).events.at(-1)).toMatchObject({ detail: '4 releases added' })
})

it('says what to do about a damaged history, and about one without the rows of a dropped release', async () => {
  const installation = await copy()
  const path = join(installation.publicDir, HISTORY_PATHS.parquet)
  await follow(installation, { of: first(3) })
  await writeFile(path, (await readFile(path)).subarray(8))
  const remedy = 'delete it if all releases have their data files, and make build writes it again'
  await expect(follow(installation)).rejects.toThrow(
    new RegExp(`history.parquet cannot be read as Parquet: .*${remedy}`),
  )
  await rm(path)
  const dropped = { ...first(3), releases: first(3).releases.map((entry) => ({ ...entry, dropped: true as const })) }
  await expect(follow(installation, { of: dropped })).rejects.toThrow(
    `${path} does not have the rows of release ${nameOf(0)}, whose data files were dropped; restore it from a backup`,
  )
})

it('carries no damaged row of a dropped release on', async () => {
  const installation = await copy()
  const releases = index.releases.map((entry, day) => (day < 3 ? { ...entry, dropped: true as const } : entry))
  const dropping = (count: number): ReleaseIndex => ({ ...index, releases: releases.slice(0, count) })
  await follow(installation, { of: first(6) })
  await rewrite(installation, 'FROM history')
  await follow(installation, { of: dropping(7) })
  await rewrite(installation, 'SELECT * REPLACE (total_tokens + 1 AS total_tokens) FROM history')
  await expect(follow(installation, { of: dropping(8) })).rejects.toThrow(
    /has sha256:\w+ as the daily rows of release 20250301T001500Z, but the index says .*restore the file from a backup/,
  )
})

/** Writes the published history again with the rows of a query and its own footer, as another program would. */
async function rewrite({ publicDir }: Installation, query: string): Promise<void> {
  const path = join(publicDir, HISTORY_PATHS.parquet)
  const database = await openMemory()
  const keys = await database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const footer = keys.map(({ key, value }) => `"${key}": '${value.replaceAll("'", "''")}'`).join(', ')
  await database.execute(`CREATE VIEW history AS FROM read_parquet('${path}')`)
  await database.execute(`COPY (${query}) TO '${path}.next' (FORMAT parquet, KV_METADATA {${footer}})`)
  database.close()
  await rename(`${path}.next`, path)
}
