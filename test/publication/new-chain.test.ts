/** Synthetic and real releases never share a chain, wherever a build stops; the case new-chain tells the story. */
import { cp, readdir, readFile, readlink, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent, Effects } from '../../pipeline/base/effects.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import type { BuildOptions } from '../../pipeline/build.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { findUnknownModels } from '../../pipeline/rollup/unknown-models.ts'
import { crashAfter, filesAfter, LOST } from '../support/crash.ts'
import { readIndex } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  readLatest,
  removeWorkspace,
  settings,
  sha256,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { verifyFolder } from '../support/releases.ts'
import { useSmallSample } from '../support/small-sample.ts'

useSmallSample()

const SAMPLE_AS_OF = '2025-03-10T12:00:00Z'
/** Nothing says that one's own logs are newer than the sample. */
const EARLIER = '2025-03-10T09:00:00Z'

/** A build as `make build` runs it; without `SOURCES` it builds what lies in the data folder, or the sample. */
async function run(
  workspace: Workspace,
  asOf: string,
  {
    sources = workspace.sources,
    files = realFiles,
    notices = [],
    ...options
  }: BuildOptions & { sources?: string; files?: Files; notices?: string[] } = {},
): Promise<{ summary: BuildSummary; notices: string[] }> {
  const report = (event: BuildEvent) => void (event.kind === 'notice' && notices.push(event.message))
  const summary = await buildIn({ ...workspace, sources }, asOf, { report, files }, options)
  return { summary, notices }
}

const QUIET: Effects = {
  now: () => new Date(),
  report: () => {},
  signal: new AbortController().signal,
  files: realFiles,
}

const SAMPLE_BUILD = { sources: '' }

/** Own logs, in a source that has the name of one of the sample's. */
function writeOwnLogs(workspace: Workspace, tokens = 5): Promise<void> {
  const records = ['2025-03-05', '2025-03-08'].map((date) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'acme/own',
    prompt_tokens: String(tokens),
  }))
  const source = { records, settings: { name: 'gateway' } }
  return writeSmallBuild(workspace, { sources: [source] })
}

/** What is published, but for what is hidden and scripts and styles, which stay for pages that are open. */
async function published({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<Record<string, string>> {
  const tree = Object.entries(await snapshotTree(publicDir))
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith('.') && !path.startsWith('assets')))
}

let sample: Workspace
let alone: Record<string, string>

beforeAll(async () => {
  sample = await createWorkspace()
  await run(sample, '2025-03-09T12:00:00Z', SAMPLE_BUILD)
  await run(sample, SAMPLE_AS_OF, SAMPLE_BUILD)
  await writeOwnLogs(sample)
  // What the same logs give in folders that never held a sample.
  const clean = await createWorkspace()
  await cp(sample.input, clean.input, { recursive: true })
  await run(clean, EARLIER)
  alone = await published(clean)
  await removeWorkspace(clean)
})
afterAll(() => removeWorkspace(sample))

async function withSample(work: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await copyWorkspace(sample)
  try {
    await work(workspace)
  } finally {
    await removeWorkspace(workspace)
  }
}

it.each([EARLIER, SAMPLE_AS_OF])(
  'the first real build as of %s never mixes its files with the sample’s wherever it stops, and the next one completes it',
  async (asOf) => {
    const { steps, expected } = await counted(asOf)
    const publicSteps = steps.flatMap((path, step) => (/public\/(?!\.)|new-chain/.test(path) ? [step] : []))
    const chosen = publicSteps.filter((_, position) => position % 50 === 0 || position === 2)
    for (const last of [...chosen, ...publicSteps.slice(-2)]) {
      await withSample(async (workspace) => {
        await expect(run(workspace, asOf, { files: crashAfter(last) })).rejects.toThrow(LOST)
        await assertNotMixed(workspace)
        await run(workspace, asOf)
        expect(await published(workspace), `stopped before step ${last}, ${steps[last]}`).toEqual(expected)
        await verifyFolder(workspace.publicDir)
      })
    }
  },
)

/** The paths of all steps of a real build over the sample, and what it leaves. */
async function counted(asOf: string): Promise<{ steps: string[]; expected: Record<string, string> }> {
  const steps: string[] = []
  let expected: Record<string, string> = {}
  await withSample(async (workspace) => {
    await run(workspace, asOf, { files: filesAfter((...paths) => void steps.push(paths.map(String).join(' '))) })
    expected = await published(workspace)
  })
  return { steps, expected }
}

/** Whoever follows latest.json finds one whole release, of one kind, or no pointer at all. */
async function assertNotMixed(workspace: Workspace): Promise<void> {
  const names = await readdir(datasetFolder(workspace))
  if (!names.includes('latest.json')) return
  const pointer = await readLatest(workspace)
  const folder = join(datasetFolder(workspace), pointer.path)
  const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
  expect(manifest.content_hash).toBe(pointer.content_hash)
  for (const file of manifest.files) expect(sha256(await readFile(join(folder, file.path)))).toBe(file.sha256)
  const { releases } = await readIndex(workspace)
  const kinds = new Set<boolean>()
  for (const { path } of releases) {
    const found = await readFile(join(datasetFolder(workspace), path, 'manifest.json'), 'utf8').catch(() => undefined)
    if (found !== undefined) kinds.add(Manifest.parse(JSON.parse(found)).synthetic)
  }
  expect(kinds.size).toBe(1)
}

it('commands report a switch that stopped halfway; `models` and `archive` do not miss the files of the sample', () =>
  withSample(async (workspace) => {
    const files = filesAfter((_from, to) => {
      if (to === join(datasetFolder(workspace), 'releases/index.json')) throw new Error(LOST)
    })
    await expect(run(workspace, SAMPLE_AS_OF, { files })).rejects.toThrow(
      `the switch to the new chain stopped halfway: ${LOST}; the next make build completes it`,
    )
    const copy = await copyWorkspace(workspace)
    await expect(run(copy, SAMPLE_AS_OF, { dryRun: true })).rejects.toThrow(
      `${copy.publicDir} was left by a build that was stopped; make build completes it`,
    )
    const config = { ...readPipelineConfig(settings(workspace, SAMPLE_AS_OF)), threads: 1 }
    expect((await findUnknownModels(config, QUIET, { names: [] })).unknown).toEqual([])
    const before = UtcDate.parse('2025-03-06')
    expect((await archiveDates(config, QUIET, { before, dryRun: true })).records).toBe(1)
  }))

describe.each(['.', 'datasets', 'datasets/rankings-daily/v1/daily'])(
  'where %s below the public folder is a link',
  (folder) => {
    it('a new chain replaces the files behind the link, keeps a copy of them, and leaves the link', () =>
      withSample(async (workspace) => {
        const link = join(workspace.publicDir, folder)
        const elsewhere = join(workspace.root, 'elsewhere')
        await run(workspace, '2025-03-10T13:00:00Z')
        await rename(link, elsewhere)
        await symlink(elsewhere, join(link))
        await writeOwnLogs(workspace, 7)
        await run(workspace, '2025-03-10T14:00:00Z')
        const exported = async (name: string) => {
          const target = join(workspace.root, name)
          await exportPublished(readPipelineConfig(settings(workspace, EARLIER)), QUIET, { folder: target })
          return published({ publicDir: target })
        }
        const before = await exported('before')
        await writeOwnLogs(workspace)
        const { summary } = await run(workspace, EARLIER, { newChain: true })
        expect(await exported('after')).toEqual(alone)
        expect(await published({ publicDir: summary.new_chain?.kept_in ?? '' })).toEqual(before)
        expect(await readlink(link)).toBe(elsewhere)
        await verifyFolder(workspace.publicDir)
      }))
  },
)

describe('--new-chain', () => {
  it('keeps two previous chains whose newest releases have the same name', () =>
    withSample(async (workspace) => {
      const kept = join(workspace.dataDir, 'previous-chains/20250310T090000Z')
      await run(workspace, EARLIER)
      const first = await published(workspace)
      await writeOwnLogs(workspace, 7)
      await run(workspace, EARLIER, { newChain: true })
      const second = await published(workspace)
      await writeOwnLogs(workspace, 9)
      const { notices } = await run(workspace, EARLIER, { newChain: true, dryRun: true })
      expect(notices.join()).toContain(`the previous chain would be kept in ${kept}-2`)
      const { summary } = await run(workspace, EARLIER, { newChain: true })
      expect(summary.new_chain?.kept_in).toBe(`${kept}-2`)
      expect(await published({ publicDir: kept })).toEqual(first)
      expect(await published({ publicDir: `${kept}-2` })).toEqual(second)
      await verifyFolder(`${kept}-2`)
    }))

  it('starts no second chain when the previous build stopped during the switch to one', () =>
    withSample(async (workspace) => {
      await run(workspace, EARLIER)
      await writeOwnLogs(workspace, 7)
      const pointer = join(datasetFolder(workspace), 'latest.json')
      let isLost = false
      const files = filesAfter((_from, to) => {
        isLost ||= to === pointer
        if (isLost) throw new Error(LOST)
      })
      await expect(run(workspace, '2025-03-10T10:00:00Z', { newChain: true, files })).rejects.toThrow(LOST)
      const { summary, notices } = await run(workspace, '2025-03-10T11:00:00Z', { newChain: true })
      expect(summary.outcome).toBe('unchanged')
      expect(notices).toEqual([
        '--new-chain: this build completed the new chain of a build that was stopped, and starts no other',
      ])
      expect(await readdir(join(workspace.dataDir, 'previous-chains'))).toEqual(['20250310T090000Z'])
      expect((await readIndex(workspace)).releases).toMatchObject([{ release: '20250310T100000Z' }])
      await verifyFolder(workspace.publicDir)
    }))
})
