import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { ListPresetVersionsResponse, PresetResponse } from '../../server/schemas/preset.ts'
import { PRESETS } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'
import { serve } from './serving.ts'

const KILLS = 100
const CLIENTS = 8
const SLUGS = 4
const MOST_ACKNOWLEDGED_BEFORE_KILL = 120

/** A version of a preset, which has `mark` in its config. */
interface Version {
  slug: string
  version: number
  mark: string
}

export const part: SoakPart = {
  name: 'store',
  promise:
    'A version of a preset that was acknowledged is there after kill -9 of the server, once and under its number.',
  run,
}

async function run(options: SoakOptions): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-soak-store-'))
  const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
  await publish(folders.publicDir, sampleRows({ days: 2 }))
  const moments = fc.sample(fc.integer({ min: 1, max: MOST_ACKNOWLEDGED_BEFORE_KILL }), {
    numRuns: shareOf(KILLS, options),
    seed: options.seed,
  })
  let server = await serve(folders)
  const { key } = server
  const api = () => presetApi(server.url, key)
  const acknowledged: Version[] = []
  const starts: number[] = []
  try {
    for (const [kill, moment] of moments.entries()) {
      options.signal.throwIfAborted()
      const writing = load(api(), `kill-${kill}`, moment)
      await Promise.race([writing.enough, writing.ended])
      await server.kill()
      assertCutOff(await writing.ended)
      acknowledged.push(...writing.acknowledged)
      const begun = performance.now()
      server = await serve(folders, {}, { isNewStore: false })
      starts.push(performance.now() - begun)
      await assertReadable(api(), writing.acknowledged)
      options.report(`${kill + 1} of ${moments.length} kills`)
    }
    const stored = await assertNoneLostNorDoubled(api(), acknowledged)
    return [
      { what: 'servers killed while eight clients wrote', value: `${moments.length}` },
      { what: 'versions acknowledged, all of them there afterwards', value: `${acknowledged.length}` },
      { what: 'versions written but not acknowledged, there once', value: `${stored - acknowledged.length}` },
      { what: 'longest start after a kill', value: `${Math.round(Math.max(...starts))} ms` },
    ]
  } catch (error) {
    throw new Error(`seed ${options.seed}, after ${starts.length} kills: ${error}`, { cause: error })
  } finally {
    await server.kill()
    await rm(folder, { recursive: true })
  }
}

function presetApi(address: string, key: string) {
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
    async versions(slug: string, offset: number): Promise<{ found: Version[]; total: number }> {
      const page = await request<ListPresetVersionsResponse>(`/${slug}/versions?limit=100&offset=${offset}`)
      const found = page.data.map(({ version, config: { model } }) => ({ slug, version, mark: String(model) }))
      return { found, total: page.total_count }
    },
  }
}

type PresetApi = ReturnType<typeof presetApi>

/** Clients that write without a pause. `enough` is there as soon as the server acknowledged so many versions. */
function load(api: PresetApi, name: string, moment: number) {
  const acknowledged: Version[] = []
  const enough = Promise.withResolvers<void>()
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let request = 0; ; request++) {
      acknowledged.push(await api.create(`preset-${request % SLUGS}`, `${name}-${client}-${request}`))
      if (acknowledged.length === moment) enough.resolve()
    }
  })
  return { acknowledged, enough: enough.promise, ended: Promise.allSettled(clients) }
}

/** `fetch` says with a TypeError that the connection is gone; anything else would be a wrong answer. */
function assertCutOff(ends: readonly PromiseSettledResult<unknown>[]): void {
  for (const end of ends) if (!(end.status === 'rejected' && end.reason instanceof TypeError)) throw end
}

/** Those of one load, which fit on a page. */
async function assertReadable(api: PresetApi, acknowledged: readonly Version[]): Promise<void> {
  for (const slug of new Set(acknowledged.map((version) => version.slug))) {
    const ofSlug = acknowledged.filter((version) => version.slug === slug)
    const { found } = await api.versions(slug, Math.min(...ofSlug.map(({ version }) => version)) - 1)
    const marks = new Map(found.map(({ version, mark }) => [version, mark]))
    for (const { version, mark } of ofSlug) assert.equal(marks.get(version), mark, `version ${version} of ${slug}`)
  }
}

/** Returns how many versions there are in all. */
async function assertNoneLostNorDoubled(api: PresetApi, acknowledged: readonly Version[]): Promise<number> {
  const all: Version[] = []
  for (let index = 0; index < SLUGS; index++) {
    const slug = `preset-${index}`
    const ofSlug: Version[] = []
    for (let total = 1; ofSlug.length < total; ) {
      const page = await api.versions(slug, ofSlug.length)
      ofSlug.push(...page.found)
      total = page.total
    }
    const numbers = ofSlug.map(({ version }) => version)
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at + 1),
      `the versions of ${slug} have gaps or doubles`,
    )
    const next = await api.create(slug, `next-of-${slug}`)
    assert.equal(next.version, ofSlug.length + 1)
    all.push(...ofSlug)
  }
  assert.equal(new Set(all.map(({ mark }) => mark)).size, all.length, 'a version was stored twice')
  const stored = new Set(all.map((version) => JSON.stringify(version)))
  const lost = acknowledged.filter((version) => !stored.has(JSON.stringify(version)))
  assert.deepEqual(lost, [], 'acknowledged versions are lost')
  return all.length
}
