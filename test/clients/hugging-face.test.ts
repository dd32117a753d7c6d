/**
 * The folder of a release, loaded by the library `datasets` of Hugging Face without the network. The library comes from
 * PyPI; without it the test is skipped and says so.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { writeOddBuild } from '../support/odd-build.ts'
import { buildIn, createWorkspace, releaseFolder, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'
import { environment, run } from '../system/clone.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'

/** All tokens of the odd build: twice 60 models, and nine. */
const ALL = 2n * (60n * 9_007_199_254_740_991n - 1770n) + 45n

let workspace: Workspace
let folder: string

beforeAll(async () => {
  workspace = await createWorkspace()
  await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, title: '"A": [b] \'c\' # {d}\n---\nlicense: mit' })
  await writeOddBuild(workspace)
  await buildIn(workspace)
  folder = await releaseFolder(workspace)
})

afterAll(() => removeWorkspace(workspace))

/** Runs Python with `datasets` that finds nothing on the network and nothing of an earlier run. */
async function python(words: readonly string[], { skip }: TestContext): Promise<string> {
  const tools = await pythonWith(['datasets==5.2.0'])
  if (!('bin' in tools)) return skipLoudly(skip, tools.reason)
  const offline = { HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1', HF_HOME: join(workspace.root, 'hugging-face') }
  const { code, stdout, stderr } = await run(join(tools.bin, 'python'), words, {
    cwd: workspace.root,
    env: environment(offline),
  })
  expect(code, stderr).toBe(0)
  return stdout
}

it('every configuration of the README has the rows, the types and the tokens of the release', async (test) => {
  const script = fileURLToPath(new URL('./hugging_face.py', import.meta.url))
  const loaded = JSON.parse(await python([script, folder], test))
  const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
  const tokens = String(ALL)
  const days = { date: 'date32', model_permaslug: 'string', total_tokens: 'int64' }
  const periods = { ...days, days: 'int32' }
  expect(loaded).toEqual({
    default: manifest.rows,
    tables: {
      daily: { rows: manifest.rows, tokens, types: days },
      weekly: { rows: manifest.tables?.weekly.rows, tokens, types: periods },
      monthly: { rows: manifest.tables?.monthly.rows, tokens, types: periods },
    },
  })
})
