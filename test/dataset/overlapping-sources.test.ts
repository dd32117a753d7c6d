/** Two sources that show the same requests stop a build, until somebody says why they do not. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { BuildOptions } from '../../pipeline/build.ts'
import { SCHEMA_NAMES } from '../../pipeline/raw/schemas/index.ts'
import { SAME_REQUESTS } from '../../pipeline/raw/schemas/same-requests.ts'
import { buildIn, newWorkspace, releaseFolder, type Workspace, writeInput } from '../support/pipeline.ts'
import { RECORDS, toLines } from '../support/schemas.ts'

const AS_OF = ['2025-06-20T12:00:00Z', '2025-06-20T13:00:00Z', '2025-06-20T14:00:00Z'] as const
const PAIR = 'overlapping_sources:daily+spend'

/** One record of LiteLLM's table of days and one of its spend logs, on these dates. */
async function litellm(daily: string, spend: string, top: object = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  const records = {
    daily: { ...RECORDS['litellm-daily-user-spend'], date: daily },
    spend: { ...RECORDS['litellm-spend-logs'], startTime: `${spend}T10:00:00Z` },
  }
  for (const [name, record] of Object.entries(records)) await writeInput(workspace, `${name}.ndjson`, toLines([record]))
  const source = (name: string, schema: string) => ({ name, schema, files: [`${name}.ndjson`], visibility: 'public' })
  const sources = [source('spend', 'litellm-spend-logs'), source('daily', 'litellm-daily-user-spend')]
  await writeInput(workspace, 'sources.json', { ...top, sources })
  return workspace
}

/** The tokens that two sources have of models on a day each: the same day has the same place in both lists. */
async function sums(one: Record<string, number>[], other: Record<string, number>[]): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, days] of Object.entries({ one, other })) {
    const rows = days.flatMap((models, day) => {
      return Object.entries(models).map(([model, tokens]) => `2025-06-${10 + day}T12:00:00Z,${model},${tokens},0\n`)
    })
    const header = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'
    await writeInput(workspace, `${name}.csv`, header + rows.join(''))
  }
  const source = (name: string) => ({ name, schema: 'canonical', files: [`${name}.csv`], visibility: 'public' })
  await writeInput(workspace, 'sources.json', { sources: [source('one'), source('other')] })
  return workspace
}

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n'

/** Records of a date, a token each, with these ids. */
function identified(ids: string[], date = '2025-06-10'): string {
  return HEADER + ids.map((id) => `${date}T12:00:00Z,m,1,0,${id}\n`).join('')
}

const ids = (count: number, prefix: string, from = 0) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(from + index).padStart(12 - prefix.length, '0')}`)

async function twoSources(files: Record<string, string>): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  const source = (name: string) => ({ name, schema: 'canonical', files: [`${name}/*.csv`], visibility: 'public' })
  await writeInput(workspace, 'sources.json', { sources: [source('one'), source('other')], on_missing: 'remove' })
  return workspace
}

function build(workspace: Workspace, asOf: string = AS_OF[0], options: BuildOptions = {}) {
  return buildIn(workspace, asOf, {}, options)
}

const days = (count: number, models: Record<string, number>) => Array.from({ length: count }, () => models)

it('sources of one product stop the build if they have a date in common', async () => {
  await expect(build(await litellm('2025-06-10', '2025-06-10'))).rejects.toThrow(
    'two sources seem to have the same requests: "daily" and "spend": their schemas show the same requests, and both have ' +
      'usage on 1 date, the last 2025-06-10\nif the data is right, publish it with: tokenboard build --accept ' +
      `"${PAIR}" --note TEXT`,
  )
  expect((await build(await litellm('2025-06-11', '2025-06-10'))).outcome).toBe('released')
})

it('a pair is accepted in either order with a note, which is kept and not published', async () => {
  const workspace = await litellm('2025-06-10', '2025-06-10')
  await expect(build(workspace, AS_OF[0], { accept: [PAIR] })).rejects.toThrow('needs --note TEXT')
  await expect(build(workspace, AS_OF[0], { accept: ['overlapping_sources'], note: 'x' })).rejects.toThrow(
    'must name the two sources',
  )
  const note = 'Two proxies of daily and spend.'
  await expect(build(workspace, AS_OF[0], { accept: ['overlapping_sources:daily+other'], note })).rejects.toThrow(PAIR)
  const accept = ['overlapping_sources:spend+daily']
  await build(workspace, AS_OF[0], { accept, note, dryRun: true })
  await expect(build(workspace)).rejects.toThrow(PAIR)
  const { warnings } = await build(workspace, AS_OF[0], { accept, note })
  expect(warnings.map(({ check }) => check)).toEqual(['overlapping_sources'])
  const release = await releaseFolder(workspace)
  for (const file of ['quality.json', 'manifest.json', 'changes.json']) {
    expect(await readFile(join(release, file), 'utf8').catch(() => '')).not.toMatch(/daily" and|proxies/)
  }
  expect(JSON.parse(await readFile(join(workspace.dataDir, 'overlapping-sources.json'), 'utf8'))).toEqual([
    { sources: ['daily', 'spend'], note },
  ])
})

it('an accepted pair is remembered, and another one is not', async () => {
  const workspace = await litellm('2025-06-10', '2025-06-10')
  await build(workspace, AS_OF[0], { accept: [PAIR], note: 'Two proxies.' })
  const more = { ...RECORDS['litellm-daily-user-spend'], date: '2025-06-11' }
  await writeInput(workspace, 'daily.ndjson', toLines([{ ...more, date: '2025-06-10' }, more]))
  expect((await build(workspace, AS_OF[1])).outcome).toBe('released')
  const { sources } = JSON.parse(await readFile(workspace.sources, 'utf8'))
  const renamed = sources.map((source: { name: string }) => {
    return source.name === 'spend' ? { ...source, name: 'again', model: 'n' } : source
  })
  await writeInput(workspace, 'sources.json', { sources: renamed })
  const log = { ...RECORDS['litellm-spend-logs'], startTime: '2025-06-11T10:00:00Z' }
  await writeInput(workspace, 'spend.ndjson', toLines([log]))
  await expect(build(workspace, AS_OF[2])).rejects.toThrow('overlapping_sources:again+daily')
})

it('equal sums of the models that hold half of the smaller source stop the build on three dates', async () => {
  const small = { a: 1500, b: 1000, c: 2400 }
  const large = { a: 1500, b: 1000, c: 9000 }
  await expect(build(await sums(days(3, small), days(3, large)))).rejects.toThrow('overlapping_sources:one+other')
  for (const [one, other] of [
    [days(2, small), days(2, large)],
    [days(3, small), [...days(2, large), { ...large, a: 1501 }]],
    [days(3, { ...small, c: 2501 }), days(3, large)],
    [days(3, { a: 999, b: 999 }), days(3, { a: 999, b: 999 })],
  ] as const) {
    expect((await build(await sums([...one], [...other]))).outcome).toBe('released')
  }
})

it('a date of which sources share more than 1 % and at least 100 request ids stops the build', async () => {
  const shared = (count: number, of: number) => ({
    'one/a.csv': identified(ids(2 * of, 'x')),
    'other/a.csv': identified([...ids(count, 'x', 7), ...ids(of - count, 'y')]),
  })
  await expect(build(await twoSources(shared(100, 1000)))).rejects.toThrow(
    '"one" and "other": they share about 100 of 1,000 request ids of 2025-06-10\n',
  )
  await expect(build(await twoSources(shared(101, 10_000)))).rejects.toThrow('they share about')
  const twice = Object.fromEntries(
    Object.entries(shared(60, 1000)).map(([name, csv]) => [name, csv + csv.slice(HEADER.length)]),
  )
  for (const files of [shared(99, 1000), shared(100, 10_000), twice]) {
    expect((await build(await twoSources(files))).outcome).toBe('released')
  }
})

it('short and serial ids are not compared', async () => {
  for (const same of [ids(300, 'x').map((id) => id.slice(1)), ids(300, '1').map((id) => `${id}0000`)]) {
    const files = { 'one/a.csv': identified(same), 'other/a.csv': identified(same) }
    expect((await build(await twoSources(files))).outcome).toBe('released')
  }
})

it('ids are compared with those of files that were read before, until one of the files is gone', async () => {
  const workspace = await twoSources({
    'one/a.csv': identified(ids(300, 'x')),
    'one/b.csv': identified(ids(300, 'y'), '2025-06-11'),
    'other/a.csv': identified(ids(300, 'z')),
  })
  expect((await build(workspace)).outcome).toBe('released')
  await writeInput(workspace, 'other/b.csv', identified(ids(200, 'y'), '2025-06-11'))
  await expect(build(workspace, AS_OF[1])).rejects.toThrow('200 of 200 request ids of 2025-06-11')
  await expect(build(workspace, AS_OF[1])).rejects.toThrow('200 of 200 request ids of 2025-06-11')
  await rm(join(workspace.input, 'other/b.csv'))
  await writeInput(workspace, 'other/c.csv', identified(ids(200, 'v'), '2025-06-11'))
  expect((await build(workspace, AS_OF[2])).outcome).toBe('released')
})

it('the table names each schema once, and only known ones', () => {
  const names = SAME_REQUESTS.flat()
  expect(new Set(names).size).toBe(names.length)
  expect(SCHEMA_NAMES).toEqual(expect.arrayContaining(names))
})
