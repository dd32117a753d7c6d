/** The Parquet files of days, which are written many at once, hold the bytes that each has when it is written alone. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import type { Period } from '../../pipeline/dataset/coverage.ts'
import { datesOf, renderParquet } from '../../pipeline/publication/periods.ts'

const DAYS = 130
const day = (number: number): Period => ({ folder: 'daily', name: addDays('2025-01-01', number) })

async function openRows(threads: number): Promise<{ database: Database; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  const { signal } = new AbortController()
  const database = await Database.open({
    path: ':memory:',
    temporaryFolder: folder,
    memoryLimit: undefined,
    threads,
    signal,
  })
  onTestFinished(async () => {
    database.close()
    await rm(folder, { recursive: true })
  })
  await database.execute(`
    CREATE TEMP TABLE out_release_rows AS
    SELECT
      DATE '2025-01-01' + (i // 51)::INTEGER AS date,
      CASE i % 7 WHEN 0 THEN 'a/"quoted", é' ELSE 'a/' || hash(i) % 80 END AS model_permaslug,
      (hash(i, 1) % 9007199254740991)::BIGINT AS total_tokens,
      i AS position
    FROM range(${DAYS * 51}) AS numbers(i)
    ORDER BY hash(i)
  `)
  return { database, folder }
}

it.each([1, 4])('with %i threads', async (threads) => {
  const { database, folder } = await openRows(threads)
  const days = Array.from({ length: DAYS }, (_, number) => day(number))
  // More days than are written at once, with gaps, and months beside them.
  const some = days.filter((_, number) => number % 9 !== 4)
  const periods: Period[] = [...some, { folder: 'monthly', name: '2025-02' }, { folder: 'monthly', name: '2025-03' }]
  const rendered = await renderParquet(periods, { publicDir: folder, files: realFiles }, database)
  expect([...rendered.keys()]).toEqual(periods.map(({ name }) => name))
  for (const period of periods) {
    const path = join(folder, 'alone.parquet')
    await database.run('release-rows/write_period', { ...datesOf(period), path })
    expect(rendered.get(period.name)?.equals(await readFile(path)), period.name).toBe(true)
  }
})
