/**
 * An export for Hugging Face, loaded by the library `datasets` from the folder as it is, without the network. The library
 * comes from PyPI; without it the test is skipped and says so.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { writeOddBuild } from '../support/odd-build.ts'
import {
  buildIn,
  createWorkspace,
  REPOSITORY,
  releaseFolder,
  removeWorkspace,
  settings,
  type Workspace,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'
import { environment, run } from '../system/clone.ts'
import { documented, skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'

/** All tokens of the odd build: twice 60 models, and nine. */
const ALL = 2n * (60n * 9_007_199_254_740_991n - 1770n) + 45n
const TEXT = ['op', 'model_permaslug', 'name', 'author', 'aliases']

let workspace: Workspace
let folder: string

beforeAll(async () => {
  workspace = await createWorkspace()
  folder = join(workspace.root, 'hub')
  await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, title: '"A": [b] \'c\' # {d}\n---\nlicense: mit' })
  await writeOddBuild(workspace)
  await buildIn(workspace)
  await exportAsDocumented()
})

afterAll(() => removeWorkspace(workspace))

/** Runs the command of docs/hosting.md. */
async function exportAsDocumented(): Promise<void> {
  const [line] = documented('sh', documentedAt('--for hugging-face')).split('\n')
  const script = (line ?? '').replace('/srv/hub', folder)
  const { code, stderr } = await run('bash', ['-euc', script], {
    cwd: REPOSITORY,
    env: environment(settings(workspace, '')),
  })
  expect(code, stderr).toBe(0)
}

/** The position of the block of commands that has a word. */
function documentedAt(word: string): number {
  for (let position = 0; ; position += 1) if (documented('sh', position).includes(word)) return position
}

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

it('every configuration of the card has the rows, the types and the tokens of the release', async (test) => {
  const script = fileURLToPath(new URL('./hugging_face.py', import.meta.url))
  const loaded = JSON.parse(await python([script, folder], test))
  const manifest = Manifest.parse(
    JSON.parse(await readFile(join(await releaseFolder(workspace), 'manifest.json'), 'utf8')),
  )
  const rowsOf = (path: string) => manifest.files.find((file) => file.path === path)?.rows
  const tokens = String(ALL)
  expect(loaded).toMatchObject({
    default: manifest.rows,
    tables: {
      daily: { rows: manifest.rows, tokens, types: { date: 'date32', total_tokens: 'int64' } },
      weekly: { rows: manifest.tables?.weekly.rows, tokens, types: { date: 'date32', days: 'int32' } },
      monthly: { rows: manifest.tables?.monthly.rows, tokens, types: { date: 'date32', days: 'int32' } },
      models: {
        rows: rowsOf('models.csv'),
        types: { first_date: 'date32', best_rank: 'int64', total_tokens: 'int64' },
      },
      changes: { rows: rowsOf('changes.csv'), tokens, types: { date: 'date32', tokens_before: 'int64' } },
    },
  })
  const types = Object.values<{ types: Record<string, string> }>(loaded.tables).flatMap((table) =>
    Object.entries(table.types),
  )
  expect(types.filter(([, type]) => type === 'string').every(([name]) => TEXT.includes(name))).toBe(true)
})

it('the Python of docs/hosting.md loads the folder', async (test) => {
  const code = documented('python').replace('/srv/hub', folder)
  const rows = await python(['-c', `${code}\nprint(rows.num_rows, rows[0]["date"])`], test)
  expect(rows.trim()).toMatch(/^\d+ 2025-03-02$/)
})
