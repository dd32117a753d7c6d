import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { tablesIn } from '../../pipeline/contract/tables.ts'
import type { Dataset } from '../../server/published/dataset.ts'
import { historyOf } from '../../server/published/history.ts'
import { FORMATS } from '../../server/published/negotiation.ts'
import { prepareHistory, tableAt } from '../../server/published/prepared-history.ts'
import { tableAnswers } from '../../server/published/prepared-table.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'
import { historyCsv, type Told } from '../support/history-table.ts'
import { FOLDER, publish, type Row, sampleRows } from '../support/publish.ts'
import { writeHistory } from '../support/published-history.ts'
import { drop, withdraw, writeIndex } from '../support/release-index.ts'
import { loadHistoryHere, loadReleaseHere } from '../support/release-loader.ts'

const ODD = 'odd, "slug"\nof two lines'
const MODELS = `model_permaslug,name,author,aliases\n"${ODD.replaceAll('"', '""')}",,Ada,[]\n`

const change = (rows: Row[], dates: string[], by: number) =>
  rows.map((row) => (dates.includes(row.date) ? { ...row, total_tokens: String(Number(row.total_tokens) + by) } : row))

/**
 * The rows of releases of five days. The first has no weeks and months. Later ones have late data, an overtaken model, a
 * date that comes, goes and comes back as it was, and one that ends the release earlier.
 */
function rowsOfReleases(): Row[][] {
  const rows = (days: number) =>
    sampleRows({ days, models: 3 }).map((row) =>
      row.model_permaslug.endsWith('2') ? { ...row, model_permaslug: ODD } : row,
    )
  const without = (date: string, all: Row[]) => all.filter((row) => row.date !== date)
  const overtaken = rows(42)
  const [first, second] = [overtaken[80], overtaken[81]]
  if (first && second) overtaken.splice(80, 2, { ...second, total_tokens: '5000' }, { ...first, total_tokens: '4000' })
  return [
    without('2025-01-09', rows(39)),
    change(rows(40), ['2025-02-07', '2025-02-08', '2025-02-09'], 7),
    without('2025-01-09', overtaken),
    change(rows(42), ['2025-01-03'], 1),
    rows(41),
  ]
}

const asOf = (index: number) => `2025-03-0${index + 1}T00:12:00Z`

async function published() {
  const publicDir = await temporaryFolder()
  for (const [index, rows] of rowsOfReleases().entries()) {
    await publish(publicDir, rows, { asOf: asOf(index), periods: index > 0, models: MODELS })
  }
  return publicDir
}

async function entriesOf(publicDir: string): Promise<ReleaseEntry[]> {
  await writeIndex(publicDir)
  return JSON.parse(await readFile(join(publicDir, FOLDER, 'releases/index.json'), 'utf8')).releases
}

async function open(publicDir: string) {
  const log = captureLog()
  const prepared = await loadHistoryHere({ path: join(publicDir, FOLDER, 'history.csv.gz'), isFirst: true }).whole
  return { history: historyOf(prepared, publicDir, fastify({ logger: { stream: log.stream } }).log), log }
}

const BOUNDS = ['2024-12-30', '2025-01-01', '2025-01-03', '2025-01-09', '2025-01-21', '2025-02-08', '2025-02-12']
const WINDOWS = BOUNDS.flatMap((start_date) =>
  BOUNDS.filter((end_date) => end_date >= start_date).map((end_date) => ({ start_date, end_date })),
)

/** All that a server can answer from a release. */
function answersOf(dataset: Dataset) {
  const answers = tablesIn(dataset.manifest).flatMap((table) =>
    WINDOWS.flatMap((window) =>
      FORMATS.flatMap((format) =>
        (['identity', 'gzip'] as const).map((coding) => {
          const { pieces, bytes } = dataset.answer(table, window, format, coding)
          return [table, window, format, coding, bytes, Buffer.concat(pieces).toString('base64')]
        }),
      ),
    ),
  )
  const rows = tablesIn(dataset.manifest).map((table) => [dataset.dates(table), dataset.rows(table)])
  const { manifest, hasGzip, isComplete } = dataset
  return { answers, rows, manifest, hasGzip, isComplete, authors: dataset.authors() }
}

test('answers for each release what its files say, byte for byte', async () => {
  const publicDir = await published()
  await writeHistory(publicDir)
  const { history } = await open(publicDir)
  for (const entry of await entriesOf(publicDir)) {
    const expected = await loadReleaseHere({ publicDir, entry }).whole
    await drop(publicDir, entry.release)
    const found = (await history.find(entry)) ?? expect.unreachable()
    expect(answersOf(found)).toEqual(answersOf(expected))
    expect(found.bytes).toBeLessThan(expected.bytes)
  }
})

const NAMES = ['20250301T000000Z', '20250302T000000Z', '20250303T000000Z', '20250304T000000Z', '20250305T000000Z']
const DATES = ['2025-01-01', '2025-01-02', '2025-01-03', '2025-01-04']

/** The rows of a release: any dates, and of each up to two models in any order. */
const someRows = fc
  .tuple(...DATES.map(() => fc.uniqueArray(fc.constantFrom('a', 'b'))), fc.constantFrom('1', '2'))
  .map((drawn) => {
    const total_tokens = String(drawn.at(-1))
    const rowsAt = (index: number) => [...(drawn[index] ?? [])]
    return DATES.flatMap((date, at) => rowsAt(at).map((model_permaslug) => ({ date, model_permaslug, total_tokens })))
  })

test('has the rows of each release, whatever came and went', async () => {
  const path = join(await temporaryFolder(), 'history.csv.gz')
  await fc.assert(
    fc.asyncProperty(fc.array(someRows, { minLength: 1, maxLength: NAMES.length }), async (releases) => {
      const told = releases.map((daily, index): Told => [NAMES[index] ?? '', { daily }])
      await writeFile(path, gzipSync(historyCsv(told)))
      const { daily } = await loadHistoryHere({ path, isFirst: true }).whole
      for (const [release, rows] of told) {
        const answers = daily && tableAnswers('daily', tableAt(daily, release))
        expect(answers?.rows() ?? []).toEqual(rows.daily)
        const [first = '', second = '', third = ''] = answers?.dates ?? []
        for (const window of [
          { start_date: first, end_date: third },
          { start_date: second, end_date: '2026-01-01' },
        ]) {
          const [plain, packed] = (['identity', 'gzip'] as const).map((coding) =>
            Buffer.concat(answers?.pieces(window, 'json', coding, Buffer.from(']')) ?? []),
          )
          if (packed?.length) expect(gunzipSync(packed)).toEqual(plain)
        }
      }
    }),
  )
})

test('answers for the releases that stand when another was withdrawn', async () => {
  const publicDir = await published()
  const [, , withdrawn, next] = await entriesOf(publicDir)
  const expected = await loadReleaseHere({ publicDir, entry: next }).whole
  await withdraw(publicDir, withdrawn?.release ?? '')
  await writeHistory(publicDir)
  const { history } = await open(publicDir)
  const found = (await history.find(next ?? expect.unreachable())) ?? expect.unreachable()
  expect(answersOf(found)).toEqual(answersOf(expected))
})

test('does not have a release whose rows have another content hash, in any table, and says so once', async () => {
  const publicDir = await published()
  const [, second, third] = await entriesOf(publicDir)
  const [a, b] = [second ?? expect.unreachable(), third ?? expect.unreachable()]
  await writeHistory(publicDir, (csv) => csv.replace(/^(weekly,2025-02-03,other,.*)(\d,7,4,20250302.*)$/m, '$11$2'))
  const { history, log } = await open(publicDir)
  expect([await history.find(a), await history.find(a)]).toEqual([undefined, undefined])
  expect((await history.find(b))?.manifest.release).toBe(b.release)
  expect(log.lines().map(({ release }) => release)).toEqual([a.release])
})

test.each([
  ['another table', 'table,date,model_permaslug,total_tokens,days,position,valid_from,valid_to\nyearly,,,,,,,\n'],
  ['other columns', 'table,date\n'],
  ['nothing', ''],
])('is refused with %s', async (_name, csv) => {
  const path = join(await temporaryFolder(), 'history.csv.gz')
  await writeFile(path, gzipSync(csv))
  await expect(prepareHistory({ path }).next()).rejects.toThrow(
    /history\.csv\.gz (has an unknown table|does not have the columns)/,
  )
})
