/** Buckets of one source that overlap in time have the same usage: the widest counts, and the others are rejected. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  rowsOf,
  type Workspace,
  writeInput,
  writeSource,
} from '../support/pipeline.ts'

const AS_OF = ['2026-06-10T12:00:00Z', '2026-06-10T13:00:00Z', '2026-06-10T14:00:00Z'] as const
const DAY = Date.parse('2026-06-01T00:00:00Z') / 1000

/** The buckets of a day from an hour on, each with these tokens of a model. */
function buckets(from: number, hours: number, count: number, tokens: number, group: object = {}) {
  return Array.from({ length: count }, (_, index) => {
    const start_time = DAY + (from + index * hours) * 3600
    const results = [{ object: 'organization.usage.completions.result', model: 'm', input_tokens: tokens, ...group }]
    return { object: 'bucket', start_time, end_time: start_time + hours * 3600, results }
  })
}

async function workspaceOf(files: Record<string, unknown>, schema = 'openai-usage'): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, data] of Object.entries(files)) await writeInput(workspace, `raw/${name}.json`, { data })
  await writeSource(workspace, ['raw/*.json'], { schema }, { on_missing: 'remove', max_rejected_share: 1 })
  return workspace
}

/** How many records were rejected, and the tokens of each date. */
async function resultOf(workspace: Workspace, asOf: string = AS_OF[0]) {
  const { records } = await buildIn(workspace, asOf)
  const rows = rowsOf(await publishedCsv(workspace)).map((row) => row.split(' ').at(-1))
  const { overlapping_bucket: rejected = 0 } = records.rejected
  return { rejected, duplicates: records.duplicates, rows }
}

it('a day and its hours stop the build, which names the files', async () => {
  const workspace = await workspaceOf({ day: buckets(0, 24, 1, 48), hours: buckets(0, 1, 24, 2) })
  await writeSource(workspace, ['raw/*.json'], { schema: 'openai-usage' })
  const notices: string[] = []
  const build = buildIn(workspace, AS_OF[0], {
    report: (event) => event.kind === 'notice' && notices.push(event.message),
  })
  await expect(build).rejects.toThrow('24 of 25 records (96.00 %) were rejected')
  expect(notices).toContain(
    'source "s": 24 records of buckets were rejected as overlapping_bucket, because other buckets of the same model have ' +
      'their usage too: on 2026-06-01 in raw/day.json, raw/hours.json; keep exports of one bucket width and grouping',
  )
})

it('the widest counts, whatever came first, and hours count again when the day is gone', async () => {
  const workspace = await workspaceOf({ hours: buckets(0, 1, 30, 2) })
  expect(await resultOf(workspace)).toEqual({ rejected: 0, duplicates: 0, rows: ['48', '12'] })
  await writeInput(workspace, 'raw/day.json', { data: [...buckets(0, 24, 1, 50), ...buckets(5, 1, 1, 2)] })
  expect(await resultOf(workspace, AS_OF[1])).toEqual({ rejected: 24, duplicates: 1, rows: ['50', '12'] })
  await rm(join(workspace.input, 'raw/day.json'))
  expect(await resultOf(workspace, AS_OF[2])).toEqual({ rejected: 0, duplicates: 0, rows: ['48', '12'] })
})

it('of equal widths the first counts, and buckets that only touch each other all do', async () => {
  expect(
    await resultOf(await workspaceOf({ a: buckets(0, 8, 1, 3), b: buckets(4, 8, 1, 5), c: buckets(12, 8, 1, 7) })),
  ).toMatchObject({ rejected: 1, rows: ['10'] })
})

it('buckets of different projects do not overlap, but those of all projects have each of them', async () => {
  const [p, q] = [{ project_id: 'p' }, { project_id: 'q', user_id: 'u' }]
  const hours = [...buckets(0, 1, 24, 2, p), ...buckets(0, 1, 24, 1, q)]
  const isApart = await workspaceOf({ hours, day: buckets(0, 24, 1, 100, { project_id: 'r' }) })
  expect(await resultOf(isApart)).toMatchObject({ rejected: 0, rows: ['172'] })
  const isOfOne = await workspaceOf({ hours, day: buckets(0, 24, 1, 24, { project_id: 'q' }) })
  expect(await resultOf(isOfOne)).toMatchObject({ rejected: 24, rows: ['72'] })
  const isOfAll = await workspaceOf({ hours, day: buckets(0, 24, 1, 72) })
  expect(await resultOf(isOfAll)).toMatchObject({ rejected: 48, rows: ['72'] })
  const isOfAnother = await workspaceOf({ hours, day: buckets(0, 24, 1, 72, { model: 'n' }) })
  expect(await resultOf(isOfAnother)).toMatchObject({ rejected: 0, rows: ['72', '72'] })
})

it('buckets that begin on different days overlap, whichever came last', async () => {
  const late = buckets(22, 24, 1, 5)
  const workspace = await workspaceOf({ day: [...buckets(0, 24, 1, 3), ...buckets(24, 24, 1, 7)] })
  expect(await resultOf(workspace)).toMatchObject({ rejected: 0, rows: ['3', '7'] })
  await writeInput(workspace, 'raw/late.json', { data: late })
  // The first day and the bucket from 22 o'clock on overlap, and so do this one and the second day.
  expect(await resultOf(workspace, AS_OF[1])).toMatchObject({ rejected: 2, rows: ['3'] })
  await rm(join(workspace.input, 'raw/late.json'))
  expect(await resultOf(workspace, AS_OF[2])).toMatchObject({ rejected: 0, rows: ['3', '7'] })
  expect(await resultOf(await workspaceOf({ late, other: buckets(60, 24, 1, 9) }))).toMatchObject({ rejected: 0 })
})

it('what a file does not group has all that another file groups, but not what stands beside it', async () => {
  const [p, q] = ['p', 'q'].map((project_id, index) => buckets(0, 24, 1, 14 - 4 * index, { project_id }))
  const none = (tokens: number) => buckets(0, 24, 1, tokens, { project_id: null })
  const grouped = [...(p ?? []), ...(q ?? [])]
  expect(await resultOf(await workspaceOf({ all: [...grouped, ...none(3)] }))).toMatchObject({
    rejected: 0,
    rows: ['27'],
  })
  const workspace = await workspaceOf({ all: none(24), grouped })
  expect(await resultOf(workspace)).toMatchObject({ rejected: 2, rows: ['24'] })
  await writeInput(workspace, 'raw/grouped.json', { data: [...grouped, ...none(1)] })
  expect(await resultOf(workspace, AS_OF[1])).toMatchObject({ rejected: 2, duplicates: 1, rows: ['24'] })
  const files = { all: none(24), p: p ?? [], q: q ?? [] }
  expect(await resultOf(await workspaceOf(files))).toMatchObject({ rejected: 2, rows: ['24'] })
  // Fetched earlier, when there was less usage, or none in a project.
  expect(await resultOf(await workspaceOf({ all: none(20), grouped }))).toMatchObject({ rejected: 1, rows: ['24'] })
  const early = { all: none(2), grouped: [...grouped, ...none(3)] }
  expect(await resultOf(await workspaceOf(early))).toMatchObject({ rejected: 0, duplicates: 1, rows: ['27'] })
})

it('buckets of Anthropic are compared in the same way', async () => {
  const bucket = (starting_at: string, ending_at: string) => {
    const results = [{ model: 'm', uncached_input_tokens: 5, output_tokens: 1, workspace_id: null }]
    return { starting_at, ending_at, results }
  }
  const day = [bucket('2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z')]
  const hours = [
    bucket('2026-06-01T10:00:00Z', '2026-06-01T11:00:00Z'),
    bucket('2026-06-02T00:00:00Z', '2026-06-02T01:00:00Z'),
  ]
  expect(await resultOf(await workspaceOf({ day, hours }, 'anthropic-usage'))).toMatchObject({
    rejected: 1,
    rows: ['6', '6'],
  })
})
