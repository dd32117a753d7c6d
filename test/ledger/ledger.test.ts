/** The facts of DATA_DIR/ledger: what a build makes of lost and changed ones. The cases and faults tell what follows from them. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  removeWorkspace,
  snapshotTree,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use, verifyFolder } from '../support/releases.ts'
import { newRuledGateway, RULE, SAFE } from '../support/ruled-gateway.ts'

const [FIRST, SECOND] = ['20250310T100000Z', '20250310T110000Z']
const NEXT: Use[] = [['2025-02-27', 1], ['2025-02-28', 5], ['2025-03-02', 9]] // biome-ignore format: rows

let original: Workspace

/** Two releases, of which the second restates a date; the first is withdrawn. A third follows. */
beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 7]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 8]], '2025-03-10T12:00:00Z') // biome-ignore format: rows
  await withdrawIn(original, FIRST, '2025-03-10T13:00:00Z')
  await deliver(original, NEXT)
})

afterAll(() => removeWorkspace(original))

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

it('a ledger from before the newest release stops a build', async () => {
  const workspace = await copyWorkspace(original)
  await buildNext(workspace)
  await rm(ledgerOf(workspace), { recursive: true })
  await cp(ledgerOf(original), ledgerOf(workspace), { recursive: true })
  await expect(buildNext(workspace)).rejects.toThrow(/has release 20250311T100000Z, which .*ledger does not know/)
})

it('--from-public is refused under a disclosure rule, whose frozen dates are lost with the ledger', async () => {
  const gateway = await newRuledGateway(RULE)
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.build('2025-03-04')
  await rm(ledgerOf(gateway.workspace), { recursive: true })
  await expect(gateway.build('2025-03-05', { fromPublic: true })).rejects.toThrow(/made under a disclosure rule/)
})

it('a fact says in plain JSON what its command added', async () => {
  const [name = ''] = await readdir(generationOf(original))
  const fact = JSON.parse(await readFile(join(generationOf(original), name), 'utf8'))
  expect(fact).toMatchObject({ form: 1, previous: null, kind: 'release', entries: [{ release: FIRST }] })
})
