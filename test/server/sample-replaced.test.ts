/** A server on the synthetic sample follows the first real release, and nobody is told to keep a synthetic file. */
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { build } from '../../pipeline/build.ts'
import { KeySpendDay } from '../../pipeline/contract/usage.ts'
import { syntheticFiles } from '../../server/published/synthetic-files.ts'
import { followKeySpend, keySpend } from '../../server/store/usage.ts'
import { RANKINGS, testApp } from '../support/app.ts'
import { filesAfter } from '../support/crash.ts'
import { createWorkspace, removeWorkspace, settings, type Workspace, writeSmallBuild } from '../support/pipeline.ts'
import { useSmallSample } from '../support/small-sample.ts'
import { testStore } from '../support/store.ts'

useSmallSample()

const AS_OF = '2025-03-10T12:00:00Z'
const SAMPLE = '20250310T120000Z'
const REAL_AS_OF = '2025-03-10T11:00:00Z'
const REAL = '20250310T110000Z'
const DATASET = '/datasets/rankings-daily/v1'
const REVALIDATED = 'public, max-age=60, must-revalidate'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const KEY = 'ab'.repeat(32)

function buildAs(workspace: Workspace, asOf: string, sources: string, files: Files = realFiles) {
  const config = readPipelineConfig({ ...settings(workspace, asOf), SOURCES: sources })
  const { signal } = new AbortController()
  return build({ ...config, threads: 1 }, { now: () => new Date(AS_OF), report: () => {}, signal, files })
}

let workspace: Workspace

beforeAll(async () => {
  workspace = await createWorkspace()
  await buildAs(workspace, AS_OF, '')
  const records = [{ model_permaslug: 'acme/own', prompt_tokens: '5', api_key_hash: KEY, cost_usd: '2' }]
  await writeSmallBuild(workspace, { sources: [{ records, extraColumns: ['api_key_hash', 'cost_usd'] }] })
  return () => removeWorkspace(workspace)
})

/** Paths below the dataset that would be immutable in a chain of real releases. */
const DATA = (release: string) => [
  `releases/${release}/manifest.json`,
  `releases/${release}/rankings-daily.csv`,
  `releases/${release}/index.html`,
  'daily/2025-03-02/r1.json',
  'monthly/2025-03/r1.parquet',
]

test('the sample is never served as immutable', async () => {
  const { app } = await testApp({ publicDir: workspace.publicDir })
  for (const path of DATA(SAMPLE)) {
    const { statusCode, headers } = await app.inject(`${DATASET}/${path}`)
    expect([statusCode, headers['cache-control']], path).toEqual([200, REVALIDATED])
  }
})

interface Read {
  path: string
  status: number
  cache: string
  body: string
}

test('a server that starts at any step of a switch between releases of one name never serves the sample as real', async () => {
  const copy = await createWorkspace()
  onTestFinished(() => removeWorkspace(copy))
  await cp(workspace.root, copy.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const path = `${DATASET}/daily/2025-03-02/r1.json`
  const calledReal = new Set<string>()
  const look = async () => {
    if (await syntheticFiles(copy.publicDir)(path)) return
    const text = await readFile(join(copy.publicDir, path), 'utf8').catch(() => undefined)
    if (text !== undefined) calledReal.add(JSON.parse(text).data[0].model_permaslug)
  }
  await buildAs(copy, AS_OF, copy.sources, filesAfter(look))
  await look()
  expect([...calledReal]).toEqual(['acme/own'])
})

test('a server that reads at every step of the first real build follows it and never mixes the two', async () => {
  const usageFile = join(workspace.dataDir, 'state/usage.ndjson')
  const store = await testStore()
  const usage = keySpend(store)
  const { app, authorized } = await testApp({
    publicDir: workspace.publicDir,
    store,
    usageFile,
    asOf: new Date(AS_OF),
  })
  await app.ready()
  const keysOfSample = await keysIn(usageFile)
  const usesOfSample = async () => (await Promise.all(keysOfSample.map((key) => usage.ofKey(key)))).flat().length
  expect(await usesOfSample()).toBeGreaterThan(0)

  const read: Read[] = []
  const get = async (path: string): Promise<Read> => {
    const { statusCode: status, headers, body } = await app.inject({ url: path, headers: authorized })
    const answer = { path, status, cache: String(headers['cache-control']), body }
    read.push(answer)
    return answer
  }
  const readAll = async () => {
    await app.releases.check()
    await get(RANKINGS)
    await get(`${RANKINGS}?as_of=${SAMPLE}`)
    const pointer = await get(`${DATASET}/latest.json`)
    if (pointer.status === 200) await get(`${DATASET}/${JSON.parse(pointer.body).path}manifest.json`)
    for (const path of [...DATA(SAMPLE), ...DATA(REAL)]) await get(`${DATASET}/${path}`)
  }
  await buildAs(workspace, REAL_AS_OF, workspace.sources, filesAfter(readAll))
  await readAll()
  const bodiesOf = (path: string) =>
    [...new Set(read.filter((each) => each.path === path && each.status === 200).map(({ body }) => body))].map((body) =>
      JSON.parse(body),
    )

  // Rows are all of the sample or all real, and the server follows without a restart.
  const rankings = bodiesOf(RANKINGS)
  expect(rankings.map(({ meta }) => meta.as_of)).toEqual([AS_OF, REAL_AS_OF])
  const models = rankings.map(({ data }) => data.map((row: { model_permaslug: string }) => row.model_permaslug))
  expect(models[0]).not.toContain('acme/own')
  expect(models[1]).toEqual(['acme/own'])

  // A pointer leads to the release that it tells of.
  const manifests = [SAMPLE, REAL].flatMap((release) => bodiesOf(`${DATASET}/releases/${release}/manifest.json`))
  expect(manifests.map(({ content_hash }) => content_hash)).toEqual(
    bodiesOf(`${DATASET}/latest.json`).map(({ content_hash }) => content_hash),
  )

  // In the end nothing is left of the sample.
  const last = new Map(read.map(({ path, status }) => [path, status]))
  expect(last.get(`${DATASET}/releases/${SAMPLE}/manifest.json`)).toBe(404)
  expect(last.get(`${RANKINGS}?as_of=${SAMPLE}`)).toBe(404)

  // Only real files may be kept.
  const kept = read.filter(({ status, cache }) => status === 200 && cache === IMMUTABLE)
  expect(new Set(kept.map(({ path }) => path.slice(DATASET.length + 1)))).toEqual(
    new Set(DATA(REAL).filter((path) => !path.endsWith('/index.html'))),
  )
  for (const { path, body } of kept.filter((each) => each.path.endsWith('.csv'))) {
    expect(body, path).toBe('date,model_permaslug,total_tokens\n2025-03-02,acme/own,5\n')
  }

  // The usage file is followed as the server does it each second.
  await followKeySpend(usageFile, usage, app.log).check()
  expect(await usesOfSample()).toBe(0)
  expect(await usage.ofKey(KEY)).toHaveLength(1)
  expect((await get(RANKINGS)).status).toBe(200)
})

/** The keys whose usage a file tells of. */
async function keysIn(usageFile: string): Promise<string[]> {
  const days = (await readFile(usageFile, 'utf8')).trimEnd().split('\n').slice(1)
  return [...new Set(days.flatMap((day) => KeySpendDay.parse(JSON.parse(day)).usage.map((each) => each.api_key_hash)))]
}
