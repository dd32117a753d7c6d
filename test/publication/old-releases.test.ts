/** Releases that older versions made: read, verified by the rules of their time, and continued. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import type { Reproduction } from '../../pipeline/reproduce.ts'
import { namesIn, readCoverage, readIndex, readRestatements } from '../support/history.ts'
import {
  copyWorkspace,
  datasetFolder,
  newWorkspace,
  runCli,
  settings,
  sha256,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release, type Use, verifyFolder } from '../support/releases.ts'
import { madeBy010, madeBy060, relistReleases } from '../support/reseal.ts'

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

it('continues releases of 0.6.0 with weeks and months, also where no row changes, and goes back to them', async () => {
  const workspace = await newWorkspace()
  const { publicDir } = workspace
  const uses = (tokens: number): Use[] => [['2025-02-28', 1], ['2025-03-02', tokens], ['2025-03-09', 1]] // biome-ignore format: rows
  await release(workspace, uses(4), '2025-03-10T01:00:00Z')
  await release(workspace, uses(5), '2025-03-10T02:00:00Z')
  await madeBy060(workspace, FIRST)
  await madeBy060(workspace, SECOND)
  await relistReleases(workspace)
  const before = { index: await readIndex(workspace), coverage: await readCoverage(workspace) }
  const restatements = await readRestatements(workspace)
  await release(workspace, uses(5), '2025-03-10T03:00:00Z')

  const { releases } = await readIndex(workspace)
  expect(releases.map(({ hash }) => hash).slice(0, 2)).toEqual(before.index.releases.map(({ hash }) => hash))
  expect(releases.map(({ data_version, tables }) => [data_version, tables === undefined])).toEqual([
    ['1.0.0', true],
    ['2.0.0', true],
    ['3.0.0', false],
  ])
  expect(releases.at(-1)?.changed).toEqual(['schema', 'weekly_content_hash', 'monthly_content_hash'])
  expect(await readRestatements(workspace)).toEqual(restatements)
  const { weekly, monthly, release: _release, as_of: _as_of, ...coverage } = await readCoverage(workspace)
  expect(before.coverage).toMatchObject(coverage)
  expect(weekly?.map(({ date, status, days, release }) => [date, status, days, release])).toEqual([
    ['2025-02-24', 'final', 2, THIRD],
    ['2025-03-03', 'provisional', 1, THIRD],
  ])
  expect(monthly?.map(({ date, status, total_tokens }) => [date, status, total_tokens])).toEqual([
    ['2025-02-01', 'final', '1'],
    ['2025-03-01', 'provisional', '6'],
  ])
  expect(await verifyFolder(publicDir)).toMatchObject({ releases: 3 })
  const { stdout } = await runCli(['reproduce', SECOND, '--json'], settings(workspace, ''))
  const files: Reproduction['files'] = JSON.parse(stdout).files
  // `madeBy060` left the page and newer documents out.
  expect(files.filter(({ comparison }) => comparison !== 'equal')).toEqual([
    { path: 'LICENSE', comparison: 'not_published' },
    { path: 'SHA256SUMS', comparison: 'differs' },
    { path: 'index.html', comparison: 'not_published' },
    { path: 'manifest.json', comparison: 'differs' },
  ])

  const other = await copyWorkspace(workspace)
  await withdrawIn(other, SECOND, '2025-03-10T04:00:00Z')
  expect(await verifyFolder(other.publicDir)).toMatchObject({ latest: THIRD })

  await withdrawIn(workspace, THIRD, '2025-03-10T04:00:00Z')
  expect(await readCoverage(workspace)).not.toHaveProperty('weekly')
  expect(await verifyFolder(publicDir)).toMatchObject({ latest: SECOND })
  await release(workspace, uses(6), '2025-03-10T05:00:00Z')
  expect((await readRestatements(workspace)).at(-1)).not.toHaveProperty('periods')
  expect((await readIndex(workspace)).releases.at(-1)).toMatchObject({ data_version: '4.0.0' })
  await verifyFolder(publicDir)
})

it('continues an index from before releases had versions and a status, and makes what was not published then', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-02', 5]], '2025-03-10T01:00:00Z')
  const folder = join(datasetFolder(workspace), 'releases', FIRST)
  const { data_version: _version, changes: _changes, tables: _tables, ...manifest } = await readManifest(folder)
  // Such a release had no changes.csv and no documents that list files.
  const isLater = ({ path }: { path: string }) => !/^(rankings-daily\.|quality\.json$)/.test(path)
  const files = manifest.files.filter((file) => !isLater(file))
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }))
  const own = { path: 'manifest.json', sha256: sha256(await readFile(join(folder, 'manifest.json'))) }
  await writeFile(join(folder, 'SHA256SUMS'), toChecksums([...files, own]))
  for (const { path } of manifest.files.filter(isLater)) await rm(join(folder, path))
  for (const path of ['chain.json', 'coverage.json', 'restatements.json', 'daily', 'monthly']) {
    await rm(join(datasetFolder(workspace), path), { recursive: true })
  }
  const grown = appendRelease({ dataset: 'rankings-daily', releases: [] }, { ...manifest, files }, own.sha256)
  const entries = grown.releases.map(({ status: _status, ...entry }) => entry)
  const path = join(datasetFolder(workspace), 'releases/index.json')
  await writeFile(path, JSON.stringify({ ...grown, releases: entries }))
  expect(entries[0]).not.toHaveProperty('data_version', expect.anything())

  await release(workspace, [['2025-03-02', 5], ['2025-03-09', 1]], '2025-03-10T02:00:00Z') // biome-ignore format: rows
  expect(await versions(workspace)).toEqual([undefined, '2.0.0'])
  expect(await namesIn(workspace, 'daily/2025-03-02')).toEqual(['r1.csv', 'r1.json', 'r1.parquet'])
  expect(await verifyFolder(workspace.publicDir)).toMatchObject({ releases: 2 })
})
