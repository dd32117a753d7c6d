/** Builds render only the pages that changed; the case damaged-pages shows how they mend others. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DATASET_PATH, releasePath } from '../../pipeline/contract/manifest.ts'
import { publicFiles } from '../../server/published/public-files.ts'
import { filesAfter } from '../support/crash.ts'
import { buildIn, newWorkspace } from '../support/pipeline.ts'
import { deliver, release } from '../support/releases.ts'
import { linksOf } from '../support/site.ts'

it('writes no page when nothing has changed, and no link to a file that is gone when a release is dropped', async () => {
  const workspace = await newWorkspace()
  const { publicDir } = workspace
  const dropped = await release(workspace, [['2025-03-09', 1, 'acme/one']], '2025-03-10T12:00:00Z')
  const written: unknown[] = []
  const files = filesAfter((path) => {
    if (String(path).includes('.html')) written.push(path)
  })
  await buildIn(workspace, '2025-03-10T13:00:00Z', { files })
  expect(written).toEqual([])

  await deliver(workspace, [['2025-03-09', 2, 'acme/one']], { retention: { keep_releases: 1 } })
  await buildIn(workspace, '2025-03-10T14:00:00Z')
  const file = { release: dropped, name: 'rankings-weekly.csv', table: 'weekly' }
  const path = `/${releasePath(dropped)}/${file.name}`
  expect(await publicFiles(publicDir).find(path)).toEqual({ kind: 'dropped', file })
  // The page of a release never changes: its list of files stays.
  const isOwn = (name: string) => !name.startsWith(`${DATASET_PATH}/`) && name.endsWith('.html')
  for (const name of (await readdir(publicDir, { recursive: true })).filter(isOwn)) {
    const links = linksOf({ path: name, text: await readFile(join(publicDir, name), 'utf8') })
    for (const link of links) expect(existsSync(join(publicDir, link)), `${name} links to ${link}`).toBe(true)
  }
})
