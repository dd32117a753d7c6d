import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readOutcome } from '../../pipeline/operation/build-outcome.ts'
import { newGateway, use } from '../support/gateway.ts'
import { REPOSITORY, settings, snapshotTree, writeInput } from '../support/pipeline.ts'
import { environment, finish } from './clone.ts'

/** Raw logs that take a moment to read. */
function manyRecords(): Buffer {
  const lines = Array.from({ length: 100_000 }, (_, row) => {
    return `2025-03-0${1 + (row % 7)}T10:00:00Z,acme/model-${row % 80},${row % 1000},7,id-${row % 99_990}`
  })
  return gzipSync(`timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n${lines.join('\n')}\n`)
}

it('a build that Ctrl-C stops exits with 1 and leaves the public folder unchanged', async () => {
  const gateway = await newGateway()
  const { workspace } = gateway
  await gateway.deliver('first.csv', [use('acme/one', 1)])
  await gateway.build()
  await writeInput(workspace, 'raw/second.csv.gz', manyRecords())
  const before = await snapshotTree(workspace.publicDir)
  const child = spawn(process.execPath, [join(REPOSITORY, 'pipeline/cli.ts'), 'build'], {
    env: environment(settings(workspace, gateway.later())),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = finish(child)
  // The working folder appears when the command listens for signals and has begun to read.
  while (!existsSync(join(workspace.dataDir, 'state/tmp'))) await sleep(5)
  child.kill('SIGINT')
  const { code, stderr } = await ended
  expect(stderr).toMatch(/stopped; no release was made/)
  expect(code).toBe(1)
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  expect(existsSync(join(workspace.dataDir, 'state/tmp'))).toBe(false)
  expect(await readOutcome(workspace)).toMatchObject({ outcome: 'interrupted', exit_code: 1 })
})
