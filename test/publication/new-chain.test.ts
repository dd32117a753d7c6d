/** Synthetic and real releases never share a chain of releases. */
import { cp, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { type BuildOptions, type BuildSummary, build } from '../../pipeline/build.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { findUnknownModels } from '../../pipeline/rollup/unknown-models.ts'
import { filesAfter, LOST } from '../support/crash.ts'
import { namesIn, readCoverage, readIndex, readRestatements, text } from '../support/history.ts'
import {
  createWorkspace,
  datasetFolder,
  readLatest,
  releaseFolder,
  removeWorkspace,
  settings,
  sha256,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { writePublisher } from '../support/publisher.ts'
import { useSmallSample } from '../support/small-sample.ts'

useSmallSample()

/** Whether builds put real releases behind synthetic ones, as version 0.1.0 did. */
const former = vi.hoisted(() => ({ isOn: false }))
vi.mock('../../pipeline/release/chain.ts', async (original) => {
  const module = await original<typeof import('../../pipeline/release/chain.ts')>()
  const chooseChain: typeof module.chooseChain = (kind, index, asked) =>
    former.isOn ? { index, replaced: [] } : module.chooseChain(kind, index, asked)
  return { ...module, chooseChain }
})

const SAMPLE_AS_OF = '2025-03-10T12:00:00Z'
const SAMPLE = '20250310T120000Z'
/** Nothing says that one's own logs are newer than the sample. */
const EARLIER = '2025-03-10T09:00:00Z'
const KEY = 'ab'.repeat(32)

interface Ran {
  summary: BuildSummary
  notices: string[]
}

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
): Promise<Ran> {
  const config = readPipelineConfig({ ...settings(workspace, asOf), SOURCES: sources })
  const effects = {
    now: () => new Date('2026-11-20T00:12:00Z'),
    report: (event: BuildEvent) => void (event.kind === 'notice' && notices.push(event.message)),
    signal: new AbortController().signal,
    files,
  }
  const summary = await build({ ...config, threads: 1 }, effects, options)
  return { summary, notices }
}

const SAMPLE_BUILD = { sources: '' }

async function newFolders(): Promise<Workspace> {
  const workspace = await createWorkspace()
  await writePublisher(workspace.dataDir)
  return workspace
}

/** Own logs, in a source that has the name of one of the sample's. */
function writeOwnLogs(workspace: Workspace, tokens = 5): Promise<void> {
  const records = ['2025-03-05', '2025-03-08'].map((date) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'acme/own',
    prompt_tokens: String(tokens),
    api_key_hash: KEY,
    cost_usd: '1',
  }))
  const source = { records, settings: { name: 'gateway' }, extraColumns: ['api_key_hash', 'cost_usd'] }
  return writeSmallBuild(workspace, { sources: [source] })
}

async function copyOf(original: Workspace): Promise<Workspace> {
  const copy = await createWorkspace()
  await cp(original.root, copy.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return copy
}

function verified(publicDir: string) {
  return verify(publicDir, { signal: new AbortController().signal, report: () => {} })
}

/** What is published, but for what is hidden and scripts and styles, which stay for pages that are open. */
async function published({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<Record<string, string>> {
  const tree = Object.entries(await snapshotTree(publicDir))
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith('.') && !path.startsWith('assets')))
}

async function isSynthetic(workspace: Workspace): Promise<boolean> {
  return Manifest.parse(JSON.parse(await readFile(join(await releaseFolder(workspace), 'manifest.json'), 'utf8')))
    .synthetic
}

/** The first line of a usage file, and the keys that it names. */
async function keysOfUsage({ dataDir }: Workspace): Promise<string[]> {
  const lines = (await readFile(join(dataDir, 'state/usage.ndjson'), 'utf8')).trimEnd().split('\n').slice(1)
  const keys = lines.flatMap((line) =>
    JSON.parse(line).usage.map((each: { api_key_hash: string }) => each.api_key_hash),
  )
  return [...new Set<string>(keys)]
}

let sample: Workspace
let alone: Record<string, string>

beforeAll(async () => {
  sample = await newFolders()
  await run(sample, '2025-03-09T12:00:00Z', SAMPLE_BUILD)
  await run(sample, SAMPLE_AS_OF, SAMPLE_BUILD)
  await writeOwnLogs(sample)
  // What the same logs give in folders that never held a sample.
  const clean = await newFolders()
  await cp(sample.input, clean.input, { recursive: true })
  await run(clean, EARLIER)
  alone = await published(clean)
  await removeWorkspace(clean)
})
afterAll(() => removeWorkspace(sample))

async function withSample(work: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await copyOf(sample)
  try {
    await work(workspace)
  } finally {
    await removeWorkspace(workspace)
  }
}

describe('the first real build over the sample', () => {
  it('starts a new chain at 1.0.0 that knows nothing of the sample, and says so', () =>
    withSample(async (workspace) => {
      const { summary, notices } = await run(workspace, EARLIER)
      expect(summary).toMatchObject({ outcome: 'released', synthetic: false, release: '20250310T090000Z' })
      expect(summary.new_chain).toEqual({ replaced: ['20250309T120000Z', SAMPLE], kept_in: null })
      expect(notices).toEqual([
        `${workspace.publicDir} holds the synthetic sample alone: this release starts a new chain at version 1.0.0 and takes its place`,
      ])
      const { releases } = await readIndex(workspace)
      expect(releases).toMatchObject([{ release: '20250310T090000Z', data_version: '1.0.0', previous: null }])
      expect(await readRestatements(workspace)).toEqual([])
      expect((await readCoverage(workspace)).days.filter(({ reason }) => reason === 'removed')).toEqual([])
      expect(await text(workspace, 'releases/20250310T090000Z/changes.csv')).not.toContain('update')
      expect(await published(workspace)).toEqual(alone)
      await verified(workspace.publicDir)
    }))

  it('takes a release of the same name as the sample’s', () =>
    withSample(async (workspace) => {
      await run(workspace, SAMPLE_AS_OF)
      expect(await isSynthetic(workspace)).toBe(false)
      expect(await namesIn(workspace, 'releases')).toEqual([SAMPLE, 'index.json'])
      await verified(workspace.publicDir)
    }))

  it('finds no file of the sample missing where the public folder was removed by hand', () =>
    withSample(async (workspace) => {
      await rm(workspace.publicDir, { recursive: true })
      const { notices } = await run(workspace, EARLIER)
      expect(notices).toEqual([])
      expect(await published(workspace)).toEqual(alone)
    }))

  it('does not speak of a new chain where it makes no release', () =>
    withSample(async (workspace) => {
      await writeSmallBuild(workspace, {
        sources: [{ records: [{ timestamp: 'never', model_permaslug: 'acme/own' }] }],
      })
      const notices: string[] = []
      await expect(run(workspace, EARLIER, { notices })).rejects.toThrow(BuildError)
      expect(notices).toEqual([])
      expect(await isSynthetic(workspace)).toBe(true)
    }))

  it('leaves the usage of own keys alone in the usage file', () =>
    withSample(async (workspace) => {
      expect(await keysOfUsage(workspace)).not.toContain(KEY)
      await run(workspace, EARLIER)
      expect(await keysOfUsage(workspace)).toEqual([KEY])
    }))

  it('is followed by builds of the same chain', () =>
    withSample(async (workspace) => {
      await run(workspace, EARLIER)
      expect((await run(workspace, '2025-03-10T10:00:00Z')).notices).toEqual([])
      await writeOwnLogs(workspace, 6)
      const { summary } = await run(workspace, '2025-03-10T11:00:00Z')
      expect(summary).toMatchObject({ outcome: 'released' })
      expect(summary.new_chain).toBeUndefined()
      expect((await readIndex(workspace)).releases).toHaveLength(2)
    }))

  it('tells in a dry run what it would do, and does nothing', () =>
    withSample(async (workspace) => {
      const before = await snapshotTree(workspace.root)
      const { summary, notices } = await run(workspace, EARLIER, { dryRun: true })
      expect(summary).toMatchObject({ outcome: 'would_release', new_chain: { kept_in: null } })
      expect(summary.changes?.rows).toMatchObject({ before: 0, after: 2 })
      expect(notices.join()).toContain('would start a new chain at version 1.0.0')
      expect(await snapshotTree(workspace.root)).toEqual(before)
    }))

  it('is followed by an export of the sample’s copy', () =>
    withSample(async (workspace) => {
      const folder = join(workspace.root, 'copy')
      const config = readPipelineConfig(settings(workspace, EARLIER))
      const notices: string[] = []
      const effects = {
        now: () => new Date(),
        report: (event: BuildEvent) => void (event.kind === 'notice' && notices.push(event.message)),
        signal: new AbortController().signal,
        files: realFiles,
      }
      await exportPublished(config, effects, { folder })
      expect(notices.splice(0)).toEqual([
        `${folder} holds the synthetic sample: no host may call its files immutable (docs/hosting.md)`,
      ])
      await run(workspace, EARLIER)
      await exportPublished(config, effects, { folder })
      expect(notices).toEqual([])
      expect(await published({ publicDir: folder })).toEqual(await published(workspace))
    }))

  it.each([EARLIER, SAMPLE_AS_OF])(
    'as of %s is completed by the next build wherever it stops, and never mixes the two',
    async (asOf) => {
      const { steps, expected } = await counted(asOf)
      const publicSteps = steps.flatMap((path, step) => (/public\/(?!\.)|new-chain/.test(path) ? [step] : []))
      const chosen = publicSteps.filter((_, position) => position % 40 === 0 || position === 2)
      for (const last of [...chosen, ...publicSteps.slice(-2)]) {
        await withSample(async (workspace) => {
          let taken = 0
          const files = filesAfter(() => {
            taken += 1
            if (taken > last) throw new Error(LOST)
          })
          await expect(run(workspace, asOf, { files })).rejects.toThrow(LOST)
          await assertNotMixed(workspace)
          await run(workspace, asOf)
          expect(await published(workspace), `stopped before step ${last}, ${steps[last]}`).toEqual(expected)
          await verified(workspace.publicDir)
        })
      }
    },
  )
})

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
  const manifests = releases.map(({ path }) => join(datasetFolder(workspace), path, 'manifest.json'))
  const kinds = new Set<boolean>()
  for (const path of manifests) {
    const found = await readFile(path, 'utf8').catch(() => undefined)
    if (found !== undefined) kinds.add(Manifest.parse(JSON.parse(found)).synthetic)
  }
  expect(kinds.size).toBe(1)
}

describe('a synthetic build over real releases', () => {
  it('is refused and changes nothing', () =>
    withSample(async (workspace) => {
      await run(workspace, EARLIER)
      await rm(join(workspace.dataDir, 'raw'), { recursive: true })
      const before = await snapshotTree(workspace.root)
      for (const dryRun of [false, true]) {
        const error = await run(workspace, '2025-03-12T12:00:00Z', { ...SAMPLE_BUILD, dryRun }).catch(
          (thrown) => thrown,
        )
        expect(error).toBeInstanceOf(CliError)
        expect(error.message).toContain('holds real releases, and the synthetic sample is never built over them')
      }
      const unlocked = Object.entries(await snapshotTree(workspace.root)).filter(
        ([path]) => !path.includes('build.duckdb'),
      )
      expect(Object.fromEntries(unlocked)).toEqual(
        Object.fromEntries(Object.entries(before).filter(([path]) => !path.includes('build.duckdb'))),
      )
    }))

  it('cannot start a new chain either', () =>
    withSample(async (workspace) => {
      await expect(run(workspace, SAMPLE_AS_OF, { ...SAMPLE_BUILD, newChain: true })).rejects.toThrow(
        '--new-chain starts a chain of real releases, but there is no sources file',
      )
    }))
})

describe('a switch to a new chain that stopped halfway', () => {
  /** Has a real build over the sample fail as `path` of the dataset is put in place. */
  async function stop(workspace: Workspace, path: string): Promise<void> {
    const files = filesAfter((_from, to) => {
      if (to === join(datasetFolder(workspace), path)) throw new Error(LOST)
    })
    await expect(run(workspace, SAMPLE_AS_OF, { files })).rejects.toThrow(
      `the switch to the new chain stopped halfway: ${LOST}; the next make build completes it`,
    )
  }

  it('says so, and so does a dry run', () =>
    withSample(async (workspace) => {
      await stop(workspace, 'releases/index.json')
      await expect(run(workspace, SAMPLE_AS_OF, { dryRun: true })).rejects.toThrow(
        `${workspace.publicDir} was left by a build that was stopped; make build completes it`,
      )
    }))

  it('misses no file of the sample in the commands that do not complete it', () =>
    withSample(async (workspace) => {
      await stop(workspace, 'releases/index.json')
      const effects = {
        now: () => new Date(),
        report: () => {},
        signal: new AbortController().signal,
        files: realFiles,
      }
      const config = { ...readPipelineConfig(settings(workspace, SAMPLE_AS_OF)), threads: 1 }
      expect((await findUnknownModels(config, effects, { names: [] })).unknown).toEqual([])
      const before = UtcDate.parse('2025-03-06')
      expect((await archiveDates(config, effects, { before, dryRun: true })).records).toBe(1)
    }))
})

const FOLDERS = [
  '.',
  'datasets',
  ...['releases', 'daily', 'monthly'].map((name) => `datasets/rankings-daily/v1/${name}`),
]

describe.each(FOLDERS)('where a link leads to the folder %s', (folder) => {
  it('a new chain takes the place of what is there, keeps it, and leaves the link', () =>
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
        const effects = {
          now: () => new Date(),
          report: () => {},
          signal: new AbortController().signal,
          files: realFiles,
        }
        await exportPublished(readPipelineConfig(settings(workspace, EARLIER)), effects, { folder: target })
        return published({ publicDir: target })
      }
      const before = await exported('before')
      await writeOwnLogs(workspace)
      const { summary } = await run(workspace, EARLIER, { newChain: true })
      expect(await exported('after')).toEqual(alone)
      expect(await published({ publicDir: summary.new_chain?.kept_in ?? '' })).toEqual(before)
      expect(await readlink(link)).toBe(elsewhere)
      await verified(workspace.publicDir)
    }))
})

/** A folder in which version 0.1.0 let a real release follow the sample. */
async function makeMixed(workspace: Workspace): Promise<void> {
  former.isOn = true
  try {
    await run(workspace, '2025-03-10T13:00:00Z')
  } finally {
    former.isOn = false
  }
}

describe('a chain that is mixed already', () => {
  it('is continued, and each build names what starts anew', () =>
    withSample(async (workspace) => {
      await makeMixed(workspace)
      const { summary, notices } = await run(workspace, '2025-03-10T14:00:00Z')
      expect(summary.outcome).toBe('unchanged')
      expect(notices).toEqual([
        `${workspace.publicDir} holds synthetic and real releases in one chain, as version 0.1.0 made it: this build continues it; make build ARGS=--new-chain starts a chain of real releases alone`,
      ])
      await writeOwnLogs(workspace, 7)
      expect((await run(workspace, '2025-03-10T15:00:00Z')).notices).toEqual(notices)
      expect((await readIndex(workspace)).releases).toHaveLength(4)
      await verified(workspace.publicDir)
    }))

  it('takes no synthetic release any more', () =>
    withSample(async (workspace) => {
      await makeMixed(workspace)
      await expect(run(workspace, '2025-03-12T12:00:00Z', SAMPLE_BUILD)).rejects.toThrow('holds real releases')
    }))

  it('ends with --new-chain, which keeps it', () =>
    withSample(async (workspace) => {
      await makeMixed(workspace)
      const before = await published(workspace)
      await run(workspace, EARLIER, { newChain: true })
      expect(await published(workspace)).toEqual(alone)
      const kept = join(workspace.dataDir, 'previous-chains/20250310T130000Z')
      expect(await published({ publicDir: kept })).toEqual(before)
      expect((await run(workspace, '2025-03-10T14:00:00Z')).notices).toEqual([])
    }))
})

describe('--new-chain', () => {
  it('starts anew over real releases, and keeps the previous chain whole outside of the public folder', () =>
    withSample(async (workspace) => {
      await run(workspace, '2025-03-10T13:00:00Z')
      await writeOwnLogs(workspace, 7)
      await run(workspace, '2025-03-10T14:00:00Z')
      const before = await published(workspace)
      const { summary, notices } = await run(workspace, EARLIER, { newChain: true })
      const kept = join(workspace.dataDir, 'previous-chains/20250310T140000Z')
      expect(summary.new_chain).toEqual({ replaced: ['20250310T130000Z', '20250310T140000Z'], kept_in: kept })
      expect(notices).toEqual([
        `--new-chain: this release starts a new chain at version 1.0.0; the previous chain is kept in ${kept}`,
      ])
      expect(await published({ publicDir: kept })).toEqual(before)
      await verified(kept)
      expect((await readIndex(workspace)).releases).toMatchObject([{ data_version: '1.0.0', previous: null }])
      await verified(workspace.publicDir)
    }))

  it('keeps the sample too, where somebody asks for it', () =>
    withSample(async (workspace) => {
      const { summary } = await run(workspace, EARLIER, { newChain: true })
      expect(summary.new_chain?.kept_in).toBe(join(workspace.dataDir, 'previous-chains', SAMPLE))
      expect(await published(workspace)).toEqual(alone)
    }))

  it('tells in a dry run where the previous chain would go, and does nothing', () =>
    withSample(async (workspace) => {
      const before = await snapshotTree(workspace.root)
      const { notices } = await run(workspace, EARLIER, { newChain: true, dryRun: true })
      expect(notices.join()).toContain('would start a new chain at version 1.0.0; the previous chain would be kept in')
      expect(await snapshotTree(workspace.root)).toEqual(before)
    }))

  it('never replaces another chain that it kept under the same name', () =>
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
      await verified(`${kept}-2`)
    }))

  it('starts no second chain after a stop in the middle of the switch', () =>
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
      await verified(workspace.publicDir)
    }))

  it('is a plain first build in an empty folder', async () => {
    const workspace = await newFolders()
    try {
      await writeOwnLogs(workspace)
      const { summary, notices } = await run(workspace, EARLIER, { newChain: true })
      expect(summary.new_chain).toBeUndefined()
      expect(notices).toEqual([])
      expect(await published(workspace)).toEqual(alone)
    } finally {
      await removeWorkspace(workspace)
    }
  })
})

it('still misses own files that have the names of the sample’s where the public folder was removed', async () => {
  const workspace = await newFolders()
  try {
    await writeSmallBuild(workspace, {
      sources: [{ records: [], settings: { name: 'gateway', files: ['gateway/*.csv.gz'] } }],
    })
    await mkdir(join(workspace.input, 'gateway'))
    const header = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
    for (const day of ['2025-03-05', '2025-03-06']) {
      await writeFile(
        join(workspace.input, `gateway/${day}.csv.gz`),
        gzipSync(`${header}\n${day}T12:00:00Z,acme/own,5,0\n`),
      )
    }
    await run(workspace, EARLIER)
    await rm(workspace.publicDir, { recursive: true })
    await rm(join(workspace.input, 'gateway/2025-03-06.csv.gz'))
    await expect(run(workspace, EARLIER)).rejects.toThrow('gateway/2025-03-06.csv.gz')
  } finally {
    await removeWorkspace(workspace)
  }
})
