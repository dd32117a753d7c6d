/**
 * Whole published folders, file by file, against committed hashes. `make golden` compares, `make golden ARGS=-u` writes
 * them anew: read the difference before you commit it. The golden cases have theirs in `test/cases.test.ts`. The numbers of
 * docs/analyses.md are those of these folders.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { citedRow, expectAnalyses } from '../support/analyses.ts'
import { buildIn, newWorkspace, publishedCsv, type Workspace } from '../support/pipeline.ts'
import { buildHistory } from './history.ts'
import { hashesOf, treeFile } from './tree.ts'

vi.mock('../../pipeline/base/code.ts', async (load) => {
  const { FIXED_CODE } = await import('./fixed.ts')
  return { ...(await load<object>()), ...FIXED_CODE }
})

async function expectTree(name: string, { publicDir }: Workspace): Promise<void> {
  await expect(await hashesOf(publicDir)).toMatchFileSnapshot(treeFile(name))
}

it('publishes the sample with the recorded bytes', async () => {
  const workspace = await newWorkspace()
  // provenance.json has hashes under this secret.
  await mkdir(join(workspace.dataDir, 'disclosure'), { recursive: true })
  await writeFile(join(workspace.dataDir, 'disclosure/secret.key'), `${'5e'.repeat(32)}\n`)
  await buildIn({ ...workspace, sources: '' }, '2026-11-20T00:12:00Z')
  await expectTree('sample', workspace)
  await expectAnalyses(workspace.publicDir, ['Share and level', 'The edge at rank 50', 'Free variants'])
  expect(await publishedCsv(workspace)).toContain(citedRow())
})

it('publishes four releases, a restatement and a withdrawal with the recorded bytes', async () => {
  const { publicDir } = await buildHistory((step, workspace) => expectTree(`history-${step}`, workspace))
  await expectAnalyses(publicDir, ['Missing is not zero', 'Provisional days'])
})
