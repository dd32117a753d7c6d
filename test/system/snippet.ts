/** Runs the code that the landing page gives to copy against a site of one week. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Snippet, snippetText } from '../../pipeline/site/code.ts'
import { createWorkspace, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { type StaticHost, startHost } from '../support/static-host.ts'
import { releaseWeek } from '../support/week.ts'
import { type Finished, run } from './clone.ts'

/** Builds and serves the site before all tests of the file. */
export function useWeek(): { workspace(): Workspace; url(): string } {
  let workspace: Workspace
  let server: StaticHost
  beforeAll(async () => {
    workspace = await createWorkspace()
    await releaseWeek(workspace)
    server = await startHost(workspace.publicDir, { below: '/some/path/' })
  })
  afterAll(async () => {
    await server.stop()
    await removeWorkspace(workspace)
  })
  return { workspace: () => workspace, url: () => server.url }
}

/** Runs a snippet as a file in an empty folder of its own. */
export function runSnippet(file: Snippet, command: string, base: string): Promise<Finished & { folder: string }> {
  return runCode(file, snippetText(file, base), command)
}

export async function runCode(file: string, text: string, command: string): Promise<Finished & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-snippet-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // The name of a package must not be that of the file which imports it.
  const name = `snippet-${file}`
  await writeFile(join(folder, name), text)
  return { ...(await run(command, [name], { cwd: folder, env: process.env })), folder }
}
