/** Which files of the public folder an export copies. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { buildIn, newWorkspace, snapshotTree, type Workspace, writeSmallBuild } from '../support/pipeline.ts'

const DATASET = 'datasets/rankings-daily/v1'
const RELEASE = `${DATASET}/releases/20250310T120000Z`

async function published(): Promise<Workspace> {
  const workspace = await newWorkspace()
  const records = [{ timestamp: '2025-03-02T12:00:00Z', model_permaslug: 'a', prompt_tokens: '1' }]
  await writeSmallBuild(workspace, { sources: [{ records }] })
  await buildIn(workspace)
  return workspace
}

async function exportedFrom({ publicDir, dataDir, root }: Workspace): Promise<string[]> {
  const folder = join(root, 'export')
  const { signal } = new AbortController()
  const effects = { now: () => new Date(0), report: () => {}, signal, files: realFiles }
  await exportPublished(readPipelineConfig({ PUBLIC_DIR: publicDir, DATA_DIR: dataDir }), effects, { folder })
  return Object.keys(await snapshotTree(folder)).filter((path) => !path.startsWith('.'))
}

test('an export copies the files that follow from the releases, older assets and the files that the publisher added', async () => {
  const workspace = await published()
  const expected = Object.keys(await snapshotTree(workspace.publicDir)).filter((path) => !path.startsWith('.'))
  const own = ['CNAME', 'assets/explore-0123456789abcdef.js']
  const stray = ['notes.txt', 'daily/2025-03-02/r9.csv', 'monthly/2025-01.csv'].map((path) => `${DATASET}/${path}`)
  for (const path of [...own, ...stray, `${RELEASE}/extra.csv`]) await writeFile(join(workspace.publicDir, path), '')
  expect((await exportedFrom(workspace)).sort()).toEqual([...expected, ...own].sort())
})

test.each([
  [`${DATASET}/daily/2025-03-02/r1.csv`, 'is missing; nothing was copied. Restore the file'],
  ['feed.atom', 'is missing; make build restores it'],
  [
    `${RELEASE}/rankings-daily.csv`,
    'is missing; nothing was copied. Restore the file, from the copy if that one is whole',
  ],
  [`${RELEASE}/SHA256SUMS`, 'is missing; nothing was copied'],
])('an export refuses a public folder without %s', async (path, message) => {
  const workspace = await published()
  await rm(join(workspace.publicDir, path))
  await expect(exportedFrom(workspace)).rejects.toThrow(`${path} ${message}`)
})

test('an export refuses a SHA256SUMS that lists other checksums', async () => {
  const workspace = await published()
  const path = join(workspace.publicDir, RELEASE, 'SHA256SUMS')
  await writeFile(path, '')
  await expect(exportedFrom(workspace)).rejects.toThrow(`${path} lists other checksums; nothing was copied`)
})

test('an export follows a link to the folder of the datasets, and no link to a file', async () => {
  const workspace = await published()
  const expected = await exportedFrom(workspace)
  const disk = join(workspace.root, 'disk')
  await rename(join(workspace.publicDir, 'datasets'), disk)
  await symlink(disk, join(workspace.publicDir, 'datasets'))
  await rm(join(workspace.root, 'export'), { recursive: true })
  expect(await exportedFrom(workspace)).toEqual(expected)
  const path = join(workspace.publicDir, DATASET, 'coverage.json')
  await mkdir(join(workspace.root, 'private'))
  await rename(path, join(workspace.root, 'private/coverage.json'))
  await symlink(join(workspace.root, 'private/coverage.json'), path)
  await expect(exportedFrom(workspace)).rejects.toThrow(`${path} is neither a file nor a folder`)
})
