import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writePublisher } from '../support/publisher.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { cloneProject, environment, run, serve } from './clone.ts'

/** The pages whose commands work on the sample; publishing.test.ts has those for own logs. */
const PAGES = ['README.md', 'docs/researchers.md', 'docs/history.md', 'docs/api.md']

let folder: string
let server: ServerProcess

beforeAll(async () => {
  folder = cloneProject()
  server = await serve(folder, 3)
})

afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
})

describe('make serve on a fresh clone', () => {
  it('prints its address, a management key and a line to try', () => {
    expect(server.lines).toHaveLength(3)
    expect(server.lines[0]).toMatch(/^listening http:\/\/127\.0\.0\.1:\d+$/)
    expect(server.lines[1]).toMatch(/^key sk-tb-v1-[0-9a-f]{64}$/)
    expect(server.lines[2]).toMatch(/^try curl /)
  })

  it('answers the printed curl line with rows', async () => {
    const line = server.lines[2]?.replace(/^try /, '') ?? ''
    const { code, stdout } = await run('bash', ['-c', line], { cwd: folder })
    expect(code).toBe(0)
    const body = JSON.parse(stdout)
    expect(body.meta).toMatchObject({ start_date: '2026-10-20', end_date: '2026-11-19', version: 'v1' })
    // The last three days are not published yet.
    expect(body.data).toHaveLength(28 * 51)
  })

  it('calls the data synthetic on pages, in the license and in the manifest', async () => {
    for (const path of ['/', '/LICENSE', '/datasets/rankings-daily/v1/latest/manifest.json']) {
      const answer = await fetch(`${server.url}${path}`)
      expect(await answer.text(), path).toMatch(/synthetic/i)
    }
  })

  it.each(PAGES)('runs the command blocks of %s', async (page) => {
    // `make init` asks about own logs, of which a fresh clone has none: publishing.test.ts runs it.
    const commands = commandBlocks(page)
      .join('')
      .replaceAll(/^make init .*$/gm, '')
    const script = commands.replaceAll('http://127.0.0.1:8080', server.url)
    const { code, stderr } = await run('bash', ['-euxo', 'pipefail', '-c', script], { cwd: folder })
    expect(code, stderr).toBe(0)
  })

  it('passes make verify', async () => {
    const { code, stderr } = await run('make', ['verify'], { cwd: folder })
    expect(stderr).toMatch(/verified 1 release with/)
    expect(code).toBe(0)
  })

  it('makes no new release from the same inputs', async () => {
    const { code, stdout, stderr } = await run('make', ['build'], { cwd: folder })
    expect(stderr).toMatch(/nothing changed/)
    expect(stdout).toBe('')
    expect(code).toBe(0)
  })

  it('accepts a key from make key at once', async () => {
    const { code, stdout } = await run('make', ['key', 'ARGS=--name "a reader"'], { cwd: folder })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sk-tb-v1-[0-9a-f]{64}\n$/)
    const answer = await fetch(`${server.url}/api/v1/datasets/rankings-daily`, {
      headers: { authorization: `Bearer ${stdout.trim()}` },
    })
    expect(answer.status).toBe(200)
  })

  it('prints help for make alone and exits 2 for wrong usage', async () => {
    expect((await run('make', [], { cwd: folder })).stdout).toMatch(/make serve/)
    const wrong = await run('make', ['build', 'SOURCES=nowhere.json'], { cwd: folder })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(/there is no file nowhere\.json/)
  })

  it('replaces the sample with own logs as a clean 1.0.0, which the running server follows', async () => {
    await mkdir(join(folder, 'data/raw/own'), { recursive: true })
    const source = { name: 'gateway', schema: 'canonical', files: ['raw/own/*.csv'], visibility: 'public' }
    await writeFile(join(folder, 'data/sources.json'), JSON.stringify({ sources: [source] }))
    const header = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'
    const lines = ['2026-11-10', '2026-11-18'].map((date) => `${date}T12:00:00Z,acme/own,20,3\n`)
    await writeFile(join(folder, 'data/raw/own/logs.csv'), header + lines.join(''))
    await writePublisher(join(folder, 'data'))

    const { code, stderr } = await run('make', ['build'], { cwd: folder })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('holds the synthetic sample alone: this release starts a new chain at version 1.0.0')
    expect((await run('make', ['verify'], { cwd: folder })).stderr).toMatch(/verified 1 release with/)

    const dataset = join(folder, 'public/datasets/rankings-daily/v1')
    const { releases } = JSON.parse(await readFile(join(dataset, 'releases/index.json'), 'utf8'))
    expect(releases).toMatchObject([{ data_version: '1.0.0', previous: null }])
    const { restatements } = JSON.parse(await readFile(join(dataset, 'restatements.json'), 'utf8'))
    expect(restatements).toEqual([])
    const coverage = await readFile(join(dataset, 'coverage.json'), 'utf8')
    expect(coverage).not.toContain('"removed"')
    for (const page of ['changelog.html', 'coverage.html', 'index.html']) {
      const text = await readFile(join(folder, 'public', page), 'utf8')
      expect(text, page).not.toMatch(/synthetic|took the rows away/i)
    }

    const key = server.lines[1]?.replace(/^key /, '')
    const models = async () => {
      const url = `${server.url}/api/v1/datasets/rankings-daily`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      const { data } = (await answer.json()) as { data: { model_permaslug: string }[] }
      return [...new Set(data.map(({ model_permaslug }) => model_permaslug))]
    }
    await expect.poll(models, { timeout: 300_000 }).toEqual(['acme/own'])
  })

  it('refuses to build the sample over own logs', async () => {
    await run('mv', ['data/sources.json', 'data/raw/own/sources.json'], { cwd: folder })
    const { code, stderr } = await run('make', ['build'], { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toContain('the synthetic sample is never built over them')
  })

  it('stops on SIGTERM, and starts again without a second key', async () => {
    server.signal('SIGTERM')
    await server.ended
    expect(server.lines).toHaveLength(3)
    server = await serve(folder, 1)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(server.lines).toHaveLength(1)
  })

  it('leaves no change that git would see', async () => {
    await run('git', ['checkout', '--', 'data'], { cwd: folder })
    await run('rm', ['-f', 'rankings-daily.csv', 'rankings-daily.parquet', 'SHA256SUMS'], { cwd: folder })
    const { stdout } = await run('git', ['status', '--porcelain'], { cwd: folder, env: environment() })
    expect(stdout).toBe('')
  })
})

/** The shell blocks of a page; `make serve` and `make test` are run by the suites. */
function commandBlocks(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, '../..', page), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? '')
  return blocks.filter((lines) => !lines.startsWith('make serve'))
}
