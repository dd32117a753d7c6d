/** What a build does with the remains of another; `faults.test.ts` stops that one anywhere. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashAfter, LOST } from '../support/crash.ts'
import { namesIn } from '../support/history.ts'
import { buildIn, datasetFolder, newWorkspace, runProcess, settings, type Workspace } from '../support/pipeline.ts'
import { deliver, release } from '../support/releases.ts'

const [NEXT, MENDED] = ['20250310T130000Z', '20250310T140000Z'] as const
const MENDING_AS_OF = '2025-03-10T14:00:00Z'

/** A workspace with one release, and other input than it was made of. */
async function workspaceWithRelease(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-02', 1], ['2025-03-02', 1, 'b']], '2025-03-10T12:00:00Z') // biome-ignore format: rows
  await deliver(workspace, [['2025-03-02', 2]])
  return workspace
}

it('stops at a changed release that no index lists, and removes an incomplete one', async () => {
  const workspace = await workspaceWithRelease()
  const folder = join(datasetFolder(workspace), 'releases', NEXT)
  await mkdir(folder)
  await writeFile(join(folder, 'manifest.json'), '{}')
  await writeFile(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  manifest.json\n`)
  await expect(buildIn(workspace, MENDING_AS_OF)).rejects.toThrow(
    /manifest\.json does not have the checksum.*remove it/,
  )
  await rm(join(folder, 'SHA256SUMS'))
  await buildIn(workspace, MENDING_AS_OF)
  expect(await namesIn(workspace, 'releases')).toEqual(['20250310T120000Z', MENDED, 'index.json'])
})

it('releases its locks although the cleanup after a failed build fails too', async () => {
  const workspace = await workspaceWithRelease()
  const building = buildIn(workspace, '2025-03-10T13:00:00Z', { files: crashAfter(5) })
  await expect(building).rejects.toThrow(LOST)
  const { code, stderr } = await runProcess(['build'], settings(workspace, MENDING_AS_OF))
  expect(code, stderr).toBe(0)
})
