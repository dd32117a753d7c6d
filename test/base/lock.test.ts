/** The lock of a folder. */
import { execFileSync } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lock } from '../../pipeline/base/lock.ts'
import { AS_OF, newWorkspace, runProcess, settings, writeSmallBuild } from '../support/pipeline.ts'

it.each([0, 1, 4096, 8192, 12_287])('a lock can be taken if a full disk left %d bytes of its file', async (bytes) => {
  const { root } = await newWorkspace()
  const path = join(root, '.lock')
  await writeFile(path, Buffer.alloc(bytes))
  const held = await lock(path)
  await held.release()
  expect(await readdir(root)).not.toContain('.lock')
})

it('a lock keeps other processes out, even if its file is damaged', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: [] }] })
  const path = join(workspace.publicDir, '.lock')
  const held = await lock(path)
  // By another process: this one would lose its lock with the first handle of the file that it closes.
  execFileSync('truncate', ['--size=5', path])
  const { code, stderr } = await runProcess(['build'], settings(workspace, AS_OF))
  expect(stderr).toContain(`another build is running: it holds ${path}`)
  expect(code).toBe(1)
  await held.release()
})
