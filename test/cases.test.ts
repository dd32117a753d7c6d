/**
 * Golden builds: each folder below cases/ is a test of one step, or of several steps that follow each other.
 *
 *   README.md      title, what the case shows, where it comes from
 *   01-first/ …    its steps in order; a case of one step has the files of the step in its own folder
 *
 * A step has
 *
 *   step.json      AS_OF; "run": the command line, `build` by default, run in the folder that holds input/, data/ and
 *                  public/; "exit": its exit code if it is not 0; "remove": files and folders to remove first, such as
 *                  input/late.csv or public/catalog.json
 *   input/         files that are added or replaced: sources.json and raw files. Without sources.json the sample is built
 *   data/ …        the same for the folders data, public, and copy for exports, such as publisher.json or a damaged page
 *   arrange.json   optional: under which name a file of input/ is given to the build; its ending is its format
 *   expected/      what must be there now, byte for byte:
 *     NAME           a file of the current release
 *     v1/PATH        a file of the dataset
 *     public/PATH    a file of the public folder; data/PATH and copy/PATH: of those
 *     PATH.facts.json  the members of the published PATH.json that are listed here
 *     summary.json   members of the summary that the command prints with --json
 *     said.txt       what the command prints, without progress; a step that fails has one
 *     files.txt      the names in the folders of the dataset
 *
 * A failed step changes nothing in the public folder, and a dry run nothing at all. `verify` accepts the folder after the
 * last of several steps, after a withdrawal, and where something was removed or damaged.
 *
 * `make golden ARGS=-u` writes the expected files anew, and hashes of the whole public folder: read the difference before
 * you commit it. To expect one more file, create it empty (`{}` for JSON facts: then it gets all members).
 */
import { existsSync, readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hashesOf } from './golden/tree.ts'
import { actualText, changeFiles, type Outcome, readSteps, runStep, type Step } from './support/cases.ts'
import { newWorkspace, sha256, snapshotTree, type Workspace } from './support/pipeline.ts'
import { verifyFolder } from './support/releases.ts'
import { useSmallSample } from './support/small-sample.ts'

vi.mock('../pipeline/base/code.ts', async (load) => {
  const { FIXED_CODE } = await import('./golden/fixed.ts')
  return { ...(await load<object>()), ...FIXED_CODE }
})

const CASES = join(import.meta.dirname, 'cases')

useSmallSample()
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-20T00:12:00.987Z') }))
afterAll(() => void vi.useRealTimers())

async function expectFiles(step: Step, outcome: Outcome, workspace: Workspace): Promise<void> {
  const folder = join(step.folder, 'expected')
  if (!existsSync(folder)) return
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const actual = await actualText(path.slice(folder.length + 1), await readFile(path, 'utf8'), outcome, workspace)
    await expect(actual, path).toMatchFileSnapshot(path)
  }
}

/** The folder in which a step changes nothing: a dry run nowhere, what fails nothing that is published. */
function untouched(step: Step, { root, publicDir }: Workspace): string | undefined {
  if (step.run.includes('--dry-run') && step.exit === 0) return root
  return step.exit === 0 ? undefined : publicDir
}

async function takeStep(step: Step, workspace: Workspace): Promise<void> {
  await changeFiles(step, workspace)
  const kept = untouched(step, workspace)
  const before = kept === undefined ? {} : await snapshotTree(kept)
  const outcome = await runStep(step, workspace)
  expect(outcome.exit, `${step.name}: ${outcome.said}`).toBe(step.exit)
  if (step.exit !== 0) expect(existsSync(join(step.folder, 'expected/said.txt')), step.name).toBe(true)
  if (kept !== undefined) expect(await snapshotTree(kept), step.name).toEqual(before)
  await expectFiles(step, outcome, workspace)
}

/** Where `verify` is run: at the end, and where a later step would not show what a step did wrong. */
function isVerified({ run, exit, remove, folder }: Step, isLast: boolean): boolean {
  const isSpecial = run.startsWith('withdraw') || remove.length > 0 || existsSync(join(folder, 'public'))
  return exit === 0 && (isLast || isSpecial)
}

describe('golden builds', () => {
  const names = readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory())

  it.each(names.map((entry) => entry.name))('%s', async (name) => {
    const workspace = await newWorkspace()
    const steps = await readSteps(join(CASES, name))
    for (const step of steps) {
      await takeStep(step, workspace)
      const isLast = steps.length > 1 && step === steps.at(-1)
      if (isVerified(step, isLast)) await verifyFolder(workspace.publicDir)
    }
    // The whole published folder after the last step: see `make golden`.
    expect(sha256(await hashesOf(workspace.publicDir))).toMatchSnapshot('public folder')
  })

  it.each(names.map((entry) => entry.name))('%s has a README with a title and its origin', async (name) => {
    const readme = await readFile(join(CASES, name, 'README.md'), 'utf8')
    expect(readme).toMatch(/^# \S/)
    expect(readme).toContain('Origin: ')
  })
})
