/** The Parquet files of months hold the rows of their release in order, at the sizes in which DuckDB works. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { periodsIn, type RowsOfPeriod, renderParquet } from '../../pipeline/publication/periods.ts'
import { readParquet } from '../../pipeline/release/read-back.ts'
import { openMemory } from '../support/database.ts'

const VECTOR_ROWS = 2048
const ROW_GROUP_ROWS = 122_880

let folder: string
let database: Database
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  database = await openMemory({ threads: 4 })
})
afterAll(async () => {
  database.close()
  await rm(folder, { recursive: true })
})

/** The rows of January 2025 and later, which the table has in no order. */
async function createRows(days: number, perDay: number): Promise<RankingRow[]> {
  await database.execute(`
    CREATE OR REPLACE TEMP TABLE out_release_rows AS
    SELECT
      DATE '2025-01-01' + (i // ${perDay})::INTEGER AS date,
      'a/"é, ' || i * 37 % 80 AS model_permaslug,
      i * 7 AS total_tokens,
      i AS position
    FROM range(${days * perDay}) AS numbers(i)
    ORDER BY hash(i)
  `)
  return Array.from({ length: days * perDay }, (_, i) => ({
    date: addDays('2025-01-01', Math.floor(i / perDay)),
    model_permaslug: `a/"é, ${(i * 37) % 80}`,
    total_tokens: String(i * 7),
  }))
}

function monthly(rows: readonly RankingRow[]): RowsOfPeriod[] {
  return periodsIn(rows).filter(({ folder }) => folder === 'monthly')
}

const render = (revisions: readonly RowsOfPeriod[]) =>
  renderParquet(revisions, { publicDir: folder, files: realFiles }, database)

async function expectWritten(revisions: readonly RowsOfPeriod[]): Promise<void> {
  const rendered = await render(revisions)
  const path = join(folder, 'rendered.parquet')
  for (const { name, rows } of revisions) {
    await writeFile(path, rendered.get(name) ?? '')
    expect(await readParquet(database, path)).toEqual(rows)
  }
}

it('months around a vector of rows', async () => {
  const sizes = fc.tuple(fc.integer({ min: 20, max: 61 }), fc.integer({ min: -2, max: 2 }))
  const property = fc.asyncProperty(sizes, async ([perDay, more]) => {
    const days = Math.round(VECTOR_ROWS / perDay) + more
    await expectWritten(monthly(await createRows(days, perDay)))
  })
  await fc.assert(property, { seed: 43, numRuns: 8 })
})

it.each([-1, 0, 1, 1024])('a month with %i rows a day more than a row group', async (more) => {
  const rows = await createRows(31, Math.floor(ROW_GROUP_ROWS / 31) + more)
  await expectWritten([{ folder: 'monthly', name: '2025-01', rows }])
})

it('refuses a file that was written in another order', async () => {
  const rows = await createRows(2, 50)
  const swapped = rows.map((row, i) => rows[i < 50 ? i : 149 - i] ?? row)
  await expect(render(monthly(swapped))).rejects.toThrow(
    /2025-01 was written with other rows than those of the release/,
  )
})
