/** Interrupts commands, and proves what has to hold: right after, and when somebody has run the next command. */
import assert from 'node:assert/strict'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { verify } from '../../pipeline/publication/verify.ts'
import type { Scenario } from './fault-scenarios.ts'
import { canBeTorn, type Effect, type Fault, failingAt, tear, withEffects } from './faults.ts'
import {
  createWorkspace,
  datasetFolder,
  readLatest,
  releaseFolder,
  removeWorkspace,
  sha256,
  snapshotTree,
  type Workspace,
} from './pipeline.ts'

/** What came of many interruptions: how many there were, and which releases were current right after one. */
export interface Tried {
  times: number
  current: Set<string>
}

/** A scenario made ready: what it begins with, how many effects it has, and how all folders are in the end. */
export interface Ready {
  scenario: Scenario
  original: Workspace
  effects: number
  expected: Record<string, string>
  remove(): Promise<void>
}

export async function makeReady(scenario: Scenario): Promise<Ready> {
  const original = await scenario.prepare()
  const whole = await copyOf(original)
  let effects = 0
  const counting = async (_: Effect, take: () => Promise<void>) => {
    effects += 1
    await take()
  }
  await withEffects(counting, (files) => scenario.run(whole, files))
  await scenario.mend(whole)
  await verify(whole.publicDir, { signal: new AbortController().signal, report: () => {} })
  const expected = await treeOf(whole)
  await removeWorkspace(whole)
  return { scenario, original, effects, expected, remove: () => removeWorkspace(original) }
}

/**
 * Loses the machine before each effect that is chosen by its number, and in the middle of it, as `kill -9` and a torn write
 * leave it: the disk is copied while the command goes on.
 */
export async function loseMachines(
  ready: Ready,
  isChosen: (number: number, effect: Effect) => boolean,
): Promise<Tried> {
  const { scenario, original } = ready
  const running = await copyOf(original)
  const machines: { moment: string; workspace: Workspace }[] = []
  let count = 0
  const copying = async (effect: Effect, take: () => Promise<void>) => {
    count += 1
    if (isChosen(count, effect)) {
      const moment = `${scenario.name}, effect ${count} of ${ready.effects}, ${effect.name} ${effect.paths.join(' ')}`
      machines.push({ moment: `lost before ${moment}`, workspace: await copyOf(running) })
      if (canBeTorn(effect)) {
        const torn = await copyOf(running)
        await tear({ ...effect, paths: effect.paths.map((path) => path.replace(running.root, torn.root)) })
        machines.push({ moment: `lost amid ${moment}`, workspace: torn })
      }
    }
    await take()
  }
  await withEffects(copying, (files) => scenario.run(running, files))
  await removeWorkspace(running)
  const current = new Set<string>()
  for (const { moment, workspace } of machines) current.add(await assertMended(ready, workspace, moment))
  return { times: machines.length, current }
}

/** Has each chosen effect fail. */
export async function haveFail(ready: Ready, fault: Fault, isChosen: (effect: number) => boolean): Promise<Tried> {
  const { scenario, original } = ready
  const tried: Tried = { times: 0, current: new Set() }
  for (let at = 1; at <= ready.effects; at += 1) {
    if (!isChosen(at)) continue
    const workspace = await copyOf(original)
    const moment = `${scenario.name}, ${fault} at effect ${at} of ${ready.effects}`
    const error = await withEffects(failingAt(at, fault), (files) => scenario.run(workspace, files)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    // A full disk does not stop what takes no room; all else has to be told.
    if (error === undefined) assert.equal(fault, 'ENOSPC', moment)
    else assert.match(String(error), new RegExp(fault), moment)
    tried.current.add(await assertMended(ready, workspace, moment))
    tried.times += 1
  }
  return tried
}

/** What was interrupted left a whole release current, and the next command leaves all as if nothing had happened. */
async function assertMended({ scenario, expected }: Ready, workspace: Workspace, moment: string): Promise<string> {
  try {
    const current = await assertWhole(workspace)
    await scenario.mend(workspace)
    assert.deepEqual(await treeOf(workspace), expected)
    await removeWorkspace(workspace)
    return current
  } catch (error) {
    throw new Error(`${moment}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** The release of latest.json has all of its bytes. */
export async function assertWhole(workspace: Workspace): Promise<string> {
  const folder = await releaseFolder(workspace)
  const sums = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
  assert(sums.length > 5)
  for (const line of sums) assert.equal(sha256(await readFile(join(folder, line.slice(66)))), line.slice(0, 64), line)
  // The link may be a step ahead of the pointer, but never leads nowhere.
  assert.match(await readFile(join(datasetFolder(workspace), 'latest/manifest.json'), 'utf8'), /"content_hash"/)
  return (await readLatest(workspace)).release
}

/** All that is published, kept and exported, but what only this machine knows, and when it was last written. */
async function treeOf({ root }: Workspace): Promise<Record<string, string>> {
  const all = Object.entries(await snapshotTree(root)).filter(
    ([path]) => !/^input\/|build\.duckdb|last-build/.test(path),
  )
  return Object.fromEntries(all.map(([path, is]) => [path, /state\/(quality|usage|pages)/.test(path) ? 'file' : is]))
}

async function copyOf(original: Workspace): Promise<Workspace> {
  const copy = await createWorkspace()
  await cp(original.root, copy.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return copy
}
