/** Revisions of days and the coverage that lists them, where cases do not show it: what was changed, and equal bytes. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCoverage } from '../support/history.ts'
import { buildIn, datasetFolder, newWorkspace, snapshotTree, type Workspace } from '../support/pipeline.ts'
import { release, type Use } from '../support/releases.ts'

const FIRST: Use[] = [
  ['2025-02-28', 1],
  ['2025-03-02', 2],
  ['2025-03-09', 3, 'b'],
]

/** Makes a release of each delivery, an hour apart. */
async function built(...deliveries: Use[][]): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [hour, uses] of deliveries.entries()) await release(workspace, uses, `2025-03-10T1${hour}:00:00Z`)
  return workspace
}

it('coverage begins with the first date ever published', async () => {
  const workspace = await built(FIRST)
  const { start_date, days } = await readCoverage(workspace)
  expect([start_date, days[0]?.date]).toEqual([FIRST[0]?.[0], FIRST[0]?.[0]])
})

it('a build without coverage.json stops at a revision that holds other rows', async () => {
  const workspace = await built(FIRST)
  await rm(join(datasetFolder(workspace), 'coverage.json'))
  await writeFile(join(datasetFolder(workspace), 'daily/2025-03-02/r1.csv'), 'another')
  await expect(buildIn(workspace)).rejects.toThrow(/daily\/2025-03-02\/r1\.csv is published with other rows/)
})

it('publishes equal bytes for equal inputs and instants', async () => {
  const deliveries: Use[][] = [FIRST, [...FIRST, ['2025-03-08', 4, 'b']], FIRST]
  const published = await snapshotTree((await built(...deliveries)).publicDir)
  expect(Object.keys(published).length).toBeGreaterThan(80)
  expect(await snapshotTree((await built(...deliveries)).publicDir)).toEqual(published)
})
