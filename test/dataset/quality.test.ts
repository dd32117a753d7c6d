/** Nothing about usage that is not public enters quality.json. See the case excluded-by-day. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { publish, releaseFolder, type SmallResult } from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'

const at = (day: string, model_permaslug: string, fields: FileRecord = {}): FileRecord => ({
  timestamp: `${day}T12:00:00Z`,
  model_permaslug,
  prompt_tokens: '10',
  ...fields,
})

const PUBLIC = [
  at('2025-03-02', 'acme/one', { prompt_tokens: '100000' }),
  at('2025-03-03', 'acme/one', { prompt_tokens: '100000' }),
  at('2025-03-03', 'acme/one', { request_id: 'twice' }),
  at('2025-03-03', 'acme/one', { request_id: 'twice' }),
  at('2025-03-03', 'acme/one', { prompt_tokens: 'many' }),
  at('2024-12-31', 'acme/one'),
  at('2025-03-10', 'acme/one'),
]

const DAYS = ['2024-12-31', '2025-03-02', '2025-03-03', '2025-03-10']
const WITHHELD = DAYS.flatMap((day) => [at(day, 'lab/unknown'), at(day, 'lab/other-unknown')])
const PRIVATE = DAYS.flatMap((day) => [at(day, 'acme/internal'), at(day, 'acme/one', { visibility: 'private' })])

function build(records: FileRecord[]): Promise<SmallResult> {
  const models = [{ model_permaslug: 'acme/one' }, { model_permaslug: 'acme/internal', public: false }]
  const sources = [{ records, settings: { visibility: 'registry' } }]
  return publish({ sources, models, top: { max_rejected_share: 1 } })
}

async function qualityOf({ workspace }: SmallResult) {
  return JSON.parse(await readFile(join(await releaseFolder(workspace), 'quality.json'), 'utf8'))
}

it('writes the same public quality.json with and without withheld and private usage', async () => {
  const without = await build(PUBLIC)
  for (const hidden of [WITHHELD, PRIVATE]) {
    const withThem = await build([...PUBLIC, ...hidden])
    expect(withThem.summary.records.read).toBe(PUBLIC.length + hidden.length)
    expect(await qualityOf(withThem)).toEqual(await qualityOf(without))
  }
})

/** Builds a source in which `hidden` and public records have token counts; those with a `total_tokens` of 1 contradict themselves. */
function buildLogs(hidden: FileRecord[], publicTotals: string[]): Promise<SmallResult> {
  const models = [{ model_permaslug: 'acme/one' }, { model_permaslug: 'acme/internal', public: false }]
  const shown = publicTotals.map((total_tokens) => at('2025-03-03', 'acme/one', { total_tokens }))
  const settings = {
    schema: 'litellm-spend-logs',
    columns: { startTime: 'timestamp', model: 'model_permaslug' },
    visibility: 'registry',
  }
  return publish({ sources: [{ records: [...shown, ...hidden], settings, extraColumns: ['total_tokens'] }], models })
}

it('warns only of contradictory token counts of public usage', async () => {
  const hidden = ['acme/internal', 'lab/unknown'].flatMap((model) => {
    const contradictory = at('2025-03-04', model, { total_tokens: '1' })
    const right = Array.from({ length: 200 }, () => at('2025-03-05', model, { total_tokens: '10' }))
    return [[contradictory], [contradictory, ...right]]
  })
  for (const [second, warnings] of [
    ['10', 0],
    ['1', 1],
  ] as const) {
    // biome-ignore format: one line
    const alone = await qualityOf(await buildLogs([], ['10', second]))
    expect(alone.warnings).toHaveLength(warnings)
    for (const some of hidden) expect(await qualityOf(await buildLogs(some, ['10', second]))).toEqual(alone)
  }
})
