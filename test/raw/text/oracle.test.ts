/**
 * DuckDB is the oracle of what is summed while text is read: records that are plain count as DuckDB counts them, and all
 * others are left to it. A run tries 250,000 records: PROPERTY_RUNS=36 tries three million, PROPERTY_SEED=… others.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { Database } from '../../../pipeline/base/database.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { sourceColumns } from '../../../pipeline/raw/files/columns.ts'
import { Contents } from '../../../pipeline/raw/files/content.ts'
import { describeFile, type InputFile } from '../../../pipeline/raw/files/find.ts'
import { groupFiles } from '../../../pipeline/raw/files/group.ts'
import { linkFiles } from '../../../pipeline/raw/files/link.ts'
import { Source } from '../../../pipeline/raw/sources.ts'
import { layoutOf } from '../../../pipeline/raw/text/layout.ts'
import { PlainRecords, type TextForm } from '../../../pipeline/raw/text/records.ts'
import { countRecords } from '../../../pipeline/rollup/count.ts'
import {
  oddCsvRecord,
  oddJsonRecord,
  pick,
  type Random,
  randomFrom,
  usualJsonRecords,
  VALUES,
} from '../../support/odd-text.ts'
import { tries } from '../../support/property.ts'

const { numRuns, options } = tries({ share: 1 / 3 })
const COLUMNS = Object.keys(VALUES)
const RECORDS_PER_FILE = 2500
const FILES = 20

let folder = ''
let database: Database

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  const { signal } = new AbortController()
  database = await Database.open({ path: ':memory:', temporaryFolder: folder, memoryLimit: undefined, signal })
  return async () => {
    database.close()
    await rm(folder, { recursive: true, force: true })
  }
})

function sourceOf(settings: Record<string, unknown> = {}): Source {
  return Source.parse({ name: 'any', schema: 'canonical', files: ['*'], visibility: 'public', ...settings })
}

/** The sums of files: added up while they are read and kept on disk, or by DuckDB alone and kept in memory. */
async function countedOf(source: Source, files: readonly InputFile[], isSummed: boolean): Promise<string[]> {
  const { signal } = new AbortController()
  const wanted = sourceColumns(source)
  const layout = isSummed ? layoutOf(source) : undefined
  const contents = new Contents(files, { wanted, signal, onRead: () => {}, layout })
  const place = await mkdtemp(join(folder, 'links-'))
  const groups = await groupFiles(database, source, await linkFiles(files, place, { wanted, contents }))
  const room = { folder: join(place, 'more'), files: realFiles, ...(isSummed && { mostRows: 1 }) }
  await countRecords(database, source, groups, contents, { request: { onProgress: () => {} }, room })
  const path = join(place, 'sums')
  await database.execute(
    `COPY (SELECT * REPLACE (parse_filename(link) AS link) FROM core_all_sums ORDER BY ALL) TO '${path}' (FORMAT json)`,
  )
  return (await readFile(path, 'utf8')).split('\n')
}

async function written(name: string, content: string): Promise<InputFile> {
  const path = join(folder, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, content)
  return describeFile(path, name)
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Whether the records of a text are all plain. */
function isPlain(form: TextForm, text: string): boolean {
  const records = new PlainRecords(form)
  records.read(Buffer.from(text))
  return records.groups() !== undefined
}

/** A file of records that are plain each by itself, as the form of the file says. */
function plainFile(random: Random, source: Source, format: 'csv' | 'ndjson'): { text: string; kept: number } {
  const layout = layoutOf(source)
  if (layout === undefined) throw new Error('the source has no layout')
  const names = shuffled(random, COLUMNS).filter((column) => random() < 0.8 || needed.includes(column))
  const delimiter = pick(random, [',', ',', ';', '\t', '|'])
  const lineEnd = pick(random, ['\n', '\n', '\r\n'])
  const header = format === 'csv' ? `${names.join(delimiter)}${lineEnd}` : ''
  const form = format === 'csv' ? { ...layout, csv: { delimiter, names } } : layout
  const orders = Array.from({ length: 3 }, () => shuffled(random, names))
  const kept: string[] = []
  for (let record = 0; record < RECORDS_PER_FILE; record++) {
    const tag = `-${record}`
    const order = pick(random, orders)
    const text = format === 'csv' ? oddCsvRecord(random, names, delimiter, tag) : oddJsonRecord(random, order, tag)
    // A line of JSON is read by the order of the keys of those before it.
    const before =
      format === 'csv'
        ? header
        : usualJsonRecords(order)
            .map((line) => line + lineEnd)
            .join('')
    if (isPlain(form, before + text + lineEnd)) kept.push(text)
  }
  const [begin, end] = [random() < 0.1 ? '\ufeff' : '', random() < 0.5 ? lineEnd : '']
  return { text: begin + header + kept.join(lineEnd) + end, kept: kept.length }
}

const needed = ['timestamp', 'model_permaslug', 'prompt_tokens', 'completion_tokens']

it.each([
  ['csv', {}],
  ['ndjson', {}],
  ['csv', { contributors: 'exempt', note: 'ours', timezone: 'Europe/Paris' }],
  ['csv', { columns: { prompt_tokens: 'completion_tokens', completion_tokens: 'prompt_tokens' }, model: 'own/model' }],
  ['ndjson', { model: 'own/model', where: { note: { not: { equal: 'x' } } } }],
] as const)('records of %s that are summed at once count as DuckDB counts them, with %j', async (format, settings) => {
  const source = sourceOf(settings)
  for (let run = 0; run < numRuns; run++) {
    const random = randomFrom(options.seed + run)
    const files = Array.from({ length: FILES }, () => plainFile(random, source, format))
    const kept = files.reduce((sum, file) => sum + file.kept, 0)
    expect(kept / (FILES * RECORDS_PER_FILE)).toBeGreaterThan(0.4)
    const inputs = await Promise.all(
      files.map(({ text }, number) => written(`${format}${run}/${number}.${format}`, text)),
    )
    const summed = await countedOf(source, inputs, true)
    const read = await countedOf(source, inputs, false)
    const differing = read.findIndex((line, at) => line !== summed[at])
    expect(summed[differing]).toBe(read[differing])
    expect(summed.length).toBe(read.length)
  }
})
