/** The rows of a text file that a previous release does not have, against all of its rows. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gzip } from '../../pipeline/base/gzip.ts'
import { joinNdjson, writeCsv, writeJson } from '../../pipeline/base/text.ts'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { type RankingMeta, type RankingRow, rowJson } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { readNewDays } from '../../pipeline/release/new-days.ts'
import { memoryDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sha256 } from '../support/pipeline.ts'

const META: RankingMeta = {
  as_of: '2025-03-10T12:00:00Z',
  start_date: '2025-01-01',
  end_date: '2025-03-09',
  version: 'v1',
}
const FORMATS = ['csv', 'json.gz', 'ndjson.gz'] as const
/** Slugs that look like the beginning or the end of a row. */
const SLUGS = ['a/one', 'a/"},{"date":"', '{"date":', 'ö/💡', '],"meta":{}']

async function writeDays(folder: string, rows: readonly RankingRow[]): Promise<Manifest> {
  await mkdir(folder, { recursive: true })
  const texts = { csv: writeCsv(rows), 'json.gz': writeJson(rows, META), 'ndjson.gz': joinNdjson(rows.map(rowJson)) }
  const files = FORMATS.map(async (format) => {
    const [path, bytes] = [`rankings-daily.${format}`, format === 'csv' ? texts.csv : await gzip(texts[format])]
    await writeFile(join(folder, path), bytes)
    return { path, sha256: sha256(bytes) }
  })
  return { files: await Promise.all(files) } as Manifest
}

describe('the new rows of a release', () => {
  it('are those after the ones that both releases have, whatever differs', async () => {
    const [root, database] = [await temporaryFolder(), await memoryDatabase()]
    const random = seededRandom(22)
    const below = (count: number) => Math.floor(random() * count)
    const row = (position: number): RankingRow => ({
      date: addDays('2025-01-01', Math.floor(position / 2)),
      model_permaslug: SLUGS[below(SLUGS.length)] ?? '',
      total_tokens: `${below(12)}`,
    })
    for (let round = 0; round < 60; round += 1) {
      const before = Array.from({ length: below(5) }, (_, position) => row(position))
      const kept = before.slice(0, below(before.length + 1))
      const after = [...kept, ...Array.from({ length: below(4) }, (_, position) => row(kept.length + position))]
      const [folder, previous] = [join(root, `${round}/new`), join(root, `${round}/previous`)]
      await writeDays(folder, after)
      const manifest = await writeDays(previous, before)
      for (const format of FORMATS) {
        const found = await readNewDays(database, folder, { format, previous: { folder: previous, manifest } })
        const known = found?.after ?? Number.NaN
        expect([...after.slice(0, known), ...(found?.rows ?? [])], JSON.stringify({ before, after })).toEqual(after)
        expect(before.slice(0, known)).toEqual(after.slice(0, known))
        expect(known).toBeGreaterThanOrEqual(kept.length - 1)
      }
    }
  })

  it('are all rows if the previous file is gone or not the one that was verified', async () => {
    const [root, database] = [await temporaryFolder(), await memoryDatabase()]
    const rows = [{ date: '2025-01-01', model_permaslug: 'a/one', total_tokens: '5' }]
    const folder = join(root, 'release')
    const manifest = await writeDays(folder, rows)
    const gone = { folder: join(root, 'gone'), manifest }
    expect(await readNewDays(database, folder, { format: 'ndjson.gz', previous: gone })).toBeUndefined()
    await writeDays(gone.folder, [...rows, ...rows])
    expect(await readNewDays(database, folder, { format: 'ndjson.gz', previous: gone })).toBeUndefined()
  })
})
