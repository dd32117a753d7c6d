/** What changes from a release to a ranking, by the dates that differ, against all rows of both. */
import { mkdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { tableChanges } from '../../pipeline/dataset/change-log.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { changesSince } from '../../pipeline/release/changed-rows.ts'
import { memoryDatabase } from '../support/database.ts'
import { newWorkspace } from '../support/pipeline.ts'

let database: Database
let root: string

beforeEach(async () => {
  ;({ root } = await newWorkspace())
  database = await memoryDatabase()
})

it('is what a comparison of all rows says', async () => {
  const random = seededRandom(22)
  const below = (count: number) => Math.floor(random() * count)
  for (let round = 0; round < 40; round += 1) {
    const days = Array.from({ length: 6 }, (_, day) => dayOf(addDays('2025-01-01', day), below))
    const before = days.slice(below(2), 4 + below(3)).flat()
    const after = days.flatMap((rows) => (below(3) === 0 ? dayOf(rows[0]?.date ?? '', below) : rows))
    const folder = join(root, `${round}`)
    await mkdir(folder)
    await fill(before)
    await database.run('data-files/write_parquet', { path: join(folder, 'rankings-daily.parquet'), metadata: {} })
    await fill(after)
    const ranking = { rows: after, periods: undefined }
    const expected = tableChanges({ rows: before, periods: undefined }, ranking)
    expect(await changesSince({ folder, manifest: {} }, ranking, database)).toEqual(expected)
  }
})

it('names a release that is damaged', async () => {
  const path = join(root, 'rankings-daily.parquet')
  const rows = dayOf('2025-01-01', () => 1)
  await fill(rows)
  await database.run('data-files/write_parquet', { path, metadata: {} })
  await truncate(path, 100)
  const changes = changesSince({ folder: root, manifest: {} }, { rows, periods: undefined }, database)
  await expect(changes).rejects.toThrow(
    expect.objectContaining({
      name: 'BuildError',
      message: expect.stringContaining(`${path} cannot be read as Parquet`),
    }),
  )
})

function dayOf(date: string, below: (count: number) => number): RankingRow[] {
  const tokens = Array.from({ length: 1 + below(3) }, () => below(3) + 1).sort((a, b) => b - a)
  return tokens.map((count, place) => ({ date, model_permaslug: `a/${place}`, total_tokens: `${count}` }))
}

async function fill(rows: readonly RankingRow[]): Promise<void> {
  await database.execute(
    'CREATE OR REPLACE TEMP TABLE out_rankings_daily (date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position BIGINT)',
  )
  const values = rows.map((row, at) => [row.date, row.model_permaslug, row.total_tokens, `${at}`])
  await database.append('out_rankings_daily', values)
}
