import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { writePublisher } from '../support/publisher.ts'
import { environment, finish, run } from './clone.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const CLI = join(REPOSITORY, 'pipeline/cli.ts')
const ROWS = 100_000

let original: string

/** A folder with raw logs that take a moment to read, and a first release of a part of them. */
beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), 'tokenboard-interrupt-'))
  mkdirSync(join(original, 'raw'))
  writeFileSync(
    join(original, 'sources.json'),
    JSON.stringify({
      sources: [{ name: 'gateway', schema: 'canonical', files: ['raw/*'], visibility: 'public' }],
    }),
  )
  await writePublisher(join(original, 'data'))
  writeFileSync(join(original, 'raw/first.csv'), csv(100, 'first'))
  const { code, stderr } = await cli(original, 'build', '2025-06-20T12:00:00Z')
  expect(code, stderr).toBe(0)
  writeFileSync(join(original, 'raw/second.csv.gz'), gzipSync(csv(ROWS, 'second')))
})

function csv(rows: number, prefix: string): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const day = String(1 + (row % 28)).padStart(2, '0')
    return `2025-05-${day}T10:00:00Z,acme/model-${row % 80},${row % 1000},7,${prefix}-${row % 99_990}`
  })
  return `timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n${lines.join('\n')}\n`
}

function settings(folder: string, asOf: string): NodeJS.ProcessEnv {
  return environment({
    SOURCES: join(folder, 'sources.json'),
    DATA_DIR: join(folder, 'data'),
    PUBLIC_DIR: join(folder, 'public'),
    AS_OF: asOf,
  })
}

async function cli(folder: string, command: string, asOf: string) {
  return run(process.execPath, [CLI, command], { cwd: folder, env: settings(folder, asOf) })
}

function copy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokenboard-interrupt-'))
  cpSync(original, folder, { recursive: true, verbatimSymlinks: true })
  return folder
}

describe('a build', () => {
  it('that Ctrl-C stops exits with 1 and leaves the public folder unchanged', async () => {
    const folder = copy()
    const before = readdirSync(join(folder, 'public'), { recursive: true }).sort()
    const child = spawn(process.execPath, [CLI, 'build'], {
      cwd: folder,
      env: settings(folder, '2025-06-20T13:00:00Z'),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // The working folder appears when the command listens for signals and has begun to read.
    const ended = finish(child)
    while (!existsSync(join(folder, 'data/state/tmp'))) await sleep(5)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(stderr).toMatch(/stopped; no release was made/)
    expect(code).toBe(1)
    expect(readdirSync(join(folder, 'public'), { recursive: true }).sort()).toEqual(before)
    expect(existsSync(join(folder, 'data/state/tmp'))).toBe(false)
  })

  it('that starts while another one runs exits with 1', async () => {
    const folder = copy()
    const state = join(folder, 'data/state')
    const { signal } = new AbortController()
    const other = await Database.open({
      path: join(state, 'build.duckdb'),
      temporaryFolder: join(state, 'tmp'),
      memoryLimit: undefined,
      signal,
    })
    try {
      const second = await cli(folder, 'build', '2025-06-20T13:00:00Z')
      expect(second.stderr).toMatch(/another build is running/)
      expect(second.code).toBe(1)
    } finally {
      other.close()
    }
    expect((await cli(folder, 'build', '2025-06-20T13:00:00Z')).code).toBe(0)
  })
})
