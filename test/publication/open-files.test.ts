/** A build has few files open at a time, however many there are: many systems allow a process 256. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newWorkspace, REPOSITORY, settings, type Workspace, writeInput } from '../support/pipeline.ts'

const MODELS = 1500

/** A subcommand of the CLI that may have 256 files open. */
function runWithFewFiles(
  args: string[],
  environment: Record<string, string>,
): Promise<{ code: number; stderr: string }> {
  const command = [process.execPath, join(REPOSITORY, 'pipeline/cli.ts'), ...args]
  const { PATH = '', HOME = '' } = process.env
  return new Promise((done) => {
    const options = { cwd: REPOSITORY, env: { PATH, HOME, ...environment } }
    execFile('sh', ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...command], options, (error, _, stderr) => {
      done({ code: error === null ? 0 : 1, stderr })
    })
  })
}

const record = (model: string, day: string) =>
  `${JSON.stringify({ timestamp: `${day}T12:00:00Z`, model_permaslug: model, prompt_tokens: 1, completion_tokens: 0 })}\n`

/** Every model is in the top 50 of some day, and so has a page. */
async function manyModels(): Promise<Workspace> {
  const workspace = await newWorkspace()
  const day = (index: number) => new Date(Date.UTC(2025, 0, 1 + Math.floor(index / 50))).toISOString().slice(0, 10)
  const lines = Array.from({ length: MODELS }, (_, index) => record(`acme/model-${index}`, day(index)))
  await writeInput(workspace, 'raw.ndjson', lines.join(''))
  const source = { name: 'gateway', schema: 'canonical', files: ['raw.ndjson'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { sources: [source] })
  return workspace
}

it('builds the pages of 1,500 models twice, exports and verifies them with at most 256 open files', async () => {
  const workspace = await manyModels()
  const run = (args: string[], asOf: string) => runWithFewFiles(args, settings(workspace, asOf))
  expect(await run(['build'], '2025-03-10T12:00:00Z')).toMatchObject({ code: 0 })
  const pages = await readdir(join(workspace.publicDir, 'models/acme'))
  expect(pages.filter((name) => name.endsWith('.html')).length).toBe(MODELS)
  expect(await run(['build'], '2025-03-10T13:00:00Z')).toMatchObject({ code: 0 })
  expect(await run(['verify'], '2025-03-10T13:00:00Z')).toMatchObject({ code: 0 })
  expect(await run(['export', join(workspace.root, 'copy')], '2025-03-10T13:00:00Z')).toMatchObject({ code: 0 })
})
