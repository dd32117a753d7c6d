/** What a build does with the remains of another; `faults.test.ts` stops that one anywhere. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashAfter, LOST } from '../support/crash.ts'
import { buildIn, datasetFolder, newWorkspace, runProcess, settings, type Workspace } from '../support/pipeline.ts'
import { deliver, release } from '../support/releases.ts'

const MENDING_AS_OF = '2025-03-10T14:00:00Z'

/** A workspace with one release, and other input than it was made of. */
async function workspaceWithRelease(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-02', 1], ['2025-03-02', 1, 'b']], '2025-03-10T12:00:00Z') // biome-ignore format: rows
  await deliver(workspace, [['2025-03-02', 2]])
  return workspace
}

it('stops at a folder of a release that no fact tells of', async () => {
  const workspace = await workspaceWithRelease()
  const folder = join(datasetFolder(workspace), 'releases/20250310T130000Z')
  await mkdir(folder)
  await expect(buildIn(workspace, MENDING_AS_OF)).rejects.toThrow(`${folder} belongs to no release: remove it by hand`)
})

it('releases its locks although the cleanup after a failed build fails too', async () => {
  const workspace = await workspaceWithRelease()
  const building = buildIn(workspace, '2025-03-10T13:00:00Z', { files: crashAfter(5) })
  await expect(building).rejects.toThrow(LOST)
  const { code, stderr } = await runProcess(['build'], settings(workspace, MENDING_AS_OF))
  expect(code, stderr).toBe(0)
})
