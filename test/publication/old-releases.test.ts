/** Releases that older versions made: read, verified by the rules of their time, and continued. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { namesIn, readIndex } from '../support/history.ts'
import { datasetFolder, newWorkspace, sha256, type Workspace } from '../support/pipeline.ts'
import { release, type Use, verifyFolder } from '../support/releases.ts'
import { madeBy010, relistReleases } from '../support/reseal.ts'

const [FIRST, SECOND, THIRD] = ['20250310T010000Z', '20250310T020000Z', '20250310T030000Z']

async function versions(workspace: Workspace): Promise<(string | undefined)[]> {
  return (await readIndex(workspace)).releases.map(({ data_version }) => data_version)
}

it('continues releases of 0.1.0 by the new rule of versions, and verifies them by the rule of their time', async () => {
  const workspace = await newWorkspace()
  const uses = (tokens: number): Use[] => [['2025-03-02', 1], ['2025-03-09', tokens]] // biome-ignore format: rows
  await release(workspace, uses(5), '2025-03-10T01:00:00Z')
  await release(workspace, uses(6), '2025-03-10T02:00:00Z')
  await madeBy010(workspace, FIRST, '1.0.0')
  await madeBy010(workspace, SECOND, '2.0.0')
  await relistReleases(workspace)
  const before = await readIndex(workspace)
  await release(workspace, uses(7), '2025-03-10T03:00:00Z')
  expect(await versions(workspace)).toEqual(['1.0.0', '2.0.0', '2.0.1'])
  const { releases } = await readIndex(workspace)
  expect(releases.map(({ hash }) => hash).slice(0, 2)).toEqual(before.releases.map(({ hash }) => hash))
  expect(releases.map(({ version_rule }) => version_rule)).toEqual([undefined, undefined, 2])
  expect(await verifyFolder(workspace.publicDir)).toMatchObject({ releases: 3, latest: THIRD })
  await madeBy010(workspace, SECOND, '1.0.1')
  await relistReleases(workspace)
  await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(`the data_version of ${SECOND} is 1.0.1`)
})

it('continues an index from before releases had versions and a status, and makes what was not published then', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-02', 5]], '2025-03-10T01:00:00Z')
  const folder = join(datasetFolder(workspace), 'releases', FIRST)
  const { data_version: _version, changes: _changes, ...manifest } = await readManifest(folder)
  // Such a release had no changes.csv and no documents that list files.
  const isLater = ({ path }: { path: string }) => !/^(rankings-daily\.|quality\.json$)/.test(path)
  const files = manifest.files.filter((file) => !isLater(file))
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }))
  const own = { path: 'manifest.json', sha256: sha256(await readFile(join(folder, 'manifest.json'))) }
  await writeFile(join(folder, 'SHA256SUMS'), toChecksums([...files, own]))
  for (const { path } of manifest.files.filter(isLater)) await rm(join(folder, path))
  for (const path of ['coverage.json', 'restatements.json', 'daily', 'monthly']) {
    await rm(join(datasetFolder(workspace), path), { recursive: true })
  }
  const grown = appendRelease({ dataset: 'rankings-daily', releases: [] }, { ...manifest, files }, own.sha256)
  const entries = grown.releases.map(({ status: _status, ...entry }) => entry)
  const path = join(datasetFolder(workspace), 'releases/index.json')
  await writeFile(path, JSON.stringify({ ...grown, releases: entries }))
  expect(entries[0]).not.toHaveProperty('data_version', expect.anything())

  await release(workspace, [['2025-03-02', 5], ['2025-03-09', 1]], '2025-03-10T02:00:00Z') // biome-ignore format: rows
  expect(await versions(workspace)).toEqual([undefined, '1.1.0'])
  expect(await namesIn(workspace, 'daily/2025-03-02')).toEqual(['r1.csv', 'r1.json', 'r1.parquet'])
  expect(await verifyFolder(workspace.publicDir)).toMatchObject({ releases: 2 })
})
