import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import type { ListPresetVersionsResponse, PresetResponse } from '../../server/schemas/preset.ts'
import { temporaryFolder } from '../support/app.ts'
import { PRESETS } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
const KILLS = 2
const CLIENTS = 8
const SLUGS = 4
const ACKNOWLEDGED_BEFORE_KILL = 100

/** What a server answered 200 to: the version has `mark` in its config. */
interface Acknowledged {
  slug: string
  version: number
  mark: string
}

interface RunningServer {
  /** The lines of its stdout: the address, and on a new store the key. */
  lines: string[]
  kill(): Promise<void>
}

async function startServer(folder: string, expectedLines: number): Promise<RunningServer> {
  const child = spawn(process.execPath, [CLI, 'serve'], {
    env: { PORT: '0', DATA_DIR: join(folder, 'data'), PUBLIC_DIR: join(folder, 'public'), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  onTestFinished(kill)
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === expectedLines) break
  }
  expect(lines).toHaveLength(expectedLines)
  return { lines, kill }
}

function presetApi(address: string, key: string) {
  const request = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(address + PRESETS + path, { ...init, headers })
    const body = await answer.json()
    expect(answer.status, JSON.stringify(body)).toBe(200)
    return body as T
  }
  return {
    async create(slug: string, mark: string): Promise<Acknowledged> {
      const body = JSON.stringify({ model: mark, messages: [], provider: { padding: mark.repeat(500) } })
      const { data } = await request<PresetResponse>(`/${slug}/messages`, { method: 'POST', body })
      return { slug, version: data.designated_version.version, mark }
    },
    async versions(slug: string): Promise<Acknowledged[]> {
      const all: Acknowledged[] = []
      for (;;) {
        const page = await request<ListPresetVersionsResponse>(`/${slug}/versions?limit=100&offset=${all.length}`)
        all.push(...page.data.map(({ version, config: { model } }) => ({ slug, version, mark: String(model) })))
        if (all.length >= page.total_count) return all
      }
    },
  }
}

/** Clients that write without a pause. `enough` is there as soon as the server acknowledged so many versions. */
function load(api: ReturnType<typeof presetApi>, name: string) {
  const acknowledged: Acknowledged[] = []
  const enough = Promise.withResolvers<void>()
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let request = 0; ; request++) {
      acknowledged.push(await api.create(`preset-${request % SLUGS}`, `${name}-${client}-${request}`))
      if (acknowledged.length === ACKNOWLEDGED_BEFORE_KILL) enough.resolve()
    }
  })
  return { acknowledged, enough: enough.promise, ended: Promise.allSettled(clients) }
}

test('every version that was acknowledged is there after kill -9, numbered without gap or double', async () => {
  const folder = await temporaryFolder()
  await publish(join(folder, 'public'), sampleRows({ days: 2 }))
  const acknowledged: Acknowledged[] = []
  let server = await startServer(folder, 3)
  const key = server.lines[1]?.replace('key ', '') ?? ''
  const api = () => presetApi(server.lines[0]?.replace('listening ', '') ?? '', key)

  for (let kill = 1; kill <= KILLS; kill++) {
    const writing = load(api(), `kill-${kill}`)
    await Promise.race([writing.enough, writing.ended])
    await server.kill()
    const ends = await writing.ended
    // `fetch` says so when the connection is gone; anything else would be a wrong answer.
    expect(ends).toEqual(Array(CLIENTS).fill({ status: 'rejected', reason: expect.any(TypeError) }))
    expect(writing.acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_KILL)
    acknowledged.push(...writing.acknowledged)
    server = await startServer(folder, 1)
  }

  for (let index = 0; index < SLUGS; index++) {
    const slug = `preset-${index}`
    const versions = await api().versions(slug)
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, at) => at + 1))
    const ofSlug = acknowledged.filter((version) => version.slug === slug)
    expect(ofSlug.length).toBeGreaterThan(0)
    expect(versions).toEqual(expect.arrayContaining(ofSlug))
    const next = await api().create(slug, 'next')
    expect(next.version).toBe(versions.length + 1)
  }
})
