/**
 * A crash at any moment leaves the release before current, or the new one whole (issue 2). The build's steps on the file
 * system are counted; then it is run once for each of them and the machine is lost right after that step.
 */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { verify } from '../../pipeline/verify.ts'
import { crashAfter, LOST } from '../support/crash.ts'
import {
  buildIn,
  crowd,
  datasetFolder,
  newWorkspace,
  readLatest,
  releaseFolder,
  removeWorkspace,
  runBuild,
  sha256,
  snapshotTree,
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

async function copyOf(original: Workspace): Promise<Workspace> {
  const copy = await newWorkspace()
  await cp(original.root, copy.root, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** Checks that the release of latest.json is whole, and says which it is. */
async function currentRelease(workspace: Workspace): Promise<string> {
  const folder = await releaseFolder(workspace)
  const sums = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
  expect(sums.length).toBeGreaterThan(5)
  for (const line of sums) {
    const [sum, name] = [line.slice(0, 64), line.slice(66)]
    expect(sha256(await readFile(join(folder, name))), name).toBe(sum)
  }
  // The link may be a step ahead of the pointer, but never leads nowhere.
  expect(await readFile(join(datasetFolder(workspace), 'latest/manifest.json'), 'utf8')).toContain('"content_hash"')
  return (await readLatest(workspace)).release
}

async function indexedReleases(workspace: Workspace): Promise<string[]> {
  const text = await readFile(join(datasetFolder(workspace), 'releases/index.json'), 'utf8')
  return ReleaseIndex.parse(JSON.parse(text)).releases.map((entry) => entry.release)
}

it('leaves a whole release current, and the next build mends the rest', async () => {
  const original = await workspaceWithRelease()
  const whole = await copyOf(original)
  const uninterrupted = crashAfter(Number.POSITIVE_INFINITY)
  await buildIn(whole, NEXT_AS_OF, { files: uninterrupted.files })
  const expected = await snapshotTree(whole.publicDir)
  expect(Object.keys(expected).filter((name) => /stag|tmp|temp|partial|next|~/i.test(name))).toEqual([])
  const { signal } = new AbortController()
  expect(await verify(whole.publicDir, { signal, report: () => {} })).toMatchObject({ releases: 2, latest: NEXT })

  const current = new Set<string>()
  let adopted = 0
  for (let last = 0; last < uninterrupted.steps(); last += 1) {
    const workspace = await copyOf(original)
    const crashed = buildIn(workspace, NEXT_AS_OF, { files: crashAfter(last).files })
    await expect(crashed, `lost after step ${last}`).rejects.toThrow()
    current.add(await currentRelease(workspace))

    // Once the release is in place, all else follows it; before, it is as if nothing had been built.
    const isInPlace = (await readdir(join(datasetFolder(workspace), 'releases'))).includes(NEXT)
    await buildIn(workspace, isInPlace ? MENDING_AS_OF : NEXT_AS_OF)
    expect(await snapshotTree(workspace.publicDir), `lost after step ${last}`).toEqual(expected)
    if (isInPlace) adopted += 1
    await removeWorkspace(workspace)
  }
  expect(current).toEqual(new Set([FORMER, NEXT]))
  expect(adopted).toBeGreaterThan(30)
}, 300_000)

it('removes what is no whole release, and takes none that has been changed', async () => {
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
  await expect(buildIn(another, MENDING_AS_OF)).rejects.toThrow(
    /manifest\.json does not have the checksum.*take it away/,
  )
})

it('gives its locks back when even tidying up fails', async () => {
  const workspace = await workspaceWithRelease()
  await expect(buildIn(workspace, NEXT_AS_OF, { files: crashAfter(5).files })).rejects.toThrow(LOST)
  const { code, stderr } = await runBuild(workspace, { AS_OF: MENDING_AS_OF })
  expect(code, stderr).toBe(0)
})
