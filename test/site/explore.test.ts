import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeDataset } from '../../pipeline/release/documents/describe.ts'
import { readHistory, readRows } from '../../pipeline/site/browser/explore/tables.ts'
import { nameOfBy } from '../../pipeline/site/browser/explore/view.ts'
import { type Bundle, bundleBrowser, entryTags } from '../../pipeline/site/bundle.ts'
import { type ExploreFacts, explorePage } from '../../pipeline/site/explore.ts'
import { temporaryFolder } from '../support/folder.ts'
import { manifestOf } from '../support/manifest.ts'
import { csvOf, publish } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { faultsOf } from '../support/site.ts'

const MANIFEST = manifestOf()

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleBrowser()
})

function page(changes: Parameters<typeof manifestOf>[0] = {}, models: ExploreFacts['models'] = []) {
  const manifest = manifestOf(changes)
  const release = `datasets/rankings-daily/v1/releases/${manifest.release}/`
  return explorePage(
    { manifest, dataset: describeDataset(manifest), release, restatements: [], models },
    entryTags(bundle),
  )
}

/** What the page tells its script of the tables that it loads, or of authors. */
function dataIn(text: string, name: 'tables' | 'authors') {
  const [, value = ''] = new RegExp(`data-${name}="([^"]*)"`).exec(text) ?? []
  return JSON.parse(value.replaceAll('&quot;', '"'))
}

const UNSEEN = { first_date: '', last_date: '', days: 0, best_rank: '', best_rank_date: '', total_tokens: '0' } as const

/** Facts of models with these authors in the registry. */
function modelsBy(authors: Record<string, string>): ExploreFacts['models'] {
  return Object.entries(authors).map(([model_permaslug, author]) => {
    return { ...UNSEEN, model_permaslug, author, name: '', aliases: [] }
  })
}

describe('the explorer', () => {
  test('reads the Parquet files of its own release by relative paths', () => {
    const { path, text } = page()
    expect(path).toBe('explore.html')
    const file = (table: string) => `datasets/rankings-daily/v1/releases/${MANIFEST.release}/rankings-${table}.parquet`
    expect(dataIn(text, 'tables')).toEqual({
      day: { table: 'daily', parquet: file('daily'), provisional_from: '2026-11-17' },
      week: { table: 'weekly', parquet: file('weekly'), provisional_from: '2026-11-16' },
      month: { table: 'monthly', parquet: file('monthly'), provisional_from: '2026-11-01' },
    })
    expect(text).toContain(`content="default-src 'self'"`)
    expect(faultsOf(text)).toEqual([])
  })

  test('has days alone for a release without weeks and months', () => {
    const { text } = page({ tables: undefined })
    expect(Object.keys(dataIn(text, 'tables'))).toEqual(['day'])
    expect(text).not.toContain('value="week"')
  })

  test('sums authors as the pages of authors do', () => {
    const models = modelsBy({ 'a/x': '', 'A/y': '', 'b/x': 'Bee', 'b/y:free': '', 'acme/z': 'bee', constructor: '' })
    const { author } = nameOfBy(new Map(Object.entries(dataIn(page({}, models).text, 'authors'))))
    const names = [...models.map(({ model_permaslug }) => model_permaslug), 'new/model'].map(author)
    expect(names).toEqual(['a', 'a', 'Bee', 'b', 'Bee', 'No author known', 'new'])
  })

  test('links to the files where there is no JavaScript', () => {
    const [, noscript = ''] = /<noscript>(.*?)<\/noscript>/s.exec(page().text) ?? []
    for (const file of ['rankings-daily.csv', 'rankings-daily.parquet', 'api/v1/datasets/rankings-daily.json'])
      expect(noscript).toContain(file)
  })

  test('has one first heading, three second ones, and no publisher that is markup', () => {
    const hostile = '"><script>alert(1)</script>'
    const { text } = page({ publisher: { ...MANIFEST.publisher, title: hostile }, attribution: hostile })
    expect([...text.matchAll(/<h([1-6])/g)].map(([, rank]) => rank)).toEqual(['1', '2', '3', '2', '2'])
    expect(text).not.toContain('<script>alert')
  })
})

test('the explorer reads a release from the history as it was, but none that the history does not have', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'history.parquet')
  const values = [
    ['daily', '2025-01-02', 'a', 1, null, 1, 'B', null],
    ['daily', '2025-01-01', 'b', 2, null, 2, 'A', 'C'],
    ['daily', '2025-01-01', 'a', 3, null, 1, 'B', null],
    ['daily', '2025-01-01', 'a', 4, null, 1, 'A', 'B'],
    ['daily', '2025-01-03', 'a', 5, null, 1, 'C', null],
    ['weekly', '2024-12-30', 'a', 6, 2, 1, 'B', null],
  ].map((row) => `(${row.map((value) => (typeof value === 'string' ? sqlText(value) : String(value))).join(', ')})`)
  await query(`COPY (
    SELECT * REPLACE (date::DATE AS date, total_tokens::BIGINT AS total_tokens)
    FROM (VALUES ${values.join(', ')}) AS t("table", date, model_permaslug, total_tokens, days, position, valid_from, valid_to)
  ) TO ${sqlText(path)} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {releases: 'A B C'})`)
  const file = Uint8Array.from(await readFile(path)).buffer
  const read = async (release: string, table: string) => {
    const rows = await readHistory(file, { release, table })
    return rows?.map(({ date, model_permaslug, total_tokens }) => `${date} ${model_permaslug} ${total_tokens}`)
  }
  expect(await read('B', 'daily')).toEqual(['2025-01-01 a 3', '2025-01-01 b 2', '2025-01-02 a 1'])
  expect(await read('B', 'weekly')).toEqual(['2024-12-30 a 6'])
  expect(await read('BB', 'daily')).toBeUndefined()
})

test('a build publishes the explorer, the files that it loads, and a Parquet file that it reads to the last digit', async () => {
  const big = 2n ** 53n - 1n
  const records = [
    { model_permaslug: 'a/"quoted", one', prompt_tokens: String(big), completion_tokens: String(big) },
    { model_permaslug: 'ünï/code', prompt_tokens: '3' },
    { timestamp: '2025-03-05T00:00:00Z', model_permaslug: 'b', prompt_tokens: '7' },
  ]
  const { workspace, csv } = await publish(records)
  const html = await readFile(join(workspace.publicDir, 'explore.html'), 'utf8')
  const links = html.matchAll(/(?:href|src|data-parquet)="(assets\/[^"]+|datasets[^"]+)"/g)
  const named = [...links].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(3)
  for (const path of named) expect(existsSync(join(workspace.publicDir, path)), path).toBe(true)
  const parquet = named.find((path) => path.endsWith('.parquet')) ?? ''
  const rows = await readRows(Uint8Array.from(await readFile(join(workspace.publicDir, parquet))).buffer)
  expect(csvOf(rows.map((row) => [row.date, row.model_permaslug, row.total_tokens]))).toBe(csv)
  expect(rows[0]).toEqual({ date: '2025-03-02', model_permaslug: 'a/"quoted", one', total_tokens: 2n * big })
})
