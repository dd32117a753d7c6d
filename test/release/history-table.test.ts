/** The history of random releases and withdrawals, compared with one that is made by hand. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { HISTORY_COLUMNS } from '../../pipeline/contract/history-table.ts'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { HISTORY_FIELDS } from '../../pipeline/release/documents/fields.ts'
import { HISTORY_KEY_MEANINGS, PARQUET_KEY_MEANINGS } from '../../pipeline/release/documents/parquet-keys.ts'
import { HistoryTable, readHistoryReleases } from '../../pipeline/release/history-table.ts'
import { openMemory } from '../support/database.ts'
import { historyCsv, type Rows, type Told, writeRelease } from '../support/history-table.ts'
import { manifestOf } from '../support/manifest.ts'
import { tries } from '../support/property.ts'
import type { Row } from '../support/publish.ts'

let root: string
let database: Database
let places: { parquet: string; csv: string }

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tokenboard-history-'))
  places = { parquet: join(root, 'history.parquet'), csv: join(root, 'history.csv.gz') }
  database = await openMemory()
})

afterAll(async () => {
  database.close()
  await rm(root, { recursive: true })
})

const folderOf = (release: string) => join(root, release)
const nameOf = (number: number) => `202503${String(10 + number)}T001500Z`

const about = (standing: readonly Told[]) => {
  return { releases: standing.map(([release]) => release), entry: 'ab'.repeat(32) }
}

/** Writes the files and returns their bytes. */
async function bytesOf(table: HistoryTable, standing: readonly Told[]): Promise<Buffer[]> {
  const current = manifestOf({ release: standing.at(-1)?.[0] ?? '' })
  await table.write(places, about(standing), current, { files: realFiles, published: places.csv })
  return [await readFile(places.parquet), await readFile(places.csv)]
}

/** The files as they are without any that went before. */
async function fromNothing(standing: readonly Told[], manifests: ReadonlyMap<string, Manifest>): Promise<Buffer[]> {
  const table = await HistoryTable.empty(database)
  for (const [release] of standing) await table.add(folderOf(release), manifests.get(release) ?? manifestOf())
  return bytesOf(table, standing)
}

const SLUGS = ['a', 'a,b', 'say "hi"', 'two\nlines', 'y#x', ' space', 'NULL', 'é/😀', 'other']

function rowsOn(dates: readonly string[], days?: number): fc.Arbitrary<Row[]> {
  // Few numbers, so that rows come back.
  const row = fc.record({
    model_permaslug: fc.constantFrom(...SLUGS),
    total_tokens: fc.constantFrom('1', '9007199254740993'),
  })
  const selector = ({ model_permaslug }: { model_permaslug: string }) => model_permaslug
  // Each release has daily rows.
  const ofDate = fc.uniqueArray(row, { selector, minLength: days === undefined ? 1 : 0, maxLength: 4 })
  return fc
    .tuple(...dates.map(() => fc.tuple(ofDate, fc.integer({ min: 1, max: 2 }))))
    .map((all) =>
      all.flatMap(([rows, summed], at) =>
        rows.map((each) => ({ date: dates[at] ?? '', ...each, ...(days && { days: summed }) })),
      ),
    )
}

const DAYS = ['2025-03-08', '2025-03-09']
const told: fc.Arbitrary<Rows> = fc.oneof(
  fc.record({ daily: rowsOn(DAYS) }),
  fc.record({ daily: rowsOn(DAYS), weekly: rowsOn(['2025-03-03'], 2), monthly: rowsOn(['2025-03-01'], 2) }),
)

/** Two releases, and one that has a date of each: what changes often comes back. */
const pool = fc.tuple(told, told).map(([one, other]): Rows[] => {
  const [first, ...later] = DAYS
  const of = ({ daily }: Rows, dates: (string | undefined)[]) => daily.filter(({ date }) => dates.includes(date))
  return [one, other, { ...one, daily: [...of(one, [first]), ...of(other, later)] }]
})

/** Which of the pool is released, or which of the releases that stand is withdrawn. */
type Step = { release: number } | { withdraw: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ release: fc.nat(2) }) },
  fc.record({ withdraw: fc.nat(3) }),
)
const steps = fc.array(step, { minLength: 4, maxLength: 9 })

const rowsOf = (...models: string[]): Rows => {
  return { daily: models.map((model_permaslug) => ({ date: '2025-03-08', model_permaslug, total_tokens: '5' })) }
}

/** A model is overtaken in one release, which is withdrawn. */
const overtaken: [Rows[], Step[]] = [
  [rowsOf('a', 'b'), rowsOf('b', 'a')],
  [{ release: 1 }, { release: 0 }, { withdraw: 1 }],
]

const { options, timeout_ms } = tries({ share: 3 })

it(
  'has each row from the first release to the last that has it, in the same bytes however it came about',
  async () => {
    const property = fc.asyncProperty(pool, steps, async (rows, more) => {
      const manifests = new Map<string, Manifest>()
      let standing: Told[] = []
      let table = await HistoryTable.empty(database)
      for (const [number, each] of [{ release: 0 }, ...more].entries()) {
        if ('withdraw' in each) {
          if (standing.length === 1) continue
          standing = standing.toSpliced(each.withdraw % standing.length, 1)
          await table.keep(standing.map(([release]) => release))
        } else {
          const one: Told = [nameOf(number), rows[each.release] ?? { daily: [] }]
          const manifest = await writeRelease(database, folderOf(one[0]), one)
          manifests.set(one[0], manifest)
          await table.add(folderOf(one[0]), manifest)
          standing = [...standing, one]
        }
        await table.writeParquet(places.parquet, about(standing), manifestOf(), realFiles)
        table = await HistoryTable.read(database, places.parquet)
      }
      const grown = await bytesOf(table, standing)
      expect(gunzipSync(grown[1] ?? '').toString()).toBe(historyCsv(standing))
      expect(await readHistoryReleases(database, places.parquet)).toMatchObject(about(standing))
      expect(await fromNothing(standing, manifests)).toEqual(grown)
    })
    await fc.assert(property, { ...options, examples: [overtaken] })
  },
  timeout_ms,
)

it('has the documented columns, types and footer', async () => {
  const { parquet } = places
  const one: Told = [nameOf(1), { daily: [{ date: '2025-03-01', model_permaslug: 'a', total_tokens: '1' }] }]
  const table = await HistoryTable.empty(database)
  await table.add(folderOf(one[0]), await writeRelease(database, folderOf(one[0]), one))
  await bytesOf(table, [one])
  const columns = await database.rows<{ column_name: string; column_type: string }>('data-files/columns', {
    path: parquet,
  })
  expect(columns.map(({ column_name, column_type }) => [column_name, column_type])).toEqual(
    HISTORY_FIELDS.map(({ name, sql_type }) => [name, sql_type]),
  )
  expect(columns.map(({ column_name }) => column_name)).toEqual(HISTORY_COLUMNS)
  const keys = await database.rows<{ key: string }>('data-files/parquet_keys', { path: parquet })
  const ofOneRelease = ['release', 'as_of', 'start_date', 'end_date', 'content_hash']
  const all = new Set([...Object.keys(PARQUET_KEY_MEANINGS), ...Object.keys(HISTORY_KEY_MEANINGS)])
  expect(keys.map(({ key }) => key)).toEqual([...all].filter((key) => !ofOneRelease.includes(key)).sort())
})
