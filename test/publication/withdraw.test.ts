/** `tokenboard withdraw`: what is refused, and that a stop at any step is mended. The cases tell what follows from one. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crashAfter, filesAfter, LOST, recordSteps, someSteps } from '../support/crash.ts'
import { text } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  readLatest,
  removeWorkspace,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { release, verifyFolder } from '../support/releases.ts'

const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'
const WITHDRAWN_AT = '2025-03-10T12:00:00Z'
const REASON = 'It named a customer.'

let original: Workspace

/** Two releases: the second changes one day and has one more in a month of its own. */
beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
})

afterAll(() => removeWorkspace(original))

function withdrawSecond(workspace: Workspace): ReturnType<typeof withdrawIn> {
  return withdrawIn(workspace, SECOND, WITHDRAWN_AT, {}, { reason: REASON })
}

it.each([
  ['yesterday', {}, /"yesterday" must be the name of a release/],
  [SECOND, { reason: '' }, /--reason/],
  [SECOND, { reason: 'two\nlines' }, /--reason must be one line/],
])('withdrawing %s with %j is a wrong command line', async (name, options, message) => {
  const withdrawing = withdrawIn(original, name, WITHDRAWN_AT, {}, options)
  await expect(withdrawing).rejects.toMatchObject({ name: 'CliError', message: expect.stringMatching(message) })
})

it('prints its summary as JSON with --json', async () => {
  const workspace = await copyWorkspace(original)
  const args = ['withdraw', SECOND, '--reason', REASON, '--json']
  const { code, stdout, stderr } = await runCli(args, settings(workspace, WITHDRAWN_AT))
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    outcome: 'withdrawn',
    release: SECOND,
    withdrawn_at: WITHDRAWN_AT,
    reason: REASON,
    path: join(datasetFolder(workspace), 'releases', SECOND, 'TOMBSTONE.json'),
    current: FIRST,
    was_current: true,
    still_told_by: [],
  })
})

it('a stop at any step leaves a complete release current, and the next build or withdrawal completes the rest', async () => {
  const whole = await copyWorkspace(original)
  const { files: counted, steps } = recordSteps()
  await withdrawIn(whole, SECOND, WITHDRAWN_AT, { files: counted }, { reason: REASON })
  const expected = await snapshotTree(whole.publicDir)
  const tombstone = join('releases', SECOND, 'TOMBSTONE.json')
  let mended = 0
  // An odd number takes turns between what mends; `make soak` stops at every one.
  for (const last of someSteps(steps, 31)) {
    const workspace = await copyWorkspace(original)
    const files = crashAfter(last)
    await expect(withdrawIn(workspace, SECOND, WITHDRAWN_AT, { files }, { reason: REASON })).rejects.toThrow(LOST)
    const { path } = await readLatest(workspace)
    expect(await readdir(join(datasetFolder(workspace), path)), `lost after step ${last}`).toContain('manifest.json')
    expect(await text(workspace, 'latest/manifest.json')).toContain('"content_hash"')

    const isWithdrawn = (await readdir(join(datasetFolder(workspace), 'releases', SECOND))).includes('TOMBSTONE.json')
    if (!isWithdrawn) await withdrawSecond(workspace)
    else if (last % 2 === 0) await expect(withdrawSecond(workspace)).rejects.toThrow(/was withdrawn already/)
    else {
      await writeSmallBuild(workspace, { sources: [{ records: [] }] })
      await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow(/had 3 records/)
    }
    expect(await snapshotTree(workspace.publicDir), `lost after step ${last}`).toEqual(expected)
    if (isWithdrawn) mended += 1
    await removeWorkspace(workspace)
  }
  expect(await text(whole, tombstone)).toContain(REASON)
  expect(mended).toBeGreaterThan(2)
})

/** Withdraws, and calls `stop` when the switch puts the coverage in place. */
async function withdrawStopped(stop: (controller: AbortController) => void) {
  const workspace = await copyWorkspace(original)
  const controller = new AbortController()
  const files = filesAfter((_from, to) => {
    if (String(to).endsWith('v1/coverage.json') && !String(to).includes('.staging')) stop(controller)
  })
  await withdrawIn(workspace, SECOND, WITHDRAWN_AT, { files, signal: controller.signal })
  return verifyFolder(workspace.publicDir)
}

it('reports an error after the tombstone together with the fact that the release is withdrawn', async () => {
  const failed = withdrawStopped(() => {
    throw new Error('no space left')
  })
  await expect(failed).rejects.toThrow(
    `${SECOND} is withdrawn, but not all that follows is done: no space left; make build completes it`,
  )
})

it('completes the withdrawal when Ctrl-C comes during the switch', async () => {
  expect(await withdrawStopped((controller) => controller.abort())).toMatchObject({ latest: FIRST })
})
