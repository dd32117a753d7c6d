/** The facts of DATA_DIR/ledger: what a build makes of lost and changed ones. The cases and faults tell what follows from them. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DATASET_PATH, type ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import type { Fact } from '../../pipeline/ledger/fact.ts'
import { fold, UNPUBLISHED } from '../../pipeline/ledger/fold.ts'
import { readIndex } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  removeWorkspace,
  snapshotTree,
  type Workspace,
  withdrawDatesIn,
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use, verifyFolder } from '../support/releases.ts'
import { newRuledGateway, RULE, SAFE } from '../support/ruled-gateway.ts'

const [FIRST, SECOND, THIRD] = ['20250310T100000Z', '20250310T110000Z', '20250310T120000Z'] as const
const NEXT: Use[] = [['2025-02-27', 1], ['2025-02-28', 5], ['2025-03-02', 9]] // biome-ignore format: rows

let original: Workspace

/** Three releases, of which the first was withdrawn; records of another one are there. */
beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 7]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 8]], '2025-03-10T12:00:00Z') // biome-ignore format: rows
  await withdrawIn(original, FIRST, '2025-03-10T13:00:00Z')
  await deliver(original, NEXT)
})

afterAll(() => removeWorkspace(original))

const entryOf = (release: string) => ({ release, hash: release }) as ReleaseEntry
const ledgerOf = ({ dataDir }: Workspace) => join(dataDir, 'ledger')
const generationOf = (workspace: Workspace) => join(ledgerOf(workspace), 'generation-1')
const buildNext = (workspace: Workspace, options = {}) => buildIn(workspace, '2025-03-11T10:00:00Z', {}, options)

it('has a fact for each command that published something, in files that are never written again', async () => {
  const workspace = await copyWorkspace(original)
  const before = await snapshotTree(generationOf(workspace))
  expect(Object.keys(before)).toEqual(['000001.json', '000002.json', '000003.json', '000004.json'])
  await buildNext(workspace)
  await buildNext(workspace)
  const after = await snapshotTree(generationOf(workspace))
  expect(after).toMatchObject(before)
  expect(Object.keys(after)).toHaveLength(5)
})

it.each([
  ['changed', (path: string) => writeFile(path, '{"form":1}\n')],
  ['lost', (path: string) => rm(path)],
])('a fact that was %s stops a build, which names the file and the way out', async (_, harm) => {
  const workspace = await copyWorkspace(original)
  await harm(join(generationOf(workspace), '000002.json'))
  const folder = ledgerOf(workspace)
  await expect(buildNext(workspace)).rejects.toThrow(
    new RegExp(`${folder}/generation-1/00000[23].json does not follow .* restore ${folder} from a backup`),
  )
})

it('a lost ledger stops a build, and --from-public makes one from which all follows as before', async () => {
  const workspace = await copyWorkspace(original)
  await rm(ledgerOf(workspace), { recursive: true })
  await expect(buildNext(workspace)).rejects.toThrow(
    `index.json has release ${FIRST}, which ${ledgerOf(workspace)} does not know: restore that folder from the newest backup; ` +
      'without one, tokenboard build --from-public makes it from what is published',
  )
  const whole = await copyWorkspace(original)
  for (const [each, options] of [
    [whole, {}],
    [workspace, { fromPublic: true }],
  ] as const) {
    await buildNext(each, options)
    await withdrawIn(each, SECOND, '2025-03-11T11:00:00Z')
    await verifyFolder(each.publicDir)
  }
  expect(await snapshotTree(workspace.publicDir)).toEqual(await snapshotTree(whole.publicDir))
  await expect(buildNext(workspace, { fromPublic: true })).rejects.toThrow(/ledger is there; leave the option out/)
})

it('a public folder with nothing of what was published stops a build, and so does one with a part of it', async () => {
  const workspace = await copyWorkspace(original)
  const elsewhere = { ...workspace, publicDir: join(workspace.root, 'elsewhere') }
  const refused = `${elsewhere.publicDir} does not have what was published, 20250310T120000Z and what belongs to it: name the folder`
  await expect(buildNext(elsewhere)).rejects.toThrow(refused)
  const lost = `${DATASET_PATH}/releases`
  await cp(join(workspace.publicDir, lost, SECOND), join(elsewhere.publicDir, lost, SECOND), { recursive: true })
  await expect(buildNext(elsewhere, { newChain: true })).rejects.toThrow(refused)
  expect(await buildNext(workspace)).toMatchObject({ outcome: 'released', data_version: '4.0.0' })
  await rm(elsewhere.publicDir, { recursive: true })
  expect(await buildNext(elsewhere, { newChain: true })).toMatchObject({ outcome: 'released', data_version: '1.0.0' })
})

it('a folder of a release that the ledger does not list stops a build', async () => {
  const workspace = await copyWorkspace(original)
  const folder = join(workspace.publicDir, DATASET_PATH, 'releases/20250310T150000Z')
  await mkdir(folder)
  await expect(buildNext(workspace)).rejects.toThrow(`${folder} belongs to no release: remove it by hand`)
})

it('after a withdrawal for privacy, a chain that ended has the names of its releases alone', async () => {
  const workspace = await copyWorkspace(original)
  await buildNext(workspace, { newChain: true })
  await release(workspace, [...NEXT, ['2025-03-03', 4]], '2025-03-11T11:00:00Z')
  await withdrawDatesIn(workspace, '2025-03-02', '2025-03-11T12:00:00Z')
  const index = await readIndex(workspace)
  await release(workspace, [...NEXT, ['2025-03-03', 6]], '2025-03-11T13:00:00Z')
  expect((await readIndex(workspace)).releases.slice(0, index.releases.length - 1)).toEqual(index.releases.slice(0, -1))
  const folder = join(ledgerOf(workspace), 'generation-2')
  for (const name of (await readdir(folder)).sort().slice(0, 4))
    expect(await readFile(join(folder, name), 'utf8')).not.toMatch(/"(content_hash|coverage|restatements)":/)
  await verifyFolder(workspace.publicDir)
})

it('facts that are added one by one or at once say the same, also of a dropped release that becomes current', () => {
  const facts = [FIRST, SECOND, THIRD].map(
    (name): Fact => ({ kind: 'release', at: '2025-03-10T12:00:00Z', entries: [entryOf(name)] }),
  )
  const withdrawal = { withdrawn_at: '2025-03-11T12:00:00Z', reason: 'It was wrong.' }
  facts.push({ kind: 'drop', at: '2025-03-11T11:00:00Z', dropped: [FIRST] })
  for (const name of [THIRD, SECOND])
    facts.push({
      kind: 'withdrawal',
      at: '2025-03-11T12:00:00Z',
      withdrawn: { releases: [name], withdrawal, is_erased: false },
    })
  facts.push({ kind: 'release', at: '2025-03-11T13:00:00Z', entries: [entryOf('20250311T130000Z')] })
  const whole = fold(UNPUBLISHED, facts)
  expect(facts.reduce((lists, fact) => fold(lists, [fact]), UNPUBLISHED)).toEqual(whole)
  expect(whole.index.releases[0]).not.toHaveProperty('dropped')
})

it('--from-public is refused under a disclosure rule, whose frozen dates are lost with the ledger', async () => {
  const gateway = await newRuledGateway(RULE)
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.build('2025-03-04')
  await rm(ledgerOf(gateway.workspace), { recursive: true })
  await expect(gateway.build('2025-03-05', { fromPublic: true })).rejects.toThrow(/made under a disclosure rule/)
})
