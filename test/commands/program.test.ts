import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version as duckdb } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { REPOSITORY, runProcess } from '../support/pipeline.ts'

it('tokenboard --version prints the versions of Tokenboard, DuckDB and Node', async () => {
  const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'))
  const { code, stdout } = await runProcess(['--version'], {})
  expect(code).toBe(0)
  expect(stdout).toBe(`tokenboard ${version} (DuckDB ${duckdb()}, Node ${process.version})\n`)
})

it('tokenboard refuses an unknown command, and names a similar one', async () => {
  const { code, stderr } = await runProcess(['biuld'], {})
  expect(code).toBe(2)
  expect(stderr).toBe("tokenboard: unknown command 'biuld'\n(Did you mean build?)\n")
})

it('loads DuckDB only for commands that use it', () => {
  const program = JSON.stringify(join(REPOSITORY, 'pipeline/commands/program.ts'))
  const code = `await import(${program}); console.log(process.report.getReport().sharedObjects.join('\\n'))`
  const loaded = execFileSync(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    code,
  ])
  expect(loaded.toString()).toContain('libc')
  expect(loaded.toString()).not.toContain('duckdb')
})
