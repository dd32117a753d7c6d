/** `latest` switches before `latest.json`: whoever reads the pointer finds nothing older behind the link. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Files } from '../../pipeline/base/files.ts'
import { linkTarget } from '../../pipeline/base/files.ts'
import { filesWithin } from '../support/crash.ts'
import {
  buildIn,
  crowd,
  datasetFolder,
  newWorkspace,
  readLatest,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'

const [FIRST, SECOND] = ['20250310T120000Z', '20250310T130000Z']

/** Where `latest` and `latest.json` lead before, during and after `work`, each pair once. */
async function pairsDuring(workspace: Workspace, work: (files: Files) => Promise<unknown>) {
  const pairs: string[] = []
  const look = async () => {
    const link = await linkTarget(join(datasetFolder(workspace), 'latest'))
    const { release } = await readLatest(workspace)
    const pair = `${link?.replace('releases/', '')} ${release}`
    if (pairs.at(-1) !== pair) pairs.push(pair)
  }
  await look()
  const files = filesWithin(async (_name, _given, take) => {
    await take()
    await look()
  })
  await work(files)
  return pairs
}

it('switches the link latest before latest.json, in a build and in a withdrawal', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 1) }] })
  await buildIn(workspace, '2025-03-10T12:00:00Z')
  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 2) }] })
  const built = await pairsDuring(workspace, (files) => buildIn(workspace, '2025-03-10T13:00:00Z', { files }))
  expect(built).toEqual([`${FIRST} ${FIRST}`, `${SECOND} ${FIRST}`, `${SECOND} ${SECOND}`])
  const withdrawn = await pairsDuring(workspace, (files) =>
    withdrawIn(workspace, SECOND, '2025-03-10T14:00:00Z', { files }),
  )
  expect(withdrawn).toEqual([`${SECOND} ${SECOND}`, `${FIRST} ${SECOND}`, `${FIRST} ${FIRST}`])
})
