/** What does not fit in memory of the sums of new files is read from files as it was written. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { namesIn, realFiles } from '../../pipeline/base/files.ts'
import { Sums } from '../../pipeline/rollup/sums.ts'
import { query, sqlText } from '../support/records.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  return () => rm(folder, { recursive: true, force: true })
})

const PARTS = `{'input': 9999999999999999999999999999, 'cache_read': NULL, 'cache_write': 0, 'reasoning': -1, 'audio': NULL, 'total': 1}`
const ROWS = [
  `SELECT '1.csv' AS link, 20000 AS day_number, 'a' AS model, 1 AS records, 9223372036854775808 * 1000000::HUGEINT AS tokens`,
  `SELECT '2.csv' AS link, 'invalid_timestamp' AS reject_reason, 1 AS records, 0 AS tokens, NULL AS parts`,
  `SELECT '3.csv' AS link, -719162 AS day_number, 'b' AS model, 1 AS records, 7 AS tokens, ${PARTS} AS parts,
     12345678901234567890.123456789::DECIMAL(38, 9) AS cost_usd, true AS is_byok, false AS has_prompt_tokens,
     'who' AS contributor, 'absent_path' AS note_kind, '' AS note_name, -3 AS note_tokens, 5 AS paths_found`,
]

/** What is read of all rows, as text, and how many files it is read from. */
async function sumsWith(mostRows: number): Promise<{ rows: unknown[]; files: number }> {
  const path = join(folder, `${mostRows}.duckdb`)
  const signal = new AbortController().signal
  const written = join(folder, `${mostRows}`)
  const database = await Database.open({ path, temporaryFolder: folder, memoryLimit: undefined, signal })
  try {
    const sums = await Sums.create(database, { folder: written, files: realFiles, mostRows })
    for (const row of ROWS) {
      await database.execute(`INSERT INTO core_sums BY NAME ${row}`)
      await sums.makeRoom()
    }
    await database.execute('CREATE TABLE all_sums AS FROM core_all_sums')
  } finally {
    database.close()
  }
  await query(`ATTACH ${sqlText(path)} AS db${mostRows} (READ_ONLY)`)
  const rows = await query(
    `SELECT link, sums::VARCHAR AS text, typeof(sums) AS type FROM db${mostRows}.all_sums AS sums ORDER BY link`,
  )
  return { rows, files: (await namesIn(written)).length }
}

it('reads sums from files as from memory', async () => {
  const inMemory = await sumsWith(100)
  expect(inMemory.files).toBe(0)
  expect(inMemory.rows).toHaveLength(ROWS.length)
  expect(await sumsWith(1)).toEqual({ ...inMemory, files: 3 })
  expect(await sumsWith(2)).toEqual({ ...inMemory, files: 1 })
})
