/** Nothing gets its name before it is on disk: bytes that are renamed are flushed, and so are the folders that hold them. */
import { dirname, join, sep } from 'node:path'
import { expect, it } from 'vitest'
import { SCENARIOS } from '../support/fault-scenarios.ts'
import { withEffects } from '../support/faults.ts'
import { removeWorkspace } from '../support/pipeline.ts'

/** What `Files` writes it flushes itself; what DuckDB writes, and the entries of folders, must be flushed by who asks for it. */
const MAKES_AN_ENTRY = ['write', 'copy', 'copyTo', 'link']

it.each(SCENARIOS)('a $name renames nothing that was not flushed to disk', async (scenario) => {
  const workspace = await scenario.prepare()
  const waiting = new Set<string>()
  const early = new Set<string>()
  const flushed: string[] = []
  const unflushed = new Set<string>()
  // The mark of a switch lies in a folder that is new itself.
  let isMarkLost = false
  const unmarked: string[] = []
  const staging = join(workspace.publicDir, '.staging')
  const forget = (isOver: (path: string) => boolean) => {
    for (const path of waiting) if (isOver(path)) waiting.delete(path)
  }
  const within = (folder: string) => (path: string) => path === folder || path.startsWith(folder + sep)
  await withEffects(
    async ({ name, paths, isMore }, take) => {
      await take()
      const [first = '', second = ''] = paths
      const made = name === 'copy' ? second : first
      if (name === 'copyTo') waiting.add(made)
      if (MAKES_AN_ENTRY.includes(name)) waiting.add(dirname(made))
      if (name === 'flush' || name === 'write') forget((path) => path === first)
      if (name === 'flush') flushed.push(first)
      if (name === 'flush' && first === workspace.publicDir) isMarkLost = false
      if (name === 'rename' && isMarkLost) unmarked.push(first)
      if (name === 'write' && first === join(staging, 'switching')) isMarkLost = true
      if (name === 'remove') forget(within(first))
      if (name === 'rename') {
        // It flushes the folder that it renames into, or leaves that to the next move into it.
        if (isMore === true) unflushed.add(dirname(second))
        else for (const places of [waiting, unflushed]) places.delete(dirname(second))
        for (const path of [...waiting].filter(within(first))) early.add(path.slice(workspace.root.length))
        forget(within(first))
      }
    },
    (files) => scenario.run(workspace, files),
  )
  await removeWorkspace(workspace)
  expect([...early]).toEqual([])
  expect([...unflushed].filter((folder) => !folder.startsWith(join(staging, 'removed')))).toEqual([])
  expect(unmarked).toEqual([])
  expect(flushed.length).toBeGreaterThan(1)
})
