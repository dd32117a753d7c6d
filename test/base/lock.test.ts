/** The lock of a folder. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lock } from '../../pipeline/base/lock.ts'
import { AS_OF, newWorkspace, REPOSITORY, runProcess, settings, writeSmallBuild } from '../support/pipeline.ts'

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
  expect(stderr).toContain(`another command (process ${process.pid}) is running: it holds ${path}`)
  expect(code).toBe(1)
  await held.release()
})

it.runIf(process.platform === 'linux')('a lock names the command that has it', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: [] }] })
  const program = join(workspace.root, 'cli.ts')
  const path = join(workspace.publicDir, '.lock')
  const [module, held] = [join(REPOSITORY, 'pipeline/base/lock.ts'), JSON.stringify(path)]
  await writeFile(
    program,
    `import { lock } from ${JSON.stringify(module)}
await lock(${held})
console.log('held')
setInterval(() => {}, 1e9)
`,
  )
  const other = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, 'export', 'copy'])
  await once(other.stdout, 'data')
  const { code, stderr } = await runProcess(['build'], settings(workspace, AS_OF))
  other.kill('SIGKILL')
  await once(other, 'exit')
  expect(stderr).toContain(`another export (process ${other.pid}) is running: it holds ${path}`)
  expect(code).toBe(1)
})
