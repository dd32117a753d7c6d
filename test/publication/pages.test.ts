/** Builds render only the pages that changed; the case damaged-pages shows how they mend others. */
import { expect, it } from 'vitest'
import { filesAfter } from '../support/crash.ts'
import { buildIn, newWorkspace } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'

it('writes no page when nothing has changed', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-09', 1, 'acme/one']], '2025-03-10T12:00:00Z')
  const written: unknown[] = []
  const files = filesAfter((path) => {
    if (String(path).includes('.html')) written.push(path)
  })
  await buildIn(workspace, '2025-03-10T13:00:00Z', { files })
  expect(written).toEqual([])
})
