/** Pages follow what is published: a build that publishes nothing mends them, and those that nothing makes any more go. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesAfter } from '../support/crash.ts'
import { buildIn, newWorkspace, snapshotTree, type Workspace, writeSmallBuild } from '../support/pipeline.ts'

const LATER = '2025-03-10T13:00:00Z'
const PAGE = 'models/acme/one.html'

async function publishedWorkspace(models = ['acme/one', 'acme/two']): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeModels(workspace, models)
  await buildIn(workspace)
  return workspace
}

function writeModels(workspace: Workspace, models: readonly string[]): Promise<void> {
  const records = models.map((model_permaslug) => ({
    timestamp: '2025-03-09T12:00:00Z',
    model_permaslug,
    prompt_tokens: '1',
  }))
  return writeSmallBuild(workspace, { sources: [{ records }], top: { on_missing: 'remove' } })
}

describe('a page that is not as it was rendered', () => {
  it.for([
    ['is gone', (path: string) => rm(path)],
    ['is cut', (path: string) => writeFile(path, '')],
    ['has other bytes of the same length', async (path: string) => writeFile(path, (await readFile(path)).fill(120))],
  ] as const)('is mended by the next build, even when it publishes nothing: it %s', async ([, spoil]) => {
    const workspace = await publishedWorkspace()
    const expected = await snapshotTree(workspace.publicDir)
    await spoil(join(workspace.publicDir, PAGE))
    expect((await buildIn(workspace, LATER)).outcome).toBe('unchanged')
    expect(await snapshotTree(workspace.publicDir)).toEqual(expected)
  })

  it('is mended where the state was lost, or says nothing', async () => {
    const workspace = await publishedWorkspace()
    const expected = await snapshotTree(workspace.publicDir)
    await rm(join(workspace.publicDir, PAGE))
    await writeFile(join(workspace.dataDir, 'state/pages.json'), '{"source":')
    await buildIn(workspace, LATER)
    expect(await snapshotTree(workspace.publicDir)).toEqual(expected)
  })
})

it('takes the page of a model away that no release names any more', async () => {
  const workspace = await publishedWorkspace(['acme/one', 'acme/two', 'gone/one'])
  await writeModels(workspace, ['acme/one'])
  await buildIn(workspace, LATER)
  expect((await readdir(join(workspace.publicDir, 'models'), { recursive: true })).toSorted()).toEqual([
    'acme',
    'acme/one.html',
  ])
})

it('writes no page where nothing has changed', async () => {
  const workspace = await publishedWorkspace()
  const written: unknown[] = []
  const files = filesAfter((path) => {
    if (String(path).includes('.html')) written.push(path)
  })
  await buildIn(workspace, LATER, { files })
  expect(written).toEqual([])
})
