/** What a build does with the remains of another; `faults.test.ts` stops that one anywhere. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { crashAfter, LOST } from '../support/crash.ts'
import {
  buildIn,
  crowd,
  datasetFolder,
  newWorkspace,
  runProcess,
  settings,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'

const FORMER = '20250310T120000Z'
const NEXT_AS_OF = '2025-03-10T13:00:00Z'
const NEXT = '20250310T130000Z'
const MENDING_AS_OF = '2025-03-10T14:00:00Z'

/** A workspace with one release, and other input than it was made of: other tokens, and one model less. */
async function workspaceWithRelease(): Promise<Workspace> {
  const workspace = await newWorkspace()
  const top = { on_missing: 'remove' }
  await writeSmallBuild(workspace, { sources: [{ records: crowd(2, () => 1) }], top })
  await buildIn(workspace, '2025-03-10T12:00:00Z')
  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 2) }], top })
  return workspace
}

async function indexedReleases(workspace: Workspace): Promise<string[]> {
  const text = await readFile(join(datasetFolder(workspace), 'releases/index.json'), 'utf8')
  return ReleaseIndex.parse(JSON.parse(text)).releases.map((entry) => entry.release)
}

it('removes an incomplete release folder, and stops at a changed one', async () => {
  const workspace = await workspaceWithRelease()
  const folder = join(datasetFolder(workspace), 'releases', NEXT)
  await mkdir(folder)
  await writeFile(join(folder, 'manifest.json'), '{}')
  await buildIn(workspace, MENDING_AS_OF)
  expect(await indexedReleases(workspace)).toEqual([FORMER, MENDING_AS_OF.replaceAll(/[-:]/g, '')])

  const another = await workspaceWithRelease()
  await mkdir(join(datasetFolder(another), 'releases', NEXT))
  for (const name of ['SHA256SUMS', 'manifest.json']) {
    await writeFile(join(datasetFolder(another), 'releases', NEXT, name), `${'0'.repeat(64)}  manifest.json\n`)
  }
  await expect(buildIn(another, MENDING_AS_OF)).rejects.toThrow(/manifest\.json does not have the checksum.*remove it/)
})

it('releases its locks although the cleanup after a failed build fails too', async () => {
  const workspace = await workspaceWithRelease()
  await expect(buildIn(workspace, NEXT_AS_OF, { files: crashAfter(5) })).rejects.toThrow(LOST)
  const { code, stderr } = await runProcess(['build'], settings(workspace, MENDING_AS_OF))
  expect(code, stderr).toBe(0)
})
