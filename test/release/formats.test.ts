/** The files of a release (docs/data-dictionary.md). */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { RankingRow } from '../../pipeline/contract/ranking.ts'
import { type DataFile, dataFile } from '../../pipeline/contract/release-files.ts'
import { PeriodRow, TABLES } from '../../pipeline/contract/tables.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { readWithJavaScript } from '../support/javascript-readers.ts'
import { toCsv } from '../support/oracle.ts'
import {
  buildIn,
  createWorkspace,
  crowd,
  datasetFolder,
  readLatest,
  removeWorkspace,
  sha256,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

const FORMS = ['csv', 'csv.gz', 'json.gz', 'ndjson.gz', 'parquet']
const RELEASE_FILES = [
  ...['CITATION.cff', 'LICENSE', 'README.md', 'SHA256SUMS', 'changes-monthly.csv', 'changes-weekly.csv', 'changes.csv'],
  ...['chart.svg', 'citation.bib', 'croissant.json', 'datapackage.json', 'dcat.jsonld', 'index.html', 'manifest.json'],
  ...['models.csv', 'provenance.json', 'quality.json'],
  ...['daily', 'monthly', 'weekly'].flatMap((table) => FORMS.map((form) => `rankings-${table}.${form}`)),
]

/** The first day is a week of its own. */
const ROWS = { daily: 51 + 7 + 51, weekly: 51 + 51, monthly: 51 }

/** Beyond the top 50 of days and weeks, and first of the month. */
const ONLY_MONTHLY = 'crowd/model-056'

const ODD = ['with,comma', 'with"quote', 'null', '007', 'caf\u00e9', 'emoji/\u{1f600}', 'fullwidth/\uff5e']
const RECORDS = [
  ...crowd(60, (index) => 9_007_199_254_740_991n - BigInt(index % 7), '2025-03-02'),
  ...crowd(60, () => 9_007_199_254_740_991n, '2025-03-02'),
  ...ODD.map((slug, index) => ({
    timestamp: '2025-03-03T12:00:00Z',
    model_permaslug: slug,
    prompt_tokens: String(index + 1),
  })),
  ...Array.from({ length: 51 }, (_, index) => ({
    timestamp: '2025-03-04T12:00:00Z',
    model_permaslug: index === 50 ? ONLY_MONTHLY : `late/${index}`,
    prompt_tokens: index === 50 ? '9007199254740990' : '9007199254740991',
  })),
]

describe('a release', () => {
  let workspace: Workspace
  let summary: BuildSummary
  let folder = ''
  let csv = ''

  beforeAll(async () => {
    workspace = await createWorkspace()
    return () => removeWorkspace(workspace)
  })

  it('has a folder named by its as_of', async () => {
    await writeSmallBuild(workspace, { sources: [{ records: RECORDS }] })
    summary = await buildIn(workspace, '2025-03-10T12:34:56Z')
    folder = join(datasetFolder(workspace), 'releases/20250310T123456Z')
    csv = await readFile(join(folder, 'rankings-daily.csv'), 'utf8')
  })

  it('has gzip files whose headers contain no name, no time and no operating system', async () => {
    const names = (await readdir(workspace.publicDir, { recursive: true })).filter((name) => name.endsWith('.gz'))
    expect(names.length).toBeGreaterThanOrEqual(3)
    // RFC 1952 § 2.3: magic number, deflate, no flags, four bytes of time, slowest compression or none said, unknown system.
    const headers = [2, 0].map((compression) => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, compression, 255]))
    for (const name of names) {
      const bytes = await readFile(join(workspace.publicDir, name))
      expect(headers, name).toContainEqual(bytes.subarray(0, 10))
    }
  })

  it('has canonical CSV: a header, minimal quoting, line feeds and no byte order mark', () => {
    const [header, first] = csv.split('\n')
    expect(header).toBe('date,model_permaslug,total_tokens')
    expect(first).toBe('2025-03-02,crowd/model-001,18014398509481982')
    expect(csv.slice(csv.indexOf('2025-03-03'), csv.indexOf('2025-03-04'))).toBe(
      [
        '2025-03-03,fullwidth/\uff5e,7',
        '2025-03-03,emoji/\u{1f600},6',
        '2025-03-03,caf\u00e9,5',
        '2025-03-03,007,4',
        '2025-03-03,null,3',
        '2025-03-03,"with""quote",2',
        '2025-03-03,"with,comma",1',
        '',
      ].join('\n'),
    )
  })

  it.each(TABLES)(
    'has the same rows of its %s table in CSV, compressed CSV, Parquet, NDJSON and JSON',
    async (table) => {
      const unzip = async (name: DataFile) => gunzipSync(await readFile(join(folder, name))).toString()
      const parquet = sqlText(join(folder, dataFile(table, 'parquet')))
      // The order of the rows in the file is part of what is published.
      const read = await query(
        `SELECT * REPLACE (date::VARCHAR AS date, total_tokens::VARCHAR AS total_tokens) FROM read_parquet(${parquet})`,
      )
      const rows = read.map((row) => (table === 'daily' ? RankingRow : PeriodRow).parse(row))
      const text = await readFile(join(folder, dataFile(table, 'csv')), 'utf8')
      expect(toCsv(rows)).toBe(text)
      expect(await unzip(dataFile(table, 'csv.gz'))).toBe(text)
      expect(await unzip(dataFile(table, 'ndjson.gz'))).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const body = JSON.parse(await unzip(dataFile(table, 'json.gz')))
      expect(Object.keys(body)).toEqual(['data', 'meta'])
      expect(body.data).toEqual(rows)
      expect(body.meta).toEqual({
        as_of: '2025-03-10T12:34:56Z',
        start_date: '2025-03-02',
        end_date: '2025-03-04',
        version: 'v1',
      })
    },
  )

  it('has a model that only weeks or months name in models.csv, and no page of it', async () => {
    const models = (await readFile(join(folder, 'models.csv'), 'utf8')).split('\n')
    expect(csv).not.toContain(ONLY_MONTHLY)
    expect(models).toHaveLength(1 + 50 + 7 + 50 + 1 + 1)
    expect(models.at(-2)).toBe(`${ONLY_MONTHLY},,,[],,,0,,,0`)
    const pages = await readdir(join(workspace.publicDir, 'models/crowd'))
    expect(pages.filter((name) => name.endsWith('.html'))).toHaveLength(50)
    expect(await readFile(join(workspace.publicDir, 'models.html'), 'utf8')).not.toContain(ONLY_MONTHLY)
  })

  // `test/clients/standards.test.ts` has the readers of Python.
  it.each(TABLES)('has a Parquet file of its %s table that hyparquet reads to the last digit', async (table) => {
    const manifest = await readManifest(folder)
    const { content_hash } = table === 'daily' ? manifest : (manifest.tables?.[table] ?? {})
    const types = ['Date', 'string', 'bigint', ...(table === 'daily' ? [] : ['number'])]
    expect(await readWithJavaScript(folder, table)).toMatchObject({ rows: ROWS[table], content_hash, types })
  })

  it('has every other file in SHA256SUMS, as `sha256sum -c` takes it, and in its manifest', async () => {
    const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
    const sums = new Map(lines.map((line) => [line.slice(66), line]))
    expect([...sums.keys()].toSorted()).toEqual(RELEASE_FILES.filter((name) => name !== 'SHA256SUMS'))
    for (const [name, line] of sums) expect(line).toBe(`${sha256(await readFile(join(folder, name)))}  ${name}`)
    const manifest = await readManifest(folder)
    const listed = manifest.files.map(({ path }) => path)
    expect([...listed, 'SHA256SUMS', 'manifest.json'].toSorted()).toEqual(RELEASE_FILES)
    for (const file of manifest.files) {
      const bytes = await readFile(join(folder, file.path))
      expect([file.path, file.bytes, file.sha256]).toEqual([file.path, bytes.length, sha256(bytes)])
      const table = TABLES.find((each) => file.path.startsWith(`rankings-${each}.`))
      if (table !== undefined) expect(file.rows).toBe(ROWS[table])
    }
    const facts = { rows: ROWS.daily, as_of: '2025-03-10T12:34:56Z', content_hash: `sha256:${sha256(csv)}` }
    expect(manifest).toMatchObject({ ...facts, synthetic: false, license: { name: 'CC-BY-4.0' } })
    expect(summary).toMatchObject({ ...facts, outcome: 'released', release: manifest.release })
    expect(await readLatest(workspace)).toMatchObject({ ...facts, path: `releases/${manifest.release}/` })
  })
})
