/** Records whose token counts contradict each other are counted by reason, and the check `token_parts_disagree` warns. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import {
  archiveIn,
  buildAndListen,
  buildIn,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { type LogRecord, RECORDS, toLines } from '../support/schemas.ts'

const AS_OF = '2025-06-10T12:00:00Z'
const LATER = '2025-06-10T13:00:00Z'
const LAST = '2025-06-10T14:00:00Z'
const CHECK = 'token_parts_disagree'
const SOURCE = { name: 'log', schema: 'langfuse-observations', files: ['*.ndjson'], visibility: 'public' }

/** An observation of 2025-06-01 of 34 tokens, or of 50 that its parts contradict. */
function observation(id: number | string, isContradictory: boolean, fields: LogRecord = {}): LogRecord {
  const usage_details = { input: 4, output: 30, total: isContradictory ? 50 : 34 }
  return { ...RECORDS['langfuse-observations'], id: `${id}`, usage_details, ...fields }
}

/** Observations of which the first `contradictory` contradict themselves. */
function observations(count: number, contradictory: number): LogRecord[] {
  return Array.from({ length: count }, (_, id) => observation(id, id < contradictory))
}

/** A workspace with one public source, whose file `a.ndjson` has these records. */
async function workspaceOf(records: LogRecord[], top: LogRecord = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'a.ndjson', toLines(records))
  await writeInput(workspace, 'sources.json', { sources: [SOURCE], ...top })
  return workspace
}

async function readQuality(folder: string) {
  return JSON.parse(await readFile(join(folder, 'quality.json'), 'utf8'))
}

describe('records whose token counts contradict each other', () => {
  it('count with their tokens and are counted by reason, unless they are rejected or excluded', async () => {
    const workspace = await workspaceOf(
      [
        ...[observation(1, true), observation(2, false), observation(3, false)],
        observation(4, true, { usage_details: { input: -1, output: 30, total: 50 } }),
        observation(5, true, { type: 'SPAN' }),
        observation(6, true, { provided_model_name: '=m' }),
        observation(7, true, { start_time: '1970-01-01 00:00:00' }),
      ],
      { max_rejected_share: 1 },
    )
    const summary = await buildIn(workspace, AS_OF)
    const token_parts_disagree = { parts_not_total: 1 }
    expect(summary.records).toMatchObject({ read: 7, published: 3, left_out: 1, token_parts_disagree })
    expect(describeSummary(summary)).toContain(
      'counted although their token counts contradict each other: 1 parts_not_total\n',
    )
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-06-01 m 118'])
    const quality = await readQuality(await releaseFolder(workspace))
    expect(quality.records.token_parts_disagree).toEqual(token_parts_disagree)
    expect((await readQuality(join(workspace.dataDir, 'state')))[CHECK]).toEqual([
      { source: 'log', reason: 'parts_not_total', records: 1, accepted_records: 3, tokens: '50', product_total: '50' },
    ])
  })

  it('stay counted in later builds and while missing files are kept, until they are removed or archived', async () => {
    const workspace = await workspaceOf(observations(2, 1), { on_missing: 'keep' })
    const count = async (asOf: string) => (await buildIn(workspace, asOf)).records.token_parts_disagree
    expect(await count(AS_OF)).toEqual({ parts_not_total: 1 })
    await writeInput(workspace, 'b.ndjson', toLines([observation(7, true), observation(8, false)]))
    expect(await count(LATER)).toEqual({ parts_not_total: 2 })
    await rm(join(workspace.input, 'a.ndjson'))
    expect(await count(LAST)).toEqual({ parts_not_total: 2 })
    await rm(join(workspace.dataDir, 'state'), { recursive: true })
    expect(await count('2025-06-10T15:00:00Z')).toEqual({ parts_not_total: 2 })
    await rm(join(workspace.input, 'b.ndjson'))
    await writeInput(workspace, 'sources.json', { sources: [SOURCE], on_missing: 'remove' })
    expect(await count('2025-06-10T16:00:00Z')).toEqual({ parts_not_total: 1 })
    await archiveIn(workspace, '2025-06-02', LAST)
    // The archive has sums alone.
    expect(await count('2025-06-10T17:00:00Z')).toEqual({})
  })
})

it('a build names the dates on which the totals of the product are others than ours, without names in public', async () => {
  const spend = (request_id: string, total_tokens: number) => {
    return { ...RECORDS['litellm-spend-logs'], request_id, startTime: '2025-06-01T12:00:00Z', total_tokens }
  }
  const { prompt_tokens, completion_tokens } = RECORDS['litellm-spend-logs']
  const own = prompt_tokens + completion_tokens
  const workspace = await workspaceOf([spend('a', own), spend('b', own + 7), spend('c', 0)], {
    sources: [{ ...SOURCE, schema: 'litellm-spend-logs' }],
  })
  const { notices } = await buildAndListen(workspace, AS_OF)
  const line = `2025-06-01 ${3 * own}, by the product's totals ${3 * own + 7}`
  expect(notices).toEqual([`source "log": the product's own totals differ from the tokens that count: ${line}`])
  expect((await readQuality(join(workspace.dataDir, 'state')))[CHECK]).toMatchObject([
    { records: 1, tokens: `${own}`, product_total: `${own + 7}` },
  ])
  expect(JSON.stringify(await readQuality(await releaseFolder(workspace)))).not.toContain('product')
})

describe('the check token_parts_disagree', () => {
  const finding =
    'has token counts that contradict each other in more than 1 % of its records, most recently on this date'
  const date = '2025-06-01'

  it('warns of more than 1 % of the records of a source, and publishes neither its name nor numbers', async () => {
    const workspace = await workspaceOf(observations(100, 1))
    expect((await buildIn(workspace, AS_OF)).warnings).toEqual([])
    const more = Array.from({ length: 99 }, (_, id) => observation(`more-${id}`, id === 0))
    await writeInput(workspace, 'b.ndjson', toLines(more))
    expect((await buildIn(workspace, LATER)).warnings).toEqual([
      { check: CHECK, date, finding: `source "log" ${finding}: 2 of 199 (parts_not_total 2)` },
    ])
    const { warnings } = await readQuality(await releaseFolder(workspace))
    expect(warnings).toEqual([{ check: CHECK, date, finding: `a source ${finding}` }])
  })

  it('stops a release if it is blocking and not accepted, and again only for a later date', async () => {
    const next = { start_time: '2025-06-02 12:00:00' }
    const workspace = await workspaceOf(observations(2, 1), { blocking: [CHECK] })
    const failed = buildIn(workspace, AS_OF)
    await expect(failed).rejects.toThrow(`source "log" ${finding}: 1 of 2 (parts_not_total 1)`)
    await expect(failed).rejects.toThrow(`tokenboard build --accept ${CHECK}`)
    await expect(failed).rejects.toMatchObject({ checks: [CHECK] })
    await buildIn(workspace, AS_OF, {}, { accept: [CHECK] })
    const some = Array.from({ length: 100 }, (_, id) => observation(100 + id, id === 0, next))
    await writeInput(workspace, 'b.ndjson', toLines(some))
    expect((await buildIn(workspace, LATER)).outcome).toBe('released')
    await writeInput(workspace, 'c.ndjson', toLines([observation(8, true, next)]))
    await expect(buildIn(workspace, LAST)).rejects.toThrow(
      `2025-06-02: source "log" ${finding}: 3 of 103 (parts_not_total 3)`,
    )
  })

  it('warns only the maintainer of private usage, and only public usage is counted in public', async () => {
    const workspace = await workspaceOf(observations(5, 5), {
      blocking: [CHECK],
      sources: [
        { ...SOURCE, files: ['a.ndjson'], visibility: 'private' },
        { ...SOURCE, name: 'others', files: ['b.ndjson'] },
      ],
    })
    await writeInput(workspace, 'b.ndjson', toLines(observations(3, 0)))
    const { warnings } = await buildIn(workspace, AS_OF)
    const detail = '5 of 5 (parts_not_total 5), of public usage 0 of 0'
    expect(warnings).toEqual([{ check: CHECK, date, finding: `source "log" ${finding}: ${detail}` }])
    expect((await readQuality(await releaseFolder(workspace))).warnings).toEqual([])

    await writeInput(workspace, 'b.ndjson', toLines(observations(3, 2)))
    const { records } = await buildIn(workspace, LATER, {}, { accept: [CHECK] })
    expect(records.token_parts_disagree).toEqual({ parts_not_total: 7 })
    const quality = await readQuality(await releaseFolder(workspace))
    expect(quality.records.token_parts_disagree).toEqual({ parts_not_total: 2 })
  })
})
