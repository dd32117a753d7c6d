/** `tokenboard withdraw`: what is refused, printed, and told of a stop. The cases tell what follows from one. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { filesAfter } from '../support/crash.ts'
import {
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  removeWorkspace,
  runCli,
  settings,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release, verifyFolder } from '../support/releases.ts'

const [FIRST, SECOND] = ['20250310T100000Z', '20250310T110000Z'] as const
const WITHDRAWN_AT = '2025-03-10T12:00:00Z'

let original: Workspace

beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
})

afterAll(() => removeWorkspace(original))

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
  const reason = 'It named a customer.'
  const args = ['withdraw', SECOND, '--reason', reason, '--json']
  const { code, stdout, stderr } = await runCli(args, settings(workspace, WITHDRAWN_AT))
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    outcome: 'withdrawn',
    release: SECOND,
    withdrawn_at: WITHDRAWN_AT,
    reason,
    path: join(datasetFolder(workspace), 'releases', SECOND, 'TOMBSTONE.json'),
    current: FIRST,
    was_current: true,
    still_told_by: [],
  })
})

it('says of an error after the tombstone that the release is withdrawn, and completes the switch although Ctrl-C came', async () => {
  /** Withdraws, and calls `stop` when the switch puts the coverage in place. */
  const stopped = async (stop: (controller: AbortController) => void) => {
    const workspace = await copyWorkspace(original)
    const controller = new AbortController()
    const files = filesAfter((_from, to) => {
      if (String(to).endsWith('v1/coverage.json') && !String(to).includes('.staging')) stop(controller)
    })
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT, { files, signal: controller.signal })
    await expect(withdrawIn(workspace, SECOND, WITHDRAWN_AT)).rejects.toThrow(/was withdrawn already/)
    return verifyFolder(workspace.publicDir)
  }
  const failed = stopped(() => {
    throw new Error('no space left')
  })
  await expect(failed).rejects.toThrow(
    `${SECOND} is withdrawn, but not all that follows is done: no space left; make build completes it`,
  )
  expect(await stopped((controller) => controller.abort())).toMatchObject({ latest: FIRST })
})
