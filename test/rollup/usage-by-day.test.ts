/** Tokens of a date in their parts: net of duplicates, from state to state, and in the archive. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { archiveIn, buildIn, newWorkspace, type Workspace, writeInput } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { RECORDS, toLines } from '../support/schemas.ts'
import { partsIn } from '../support/token-parts.ts'

const RECORD = {
  ...RECORDS['litellm-spend-logs'],
  startTime: '2025-06-01T12:00:00Z',
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  metadata: { usage_object: { cache_read_input_tokens: 60, completion_tokens_details: { reasoning_tokens: 5 } } },
}
const BARE = { ...RECORD, request_id: 'bare', total_tokens: 0, metadata: {} }
/** A record that is delivered twice, and one of which nothing is known but its two counts. */
const RECORDS_OF_DAY = [{ ...RECORD, request_id: 'twice' }, { ...RECORD, request_id: 'twice' }, BARE]
const DAY = '2025-06-01 records 2 tokens 240 product_total 240 input 200 output 40 cache_read 60 reasoning 5'

async function builtWorkspace(top: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'a.ndjson', toLines(RECORDS_OF_DAY))
  await writeInput(workspace, 'b.ndjson', toLines([{ ...BARE, startTime: '2025-06-02T12:00:00Z' }]))
  const source = { name: 'log', schema: 'litellm-spend-logs', files: ['*.ndjson'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { sources: [source], ...top })
  await buildIn(workspace, '2025-06-10T12:00:00Z')
  return workspace
}

async function firstDay(workspace: Workspace): Promise<string | undefined> {
  return (await partsIn(workspace, ['log']))[0]
}

it('has the parts of each date, and a duplicate once', async () => {
  expect(await partsIn(await builtWorkspace(), ['log'])).toEqual([
    DAY,
    '2025-06-02 records 1 tokens 120 input 100 output 20',
  ])
})

it('keeps the parts of missing files, and of archived dates', async () => {
  const workspace = await builtWorkspace({ on_missing: 'keep' })
  await rm(join(workspace.input, 'a.ndjson'))
  await buildIn(workspace, '2025-06-10T13:00:00Z')
  await rm(join(workspace.dataDir, 'state'), { recursive: true })
  await buildIn(workspace, '2025-06-10T14:00:00Z')
  expect(await firstDay(workspace)).toBe(DAY)

  await archiveIn(workspace, '2025-06-02', '2025-06-10T15:00:00Z')
  const dates = join(workspace.dataDir, 'archive/dates')
  const [part = ''] = await readdir(dates)
  const [archived] = await query(`
    SELECT sum(parts.input) AS input, sum(parts.cache_read) AS cache_read, sum(parts.total) AS total
    FROM (
      SELECT parts::STRUCT(input INT, cache_read INT, cache_write INT, reasoning INT, audio INT, total INT) AS parts
      FROM ${sqlText(join(dates, part, 'usage-0.parquet'))}
      WHERE outcome IS NULL
    )`)
  expect(archived).toEqual({ input: 200n, cache_read: 60n, total: 240n })
  await buildIn(workspace, '2025-06-10T16:00:00Z')
})
