/**
 * The code that the landing page gives to copy, run as it is against a built site on a plain static server. Python and its
 * packages come from PyPI; where it or `python3 -m venv` cannot be reached, those tests are skipped and say so.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Snippet, snippetText } from '../../pipeline/site/code.ts'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { type StaticHost, startHost } from '../support/static-host.ts'
import { weekRecords, weekTop } from '../support/week.ts'
import { type Finished, run } from './clone.ts'
import { DATA_TOOLS, type Python, pythonWith } from './python.ts'

let workspace: Workspace
let server: StaticHost
let python: Python

beforeAll(async () => {
  workspace = await createWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: weekRecords() }] })
  await buildIn(workspace)
  server = await startHost(workspace.publicDir, { below: '/some/path/' })
  python = await pythonWith(DATA_TOOLS)
})
afterAll(async () => {
  await server.stop()
  await removeWorkspace(workspace)
})

/** Runs a snippet as a file in an empty folder of its own. */
async function runSnippet(file: Snippet, command: string, base = server.url): Promise<Finished & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-snippet-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // The name of a package must not be that of the file which imports it.
  const name = `snippet-${file}`
  await writeFile(join(folder, name), snippetText(file, base))
  return { ...(await run(command, [name], { cwd: folder, env: process.env })), folder }
}

it('JavaScript finds the models with the most tokens of the last week', async () => {
  const { stdout, stderr } = await runSnippet('tokens.mjs', process.execPath)
  expect(stderr).toBe('')
  expect(stdout).toBe(weekTop())
})

describe('curl', () => {
  it('fetches all rows and proves them', async () => {
    const { code, stdout, stderr, folder } = await runSnippet('download.sh', 'sh')
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('rankings-daily.csv: OK\n')
    expect(await readFile(join(folder, 'rankings-daily.csv'), 'utf8')).toBe(await publishedCsv(workspace))
  })

  it('fails where there is nothing', async () => {
    const { code, stderr } = await runSnippet('download.sh', 'sh', `${server.url}elsewhere`)
    expect(code).not.toBe(0)
    expect(stderr).toContain('404')
  })
})

describe('Python', () => {
  it.for([
    ['pandas.py', 'url'],
    ['polars.py', 'url'],
    // DuckDB reads HTTP by an extension that it downloads from elsewhere; the folder takes the place of the address.
    ['duckdb.py', 'folder'],
  ] as const)('%s finds the models with the most tokens of the last week', async ([file, place], { skip }) => {
    if (!('bin' in python)) {
      process.stderr.write(`SKIPPED, NOT PROVED: ${python.reason}\n`)
      return skip(python.reason)
    }
    const base = place === 'url' ? server.url : workspace.publicDir
    const { stdout, stderr } = await runSnippet(file, join(python.bin, 'python'), base)
    expect(stdout, stderr).toBe(weekTop())
  })
})
