import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCoverage } from '../support/history.ts'
import { buildIn, datasetFolder, newWorkspace } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'

it('coverage begins with the first date ever published, and without it a build stops at a revision with other rows', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-02-28', 1], ['2025-03-02', 2], ['2025-03-09', 3, 'b']], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  const { start_date, days } = await readCoverage(workspace)
  expect([start_date, days[0]?.date]).toEqual(['2025-02-28', '2025-02-28'])
  await rm(join(datasetFolder(workspace), 'coverage.json'))
  await writeFile(join(datasetFolder(workspace), 'daily/2025-03-02/r1.json'), 'another')
  await expect(buildIn(workspace)).rejects.toThrow(/daily\/2025-03-02\/r1\.json is published with other rows/)
})
