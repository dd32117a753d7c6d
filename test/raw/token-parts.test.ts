/** The check of units: records whose token counts contradict each other are counted, by reason, and warned of. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  settings,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { having, type LogRecord, RECORDS, toLines } from '../support/schemas.ts'

const LATER = '2025-06-10T13:00:00Z'
const LAST = '2025-06-10T14:00:00Z'
const CHECK = 'token_parts_disagree'
const AS_OF = '2025-06-10T12:00:00Z'

/** A span of 2025-06-01 with 30 output tokens. */
function span(id: number, input: number, cached: number, fields: LogRecord = {}): LogRecord {
  const record = having(RECORDS['otel-genai-spans'], ['attributes'], {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'm',
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': 30,
    'gen_ai.usage.cache_read.input_tokens': cached,
  })
  return { ...record, spanId: String(id).padStart(16, '0'), ...fields }
}

/** Spans of which the first `contradictory` have more cached input than input. */
function spans(count: number, contradictory: number): LogRecord[] {
  return Array.from({ length: count }, (_, id) => span(id, 4, id < contradictory ? 2000 : 4))
}

/** A workspace with one public source of spans, `spans`, in the file `a.ndjson`. */
async function workspaceOf(records: LogRecord[], top: LogRecord = {}, source: LogRecord = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'a.ndjson', toLines(records))
  await configure(workspace, top, source)
  return workspace
}

function configure(workspace: Workspace, top: LogRecord = {}, source: LogRecord = {}): Promise<void> {
  const spansSource = {
    name: 'spans',
    schema: 'otel-genai-spans',
    files: ['*.ndjson'],
    visibility: 'public',
    ...source,
  }
  return writeInput(workspace, 'sources.json', { sources: [spansSource], ...top })
}

async function readQuality(folder: string) {
  return JSON.parse(await readFile(join(folder, 'quality.json'), 'utf8'))
}

/** The counts of the last build for the maintainer. */
async function detailOf({ dataDir }: Workspace): Promise<unknown> {
  return (await readQuality(join(dataDir, 'state')))[CHECK]
}

describe('records whose token counts contradict each other', () => {
  it('count with their tokens, and are counted by reason, unless they are rejected or left out', async () => {
    const attributes = { 'gen_ai.usage.input_tokens': 4, 'gen_ai.usage.cache_read.input_tokens': 2000 }
    const workspace = await workspaceOf(
      [
        ...[span(1, 4, 2000), span(2, 4, 4), span(3, 4, 0)],
        span(4, 4, 2000, {
          attributes: { ...attributes, 'gen_ai.usage.output_tokens': -1, 'gen_ai.response.model': 'm' },
        }),
        span(5, 4, 2000, { attributes: { ...attributes, 'gen_ai.operation.name': 'invoke_agent' } }),
        span(6, 4, 2000, { attributes: { ...attributes, 'gen_ai.response.model': '=m' } }),
        span(7, 4, 2000, { startTimeUnixNano: '1' }),
      ],
      { max_rejected_share: 1 },
    )
    const summary = await buildIn(workspace, AS_OF)
    const token_parts_disagree = { cached_above_prompt: 1 }
    expect(summary.records).toMatchObject({ read: 7, published: 3, left_out: 1, token_parts_disagree })
    expect(describeSummary(summary)).toContain(
      'counted although their token counts contradict each other: 1 cached_above_prompt\n',
    )
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-06-01 m 102'])
    const quality = await readQuality(await releaseFolder(workspace))
    expect(quality.records.token_parts_disagree).toEqual(token_parts_disagree)
    expect(await detailOf(workspace)).toEqual([
      { source: 'spans', reason: 'cached_above_prompt', records: 1, accepted_records: 3 },
    ])
  })

  it('stay counted by builds that read no file again, until their file goes or their dates are archived', async () => {
    const workspace = await workspaceOf(spans(2, 1))
    await buildIn(workspace, AS_OF)
    await writeInput(workspace, 'b.ndjson', toLines([span(7, 4, 2000), span(8, 4, 0)]))
    const second = await buildIn(workspace, LATER)
    expect(second.records.token_parts_disagree).toEqual({ cached_above_prompt: 2 })
    await rm(join(workspace.input, 'a.ndjson'))
    await configure(workspace, { on_missing: 'remove' })
    const third = await buildIn(workspace, LAST)
    expect(third.records.token_parts_disagree).toEqual({ cached_above_prompt: 1 })
    const effects = {
      now: () => new Date('2026-11-20T00:12:00Z'),
      report: () => {},
      signal: new AbortController().signal,
      files: realFiles,
    }
    await archiveDates(readPipelineConfig(settings(workspace, LAST)), effects, { before: '2025-06-02' })
    // The archive has sums alone.
    const archived = await buildIn(workspace, '2025-06-10T15:00:00Z')
    expect(archived.records).toMatchObject({ published: 2, token_parts_disagree: {} })
  })

  it('stay counted where the records of a file that is gone are kept, without the state too', async () => {
    const workspace = await workspaceOf(spans(2, 1), { on_missing: 'keep' })
    await writeInput(workspace, 'b.ndjson', toLines([span(8, 4, 0)]))
    await buildIn(workspace, AS_OF)
    await rm(join(workspace.input, 'a.ndjson'))
    expect((await buildIn(workspace, LATER)).records.token_parts_disagree).toEqual({ cached_above_prompt: 1 })
    await rm(join(workspace.dataDir, 'state'), { recursive: true })
    expect((await buildIn(workspace, LAST)).records.token_parts_disagree).toEqual({ cached_above_prompt: 1 })
  })

  it('are published of public usage alone: how much private usage there is tells nobody', async () => {
    const workspace = await workspaceOf(spans(5, 5), {
      sources: [
        { name: 'spans', schema: 'otel-genai-spans', files: ['a.ndjson'], visibility: 'private' },
        { name: 'others', schema: 'otel-genai-spans', files: ['b.ndjson'], visibility: 'public' },
      ],
    })
    await writeInput(workspace, 'b.ndjson', toLines(spans(3, 2)))
    const { records } = await buildIn(workspace, AS_OF)
    expect(records.token_parts_disagree).toEqual({ cached_above_prompt: 7 })
    const quality = await readQuality(await releaseFolder(workspace))
    expect(quality.records.token_parts_disagree).toEqual({ cached_above_prompt: 2 })
  })
})

describe('token_parts_disagree', () => {
  const finding =
    'has token counts that contradict each other in more than 1 % of its records, most recently on this date'
  const date = '2025-06-01'

  it('is a source with more than 1 % of such records, whose name and numbers are the maintainer’s alone', async () => {
    const workspace = await workspaceOf(spans(100, 1))
    expect((await buildIn(workspace, AS_OF)).warnings).toEqual([])
    await writeInput(
      workspace,
      'b.ndjson',
      toLines([...spans(99, 1)].map((each, id) => ({ ...each, traceId: `${id}` }))),
    )
    expect((await buildIn(workspace, LATER)).warnings).toEqual([
      { check: CHECK, date, finding: `source "spans" ${finding}: 2 of 199 (cached_above_prompt 2)` },
    ])
    const { warnings } = await readQuality(await releaseFolder(workspace))
    expect(warnings).toEqual([{ check: CHECK, date, finding: `a source ${finding}` }])
  })

  it('stops a release where it is blocking unless it is accepted, and again for a later date alone', async () => {
    const next = { startTimeUnixNano: `${Date.parse('2025-06-02T12:00:00Z')}000000` }
    const workspace = await workspaceOf(spans(2, 1), { blocking: [CHECK] })
    const failed = buildIn(workspace, AS_OF)
    await expect(failed).rejects.toThrow(`source "spans" ${finding}: 1 of 2 (cached_above_prompt 1)`)
    await expect(failed).rejects.toThrow(`tokenboard build --accept ${CHECK}`)
    await buildIn(workspace, AS_OF, {}, { accept: [CHECK] })
    const some = Array.from({ length: 100 }, (_, id) => span(100 + id, 4, id === 0 ? 2000 : 4, next))
    await writeInput(workspace, 'b.ndjson', toLines(some))
    expect((await buildIn(workspace, LATER)).outcome).toBe('released')
    await writeInput(workspace, 'c.ndjson', toLines([span(8, 4, 2000, next)]))
    await expect(buildIn(workspace, LAST)).rejects.toThrow(
      `2025-06-02: source "spans" ${finding}: 3 of 103 (cached_above_prompt 3)`,
    )
  })

  it('is told to the maintainer alone and stops nothing where only hidden usage contradicts itself', async () => {
    const workspace = await workspaceOf(spans(5, 5), {
      blocking: [CHECK],
      sources: [
        { name: 'spans', schema: 'otel-genai-spans', files: ['a.ndjson'], visibility: 'private' },
        { name: 'others', schema: 'otel-genai-spans', files: ['b.ndjson'], visibility: 'public' },
      ],
    })
    await writeInput(workspace, 'b.ndjson', toLines(spans(3, 0)))
    const { warnings } = await buildIn(workspace, AS_OF)
    const detail = '5 of 5 (cached_above_prompt 5), of public usage 0 of 0'
    expect(warnings).toEqual([{ check: CHECK, date, finding: `source "spans" ${finding}: ${detail}` }])
    expect((await readQuality(await releaseFolder(workspace))).warnings).toEqual([])
  })
})
