/** `retention`: what is dropped and when, and that all commands do with dropped releases what they do with whole ones. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Database } from '../../pipeline/base/database.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { withTemporaryDatabase } from '../../pipeline/base/scratch.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import { DATASET_PATH, type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS, INDEX_PATH, publishedPath } from '../../pipeline/contract/published-paths.ts'
import { DATA_FILES, isDataFile } from '../../pipeline/contract/release-files.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { proveInHistory } from '../../pipeline/publication/retention.ts'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import { HistoryTable, readHistoryReleases } from '../../pipeline/release/history-table.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { reproduce } from '../../pipeline/reproduce.ts'
import { crashAfter, filesWithin, LOST } from '../support/crash.ts'
import { readIndex } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  removeWorkspace,
  settings,
  snapshotTree,
  type Workspace,
  withdrawDatesIn,
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use, verifyFolder } from '../support/releases.ts'
import { whole as answerWhole, serveFolder } from '../support/static-host.ts'

const [FIRST, SECOND, THIRD, FOURTH] = ['20250305T100000Z', '20250310T100000Z', '20250310T110000Z', '20250310T120000Z']
const AT = '2025-03-10T13:00:00Z'
const KEEP_ONE = { retention: { keep_releases: 1 } }
const USES: readonly Use[][] = [
  [['2025-02-27', 1], ['2025-02-28', 5]],
  [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]],
  [['2025-02-27', 1], ['2025-02-28', 8], ['2025-03-02', 9], ['2025-03-03', 4, 'b']],
  [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9], ['2025-03-04', 6]],
] // biome-ignore format: rows

/** Four releases that keep their data files, and the same of which the last one alone does. */
let whole: Workspace
let dropped: Workspace
let summary: BuildSummary

beforeAll(async () => {
  whole = await createWorkspace()
  for (const [number, asOf] of ['05T10', '10T10', '10T11', '10T12'].entries()) {
    await release(whole, USES[number] ?? [], `2025-03-${asOf}:00:00Z`)
  }
  dropped = await copyOf(whole)
  await deliver(dropped, USES[3] ?? [], KEEP_ONE)
  summary = await buildIn(dropped, '2025-03-10T12:30:00Z')
})

afterAll(async () => {
  for (const workspace of [whole, dropped]) await removeWorkspace(workspace)
})

const effects = { now: () => new Date(AT), report: () => {}, signal: new AbortController().signal, files: realFiles }

/** A copy that outlasts the test that asks for it. */
async function copyOf({ root }: Workspace): Promise<Workspace> {
  const copy = await createWorkspace()
  await cp(root, copy.root, { recursive: true, verbatimSymlinks: true })
  return copy
}

async function droppedIn(workspace: Workspace): Promise<ReleaseName[]> {
  const { releases } = await readIndex(workspace)
  return releases.filter((entry) => entry.dropped).map(({ release }) => release)
}

/** What programs read, and the index without its marks; without the data files of some releases. */
async function told(workspace: Workspace, without: readonly ReleaseName[]): Promise<Record<string, unknown>> {
  const isGone = (path: string) =>
    without.some((name) => path.startsWith(`${releasePath(name)}/`)) && isDataFile(path.split('/').at(-1) ?? '')
  const tree = Object.entries(await snapshotTree(workspace.publicDir))
  const files = tree.filter(([path]) => publishedPath(path).readers === 'programs' && !isGone(path))
  const { releases } = await readIndex(workspace)
  return { ...Object.fromEntries(files), [INDEX_PATH]: releases.map(({ dropped: _, ...entry }) => entry) }
}

describe('a build', () => {
  it('drops older releases although nothing else changed: their data files go, and nothing else changes', async () => {
    expect(summary).toMatchObject({ outcome: 'unchanged', dropped: [FIRST, SECOND, THIRD] })
    expect(await droppedIn(dropped)).toEqual([FIRST, SECOND, THIRD])
    expect(await told(dropped, [])).toEqual(await told(whole, [FIRST, SECOND, THIRD]))
    const names = await readdir(join(dropped.publicDir, releasePath(FIRST)))
    expect(names).toEqual(expect.arrayContaining(['SHA256SUMS', 'changes.csv', 'index.html', 'manifest.json']))
    expect(await verifyFolder(dropped.publicDir)).toMatchObject({ releases: 4, latest: FOURTH })
  })

  it('says in a dry run what would go, keeps what the setting names, and never brings data files back', async () => {
    const workspace = await copyWorkspace(whole)
    const keeping = { retention: { keep_releases: 2, keep: [FIRST] } }
    await deliver(workspace, USES[3] ?? [], keeping)
    const before = await snapshotTree(workspace.publicDir)
    const dry = await buildIn(workspace, AT, {}, { dryRun: true })
    expect(describeSummary(dry)).toContain(
      `  dropped   1 release would lose its data files, ${SECOND}; the history has the rows\n`,
    )
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
    await deliver(workspace, [...(USES[3] ?? []), ['2025-03-05', 1]], keeping)
    const built = await buildIn(workspace, AT)
    expect(describeSummary(built)).toContain(`  dropped   2 releases lost their data files, ${SECOND} to ${THIRD}; the`)
    expect(await droppedIn(workspace)).toEqual([SECOND, THIRD])
    await verifyFolder(workspace.publicDir)
    const left = await snapshotTree(workspace.publicDir)
    await deliver(workspace, [...(USES[3] ?? []), ['2025-03-05', 1]], {
      retention: { keep_releases: 'all', keep: [SECOND] },
    })
    expect(await buildIn(workspace, AT)).not.toHaveProperty('dropped')
    expect(await snapshotTree(workspace.publicDir)).toEqual(left)
  })

  it('refuses settings that are not there to keep anything', async () => {
    const workspace = await copyWorkspace(whole)
    for (const [retention, message] of [
      [{ keep_releases: 0 }, 'retention.keep_releases: must be at least 1, not 0'],
      [{ keep_releases: 'some' }, 'retention.keep_releases: must be "all" or a number of releases, 1 or more'],
      [{ keep: ['20250101T000000Z'] }, '"retention" keeps release 20250101T000000Z, which does not exist'],
      [{ keep_release: 3 }, /"keep_release".*"keep_releases"/],
    ] as const) {
      await deliver(workspace, USES[3] ?? [], { retention })
      await expect(buildIn(workspace, AT)).rejects.toThrow(message)
    }
  })

  it('drops nothing of which the history does not have the rows', async () => {
    const workspace = await copyWorkspace(whole)
    await deliver(workspace, USES[3] ?? [], KEEP_ONE)
    await withHistory(workspace, async (database, path) => {
      const table = await HistoryTable.read(database, path)
      await database.execute(
        `UPDATE history_rows SET total_tokens = 6 WHERE valid_from = '${FIRST}' AND total_tokens = 5`,
      )
      const known = await readHistoryReleases(database, path)
      const manifest = await readManifest(join(workspace.publicDir, releasePath(FOURTH)))
      if (known !== undefined) await table.writeParquet(path, known, manifest, realFiles)
    })
    await expect(buildIn(workspace, AT)).rejects.toThrow(
      /history\.parquet has sha256:\w+ as the daily rows of release 20250305T100000Z, but the index says sha256:/,
    )
    const { [HISTORY_PATHS.parquet]: _, ...others } = await told(whole, [])
    expect(await told(workspace, [])).toMatchObject(others)
  })

  it('that stops leaves the rows of each release in its files or in the history, and the next one completes it', async () => {
    const original = await copyWorkspace(whole)
    await deliver(original, USES[3] ?? [], KEEP_ONE)
    const needed = await stopEverywhere(original, {
      run: (workspace, files) => buildIn(workspace, AT, { files }),
      mend: (workspace) => buildIn(workspace, AT),
    })
    expect(needed).toBeGreaterThan(0)
  })
})

/** Where a stop is worth a try: before what is renamed to a place of the switch. */
const STOPS =
  /v1\/((coverage|latest|releases\/index)\.json|history\.parquet|releases\/\w+(\/(TOMBSTONE\.json|rankings-daily\.csv))?)$|removed\/(1|13|30)$/

interface Stopped {
  run(workspace: Workspace, files: Files): Promise<unknown>
  mend(workspace: Workspace): Promise<unknown>
}

/**
 * Stops a command before each of some steps and mends it: all is as if it had not been stopped. Returns how often the
 * history was needed in between, because data files were gone.
 */
async function stopEverywhere(original: Workspace, { run, mend }: Stopped): Promise<number> {
  const stops: number[] = []
  let steps = 0
  const files = filesWithin(async (name, [from, to], take) => {
    const isOfSwitch = String(from).includes('.staging') !== String(to).includes('.staging')
    if (name === 'rename' && isOfSwitch && STOPS.test(String(to))) stops.push(steps)
    steps += 1
    await take()
  })
  const complete = await copyWorkspace(original)
  await run(complete, files)
  const expected = await snapshotTree(complete.publicDir)
  expect(stops.length).toBeGreaterThan(2)
  let needed = 0
  for (const last of stops) {
    const workspace = await copyWorkspace(original)
    await expect(run(workspace, crashAfter(last))).rejects.toThrow(LOST)
    if (await assertRowsOfAll(workspace)) needed += 1
    await mend(workspace)
    expect(await snapshotTree(workspace.publicDir), `lost after step ${last}`).toEqual(expected)
    await removeWorkspace(workspace)
  }
  return needed
}

function withHistory(
  { publicDir }: Workspace,
  work: (database: Database, path: string) => Promise<void>,
): Promise<void> {
  return withTemporaryDatabase('test', { signal: effects.signal, folders: [publicDir] }, (database) =>
    work(database, join(publicDir, HISTORY_PATHS.parquet)),
  )
}

/** Whether a release that stands lacks data files. Then it must be dropped, and the published history have its rows. */
async function assertRowsOfAll(workspace: Workspace): Promise<boolean> {
  let isNeeded = false
  const { releases } = await readIndex(workspace)
  await withHistory(workspace, async (database, path) => {
    for (const entry of releases) {
      const names = await readdir(join(workspace.publicDir, releasePath(entry.release)))
      if (names.includes('TOMBSTONE.json') || DATA_FILES.every((name) => names.includes(name))) continue
      expect(entry).toHaveProperty('dropped', true)
      await proveInHistory(database, { path }, entry)
      isNeeded = true
    }
  })
  return isNeeded
}

/** What both folders go through. The second one has `retention`, if the command reads the sources file. */
const COMMANDS: [string, (workspace: Workspace, top: Record<string, unknown>) => Promise<unknown>][] = [
  ['the withdrawal of a dropped release', (workspace) => withdrawIn(workspace, THIRD, AT)],
  [
    'the withdrawal of the current release, so that a dropped one is current again',
    (workspace) => withdrawIn(workspace, FOURTH, AT),
  ],
  ['the withdrawal of dates', (workspace) => withdrawDatesIn(workspace, '2025-03-02', AT)],
  [
    'another release',
    async (workspace, top) => {
      await deliver(workspace, USES[2] ?? [], top)
      await buildIn(workspace, AT)
    },
  ],
  [
    'a build that makes the days and months of all releases again',
    async (workspace) => {
      for (const name of ['coverage.json', 'restatements.json', 'daily', 'monthly']) {
        await rm(join(workspace.publicDir, DATASET_PATH, name), { recursive: true })
      }
      await buildIn(workspace, AT)
    },
  ],
]

it.each(COMMANDS)('%s does what it does in a folder that keeps all files', async (_, command) => {
  const [one, other] = [await copyWorkspace(whole), await copyWorkspace(dropped)]
  await command(one, {})
  await command(other, KEEP_ONE)
  expect(await told(other, [])).toEqual(await told(one, await droppedIn(other)))
  await verifyFolder(other.publicDir)
})

it.each([
  ['a dropped release', THIRD],
  ['the current release', FOURTH],
])('a withdrawal of %s that stops is completed by the next command', async (_, name) => {
  await stopEverywhere(dropped, {
    run: (workspace, files) => withdrawIn(workspace, name, AT, { files }),
    async mend(workspace) {
      const error = await withdrawIn(workspace, name, AT).catch((thrown: unknown) => thrown)
      if (error instanceof Error) expect(error.message).toContain('was withdrawn already')
    },
  })
})

it('a dropped release whose files would have other bytes does not become current', async () => {
  const workspace = await copyWorkspace(dropped)
  const path = join(workspace.publicDir, releasePath(THIRD), 'manifest.json')
  const { sha256 = '' } =
    (await readManifest(dirname(path))).files.find(({ path }) => path === 'rankings-daily.parquet') ?? {}
  await writeFile(path, (await readFile(path, 'utf8')).replace(sha256, '0'.repeat(64)))
  const before = await snapshotTree(workspace.publicDir)
  await expect(withdrawIn(workspace, FOURTH, AT)).rejects.toThrow(
    `release ${THIRD} would become current, but it was dropped, and its rankings-daily.parquet cannot be made again with the bytes`,
  )
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
})

it('a dropped release is reproduced from its inputs, and compared with the checksums that it lists', async () => {
  const workspace = await copyWorkspace(dropped)
  await deliver(workspace, USES[2] ?? [])
  const { equal, files } = await reproduce(readPipelineConfig(settings(workspace, AT)), effects, THIRD)
  expect(files.filter(({ comparison }) => comparison !== 'equal')).toEqual([])
  expect(equal).toBe(true)
  expect(files.map(({ path }) => path)).toContain('rankings-daily.parquet')
})

it('a dropped release loses its data files in copies', async () => {
  const workspace = await copyWorkspace(whole)
  const folder = join(workspace.root, 'copy')
  const exported = () => exportPublished(readPipelineConfig(settings(workspace, AT)), effects, { folder })
  await exported()
  await deliver(workspace, USES[3] ?? [], KEEP_ONE)
  await buildIn(workspace, AT)
  expect(await exported()).toMatchObject({ removed: 3 * DATA_FILES.length })
  await verifyFolder(folder)
})

it('a dropped release is verified on a host, also if it is dropped meanwhile', async () => {
  const host = await serveFolder(whole.publicDir, {
    answers: {
      [`${releasePath(FIRST)}/rankings-daily.csv`](response, bytes, count) {
        host.folder = dropped.publicDir
        answerWhole(response, bytes, count)
      },
    },
  })
  const patience = { idleMs: 30_000, waitsMs: [0, 0] }
  const summary = await verifyUrl(host.url, { ...effects, onVerified: () => {}, patience })
  expect(summary).toMatchObject({ releases: 4, dropped: 3, latest: FOURTH })
})
