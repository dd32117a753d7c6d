import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ListPresetVersionsResponse, PresetResponse } from '../../server/schemas/preset.ts'
import { PRESETS } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { serveTokenboard } from '../support/server-process.ts'
import { type Figure, type Folders, inFolder, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const KILLS = 100
const CLIENTS = 8
const SLUGS = ['preset-0', 'preset-1', 'preset-2', 'preset-3']
const MOST_ACKNOWLEDGED_BEFORE_KILL = 120

/** A version of a preset, which has `mark` in its config. */
export interface Version {
  slug: string
  version: number
  mark: string
}

export const part: SoakPart = {
  promise: 'A preset version that was acknowledged is there after kill -9 of the server, once and under its number.',
  run: (options) => inFolder((folders) => killServers(folders, options)),
}

async function killServers(folders: Folders, options: SoakOptions): Promise<Figure[]> {
  await publish(folders.publicDir, sampleRows({ days: 2 }))
  const moments = fc.sample(fc.integer({ min: 1, max: MOST_ACKNOWLEDGED_BEFORE_KILL }), {
    numRuns: shareOf(KILLS, options),
    seed: options.seed,
  })
  let server = await serveTokenboard(folders)
  const { key } = server
  const acknowledged: Version[] = []
  const starts: number[] = []
  try {
    for (const [kill, moment] of moments.entries()) {
      options.signal.throwIfAborted()
      const writing = write(presetApi(server.url, key), `kill-${kill}`, moment)
      await Promise.race([writing.enough, writing.ended])
      await server.kill()
      assertCutOff(await writing.ended)
      acknowledged.push(...writing.acknowledged)
      server = await serveTokenboard(folders, {}, { lines: 1 })
      starts.push(server.startMs)
      options.report(`${kill + 1} of ${moments.length} kills`)
    }
    const stored = await presetApi(server.url, key).everything()
    assertThere(acknowledged, stored)
    await assertNumbered(presetApi(server.url, key), stored)
    return [
      { what: 'servers killed while eight clients wrote', value: `${moments.length}` },
      { what: 'versions acknowledged, all of them there afterwards', value: `${acknowledged.length}` },
      { what: 'versions written but not acknowledged, there once', value: `${stored.length - acknowledged.length}` },
      { what: 'longest start after a kill', value: `${Math.round(Math.max(...starts))} ms` },
    ]
  } catch (error) {
    throw new Error(`after ${starts.length} kills: ${error}`, { cause: error })
  } finally {
    await server.kill()
  }
}

export function presetApi(address: string, key: string) {
  const request = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(address + PRESETS + path, { ...init, headers })
    const body = await answer.json()
    assert.equal(answer.status, 200, JSON.stringify(body))
    return body as T
  }
  return {
    async create(slug: string, mark: string): Promise<Version> {
      const body = JSON.stringify({ model: mark, messages: [], provider: { padding: mark.repeat(200) } })
      const { data } = await request<PresetResponse>(`/${slug}/messages`, { method: 'POST', body })
      return { slug, version: data.designated_version.version, mark }
    },
    /** All versions of all presets, in the order of their numbers. */
    async everything(): Promise<Version[]> {
      const all: Version[] = []
      const { data } = await request<{ data: { slug: string }[] }>('')
      for (const { slug } of data) {
        for (let offset = 0, total = 1; offset < total; offset += 100) {
          const page = await request<ListPresetVersionsResponse>(`/${slug}/versions?limit=100&offset=${offset}`)
          all.push(...page.data.map(({ version, config: { model } }) => ({ slug, version, mark: String(model) })))
          total = page.total_count
        }
      }
      return all
    },
  }
}

type PresetApi = ReturnType<typeof presetApi>

/** Clients that write without a pause. `enough` resolves as soon as the server acknowledged so many versions. */
function write(api: PresetApi, name: string, moment: number) {
  const acknowledged: Version[] = []
  const enough = Promise.withResolvers<void>()
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let request = 0; ; request++) {
      acknowledged.push(await api.create(SLUGS[request % SLUGS.length] ?? '', `${name}-${client}-${request}`))
      if (acknowledged.length === moment) enough.resolve()
    }
  })
  return { acknowledged, enough: enough.promise, ended: Promise.allSettled(clients) }
}

/** `fetch` reports a lost connection as a TypeError; anything else is a wrong answer. */
function assertCutOff(ends: readonly PromiseSettledResult<unknown>[]): void {
  for (const end of ends) if (!(end.status === 'rejected' && end.reason instanceof TypeError)) throw end
}

export function assertThere(acknowledged: readonly Version[], stored: readonly Version[]): void {
  const there = new Set(stored.map((version) => JSON.stringify(version)))
  const lost = acknowledged.filter((version) => !there.has(JSON.stringify(version)))
  assert.deepEqual(lost, [], 'acknowledged versions are lost')
  assert.equal(new Set(stored.map(({ mark }) => mark)).size, stored.length, 'a version was stored twice')
}

/** The versions of each preset are numbered from 1 without a gap, and the next one continues. */
async function assertNumbered(api: PresetApi, stored: readonly Version[]): Promise<void> {
  for (const [slug, ofSlug] of Map.groupBy(stored, (version) => version.slug)) {
    const numbers = ofSlug.map(({ version }) => version)
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at + 1),
      slug,
    )
    assert.equal((await api.create(slug, `next-of-${slug}`)).version, numbers.length + 1)
  }
}
