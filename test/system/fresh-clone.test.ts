import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneProject, environment, run, type Served, serve } from './clone.ts'

let folder: string
let server: Served

beforeAll(async () => {
  folder = cloneProject()
  server = await serve(folder, 3)
})

afterAll(async () => {
  await server.stop()
})

describe('make serve on a fresh clone', () => {
  it('prints exactly where it listens, a management key, and a line to try', () => {
    expect(server.lines).toHaveLength(3)
    expect(server.lines[0]).toMatch(/^listening http:\/\/127\.0\.0\.1:\d+$/)
    expect(server.lines[1]).toMatch(/^key sk-tb-v1-[0-9a-f]{64}$/)
    expect(server.lines[2]).toMatch(/^try curl /)
  })

  it('answers the printed line with rows', async () => {
    const line = server.lines[2]?.replace(/^try /, '') ?? ''
    const { code, stdout } = await run('bash', ['-c', line], { cwd: folder })
    expect(code).toBe(0)
    const body = JSON.parse(stdout)
    expect(body.meta).toMatchObject({ start_date: '2026-10-20', end_date: '2026-11-19', version: 'v1' })
    expect(body.data).toHaveLength(31 * 51)
  })

  it('says on every page and in the manifest that the data is synthetic', async () => {
    for (const path of ['/', '/LICENSE', '/datasets/rankings-daily/v1/latest/manifest.json']) {
      const answer = await fetch(`${server.url}${path}`)
      expect(await answer.text(), path).toMatch(/synthetic/i)
    }
  })

  it.each(readmeLines())('runs the lines of the README: %s', async (_, lines) => {
    const script = lines.replaceAll('http://127.0.0.1:8080', server.url)
    const { code, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder })
    expect(code, stderr).toBe(0)
  })

  it('proves with make verify what it published', async () => {
    const { code, stderr } = await run('make', ['verify'], { cwd: folder })
    expect(stderr).toMatch(/verified 1 releases/)
    expect(code).toBe(0)
  })

  it('makes no new release from the same inputs and says so', async () => {
    const { code, stdout, stderr } = await run('make', ['build'], { cwd: folder })
    expect(stderr).toMatch(/nothing changed/)
    expect(stdout).toBe('')
    expect(code).toBe(0)
  })

  it('prints a key alone on stdout of make key, and the server knows it at once', async () => {
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

  it('stops on SIGTERM, and starts again without a second key', async () => {
    const { lines } = await server.stop()
    expect(lines).toHaveLength(3)
    server = await serve(folder, 1)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(server.lines).toHaveLength(1)
  })

  it('leaves nothing behind that git would see', async () => {
    await run('rm', ['-f', 'rankings-daily.csv', 'rankings-daily.parquet', 'SHA256SUMS'], { cwd: folder })
    const { stdout } = await run('git', ['status', '--porcelain'], { cwd: folder, env: environment() })
    expect(stdout).toBe('')
  })
})

/** The shell blocks of the README, named by their first line; `make serve` and `make test` are run by the suites. */
function readmeLines(): [string, string][] {
  const text = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? '')
  return blocks.filter((lines) => !lines.startsWith('make serve')).map((lines) => [lines.split('\n')[0] ?? '', lines])
}
