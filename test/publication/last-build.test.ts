/** A build that says again what the last one said, against one that finds it out. */
import { appendFile, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { buildIn, copyWorkspace, newWorkspace, snapshotTree, type Workspace, writeInput } from '../support/pipeline.ts'

const LATER = '2025-03-10T15:00:00Z'
const SOURCES = {
  models: 'models.json',
  max_rejected_share: 0.5,
  max_withheld_share: 1,
  sources: [{ name: 'gateway', schema: 'canonical', files: ['raw/*.csv'] }],
}
const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id,api_key_hash,cost_usd,contributor'
const KEY = 'a'.repeat(64)

const publicModel = (model_permaslug: string) => ({ model_permaslug, public: true })

const pathOf = ({ dataDir }: Workspace, name: string) => join(dataDir, 'state', name)

async function prepared(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'sources.json', SOURCES)
  await writeInput(workspace, 'models.json', [publicModel('a/one')])
  for (const day of ['2025-03-07', '2025-03-08']) await writeInput(workspace, `raw/${day}.csv`, recordsOf(day))
  await buildIn(workspace, '2025-03-10T12:00:00Z')
  return workspace
}

function recordsOf(day: string): string {
  const lines = ['a/one', 'b/two'].map(
    (model, hour) => `${day}T0${hour}:00:00Z,${model},9,1,${day}${hour},${KEY},0.5,c${hour}`,
  )
  return `${[HEADER, ...lines, `${day}T05:00:00Z,a/one,x,1,${day}5,${KEY},0.5,c5`].join('\n')}\n`
}

/** What a build says and leaves, without what only tells where and when it ran. */
async function buildOf(workspace: Workspace, asOf: string) {
  const told: BuildEvent[] = []
  const outcome = await buildIn(workspace, asOf, { report: (event) => told.push(event) }).then(
    ({ published: _, ...summary }) => summary,
    (error: Error) => error.message,
  )
  const leaves = async (name: string) => readFile(pathOf(workspace, name), 'utf8').catch(() => undefined)
  const rejects = await readdir(pathOf(workspace, 'rejects')).catch(() => [])
  const facts = {
    outcome,
    told: told.filter(({ kind }) => kind === 'done' || kind === 'notice'),
    files: [await leaves('quality.json'), await leaves('usage.ndjson'), rejects],
    tree: Object.keys(await snapshotTree(workspace.publicDir)).filter((name) => !name.startsWith('.')),
  }
  return JSON.parse(JSON.stringify(facts).replaceAll(workspace.root, '…'))
}

type Change = (workspace: Workspace) => Promise<unknown>

const remove =
  (name: string): Change =>
  (workspace) =>
    rm(pathOf(workspace, name), { recursive: true, force: true })
const sources =
  (settings: object): Change =>
  (workspace) =>
    writeInput(workspace, 'sources.json', { ...SOURCES, ...settings })

const CHANGES: Record<string, Change> = {
  nothing: async () => {},
  'a record more': ({ input }) =>
    appendFile(join(input, 'raw/2025-03-08.csv'), `2025-03-08T09:00:00Z,a/one,5,5,n,${KEY},1,c1\n`),
  'a new file': (workspace) => writeInput(workspace, 'raw/2025-03-09.csv', recordsOf('2025-03-09')),
  'a touched file': ({ input }) => utimes(join(input, 'raw/2025-03-08.csv'), 1, 1),
  'a file that is gone': ({ input }) => rm(join(input, 'raw/2025-03-07.csv')),
  'a model that is public now': (workspace) =>
    writeInput(workspace, 'models.json', ['a/one', 'b/two'].map(publicModel)),
  'missing files that are kept': sources({ on_missing: 'keep' }),
  'a smaller share of rejects': sources({ max_rejected_share: 0.001 }),
  'a disclosure rule': sources({ disclosure: {} }),
  'contributors that are not read': sources({ disclosure: 'none' }),
  'another publisher': async ({ dataDir }) => {
    const path = join(dataDir, 'publisher.json')
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"name":\s*"[^"]+"/, '"name": "Another"'))
  },
  'no quality.json': remove('quality.json'),
  'no usage': remove('usage.ndjson'),
  'no rejects': remove('rejects'),
  'no state': remove('build.duckdb'),
  'another secret': ({ dataDir }) => rm(join(dataDir, 'disclosure'), { recursive: true, force: true }),
  'another manifest': async ({ publicDir }) => {
    const path = join(publicDir, 'datasets/rankings-daily/v1/latest/manifest.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace(/"content_hash": "sha256:./, '"content_hash": "sha256:0'))
  },
}

describe('a build after another one', () => {
  it.each(Object.keys(CHANGES))('says and leaves what it would without what the last one said: %s', async (name) => {
    const workspace = await prepared()
    await CHANGES[name]?.(workspace)
    for (const asOf of name === 'nothing' ? [LATER, '2025-03-12T15:00:00Z'] : [LATER]) {
      const anew = await copyWorkspace(workspace)
      await remove('last-build.json')(anew)
      expect(await buildOf(workspace, asOf)).toEqual(await buildOf(anew, asOf))
    }
  })

  it('reads nothing again if nothing changed', async () => {
    const workspace = await prepared()
    const path = pathOf(workspace, 'last-build.json')
    const last = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...last, summary: { ...last.summary, models: 77 } }))
    expect(await buildIn(workspace, LATER)).toMatchObject({ outcome: 'unchanged', models: 77 })
    expect(await buildIn(workspace, '2025-03-11T00:00:00Z')).toMatchObject({ models: 1 })
  })

  it('looks again where the last one told news', async () => {
    const workspace = await prepared()
    await sources({ sources: [{ ...SOURCES.sources[0], files: ['raw/*.csv', 'more/*.csv'] }] })(workspace)
    for (const asOf of [LATER, '2025-03-10T16:00:00Z']) {
      const { told } = await buildOf(workspace, asOf)
      expect(JSON.stringify(told)).toContain('no file matches more/*.csv')
    }
  })
})
