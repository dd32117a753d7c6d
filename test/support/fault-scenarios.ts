/** Commands that have something to do, to be interrupted at any effect. Without vitest's `expect`: `make soak` has them too. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { Gateway, useOn } from './gateway.ts'
import { buildIn, createWorkspace, datasetFolder, settings, type Workspace, withdrawIn } from './pipeline.ts'

const [OLD, NEW, LATER] = ['2025-03-10T11:00:00Z', '2025-03-10T13:00:00Z', '2025-03-10T14:00:00Z']

/** A command that may be interrupted at any effect. */
export interface Scenario {
  name: 'build' | 'new chain' | 'archive' | 'withdraw' | 'export'
  /** A workspace in which the command has something to do. Who asks for it removes it. */
  prepare(): Promise<Workspace>
  run(workspace: Workspace, files: Files): Promise<unknown>
  /** What a person would do after the command was interrupted. */
  mend(workspace: Workspace): Promise<unknown>
}

const nameOf = (asOf: string) => asOf.replaceAll(/[-:]/g, '')
const WITHOUT_ID = useOn('2025-03-04', 'acme/nameless', 1)
const rejected = (id: string) => useOn('2025-03-05', 'acme/odd', 1, { request_id: id, timestamp: 'never' })

/** A release of four files, one of which is gone since then. The next one drops its data files. */
async function withRelease(): Promise<Gateway> {
  const gateway = new Gateway(await createWorkspace())
  await gateway.configure({ on_missing: 'keep', max_rejected_share: 1, retention: { keep_releases: 1 } })
  await gateway.deliver('monday.csv', [useOn('2025-03-03', 'acme/monday', 10, { request_id: 'm1' }), rejected('r1')])
  await gateway.deliver('tuesday.ndjson', [useOn('2025-03-04', 'acme/tuesday', 20, { request_id: 't1' })])
  await gateway.deliver('back.csv', [useOn('2025-03-03', 'acme/back', 3, { request_id: 'b1' }), WITHOUT_ID])
  await gateway.deliver('gone.csv', [useOn('2025-03-04', 'acme/gone', 4, { request_id: 'g1' }), WITHOUT_ID])
  await gateway.build(OLD)
  await gateway.takeAway('back.csv')
  await gateway.build('2025-03-10T12:00:00Z')
  await gateway.takeAway('gone.csv')
  return gateway
}

/** Another file, one that is back, one that is gone, one that grew, rejected records, and a model that is in no release any more. */
async function withChanges(): Promise<Workspace> {
  const gateway = await withRelease()
  const back = useOn('2025-03-03', 'acme/back', 3, { request_id: 'b1' })
  await gateway.deliver('back.csv', [back, WITHOUT_ID, { ...WITHOUT_ID, prompt_tokens: '2' }])
  await gateway.deliver('tuesday.ndjson', [
    useOn('2025-03-04', 'acme/tuesday', 21, { request_id: 't1' }),
    useOn('2025-03-05', 'acme/wednesday', 30, { request_id: 'w1' }),
  ])
  await gateway.deliver('thursday.csv', [
    useOn('2025-03-06', 'acme/thursday', 40, { request_id: 'h1' }),
    rejected('r2'),
  ])
  return gateway.workspace
}

async function isInPlace(workspace: Workspace, release: string): Promise<boolean> {
  return (await readdir(join(datasetFolder(workspace), 'releases'))).includes(release)
}

const target = (workspace: Workspace) => join(workspace.root, 'copy')

function effectsWith(files: Files): Effects {
  return { now: () => new Date(NEW), report: () => {}, signal: new AbortController().signal, files }
}

const build: Scenario = {
  name: 'build',
  prepare: withChanges,
  run: (workspace, files) => buildIn(workspace, NEW, { files }),
  // Once the release is in place all else follows it; before, it is as if nothing had been built.
  mend: async (workspace) => buildIn(workspace, (await isInPlace(workspace, nameOf(NEW))) ? LATER : NEW),
}

const newChain: Scenario = {
  name: 'new chain',
  prepare: withChanges,
  run: (workspace, files) => buildIn(workspace, NEW, { files }, { newChain: true }),
  mend: async (workspace) => {
    if (await isInPlace(workspace, nameOf(NEW))) return buildIn(workspace, LATER)
    return buildIn(workspace, NEW, {}, { newChain: true })
  },
}

const archive: Scenario = {
  name: 'archive',
  prepare: withChanges,
  run: (workspace, files) => close(workspace, files),
  mend: async (workspace) => {
    await close(workspace, realFiles)
    await buildIn(workspace, LATER)
  },
}

function close(workspace: Workspace, files: Files) {
  const config = { ...readPipelineConfig(settings(workspace, NEW)), threads: 1 }
  return archiveDates(config, effectsWith(files), { before: UtcDate.parse('2025-03-05') })
}

const withdraw: Scenario = {
  name: 'withdraw',
  async prepare() {
    const workspace = await withChanges()
    await buildIn(workspace, NEW)
    return workspace
  },
  run: (workspace, files) => withdrawIn(workspace, nameOf(NEW), LATER, { files }),
  async mend(workspace) {
    const names = await readdir(join(datasetFolder(workspace), 'releases', nameOf(NEW)))
    if (!names.includes('TOMBSTONE.json')) return withdrawIn(workspace, nameOf(NEW), LATER)
    // Any command that takes the folder completes what a stopped one began.
    return assert.rejects(withdrawIn(workspace, nameOf(OLD), LATER), /is the only one that stands/)
  },
}

const exported: Scenario = {
  name: 'export',
  async prepare() {
    const workspace = await withChanges()
    await exportTo(workspace, realFiles)
    await buildIn(workspace, NEW)
    return workspace
  },
  run: (workspace, files) => exportTo(workspace, files),
  mend: (workspace) => exportTo(workspace, realFiles),
}

function exportTo(workspace: Workspace, files: Files) {
  return exportPublished(readPipelineConfig(settings(workspace, NEW)), effectsWith(files), {
    folder: target(workspace),
  })
}

export const SCENARIOS: readonly Scenario[] = [build, newChain, archive, withdraw, exported]
