import { expect, it } from 'vitest'
import { crashAfter, LOST } from '../support/crash.ts'
import { buildIn, newWorkspace, runProcess, settings } from '../support/pipeline.ts'
import { deliver, release } from '../support/releases.ts'

it('a build releases its locks although the cleanup after it failed fails too', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-02', 1], ['2025-03-02', 1, 'b']], '2025-03-10T12:00:00Z') // biome-ignore format: rows
  await deliver(workspace, [['2025-03-02', 2]])
  const building = buildIn(workspace, '2025-03-10T13:00:00Z', { files: crashAfter(5) })
  await expect(building).rejects.toThrow(LOST)
  const { code, stderr } = await runProcess(['build'], settings(workspace, '2025-03-10T14:00:00Z'))
  expect(code, stderr).toBe(0)
})
