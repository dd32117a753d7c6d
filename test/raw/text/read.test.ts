/** A text file has the same hash, shape and faults whether its records are summed or not. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeFile } from '../../../pipeline/raw/files/find.ts'
import { groupRows } from '../../../pipeline/raw/text/groups.ts'
import { membersOf } from '../../../pipeline/raw/text/members.ts'
import { readText, type TextContent, type TextFile } from '../../../pipeline/raw/text/read.ts'
import { TextThreads } from '../../../pipeline/raw/text/threads.ts'
import { oddCsvRecord, oddJsonRecord, pick, randomFrom } from '../../support/odd-text.ts'
import { tries } from '../../support/property.ts'

const COLUMNS = [
  { name: 'timestamp', column: 'timestamp', role: 'timestamp' },
  { name: 'model_permaslug', column: 'model_permaslug', role: 'key' },
  { name: 'prompt_tokens', column: 'prompt_tokens', role: 'prompt' },
  { name: 'completion_tokens', column: 'completion_tokens', role: 'completion' },
] as const
const NAMES = COLUMNS.map(({ name }) => name)
const HEADER = NAMES.join(',')
const NOON = '2025-03-02T12:00:00Z'
const ROW = `${NOON},a/b,1,2`
const JSON_ROW = `{"timestamp":"${NOON}","model_permaslug":"a/b","prompt_tokens":1,"completion_tokens":2}`

it('records with very many members are left to DuckDB: to know the order of each would take minutes', () => {
  const lineOf = (members: number) =>
    Buffer.from(`{${Array.from({ length: members }, (_, key) => `"${key}":1`).join()}}\n`)
  expect(membersOf(lineOf(1000), 0)?.names).toHaveLength(1000)
  expect(membersOf(lineOf(1001), 0)).toBeUndefined()
})

let folder = ''
let threads: TextThreads

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  threads = new TextThreads(1)
})

afterAll(async () => {
  await threads.close()
  await rm(folder, { recursive: true, force: true })
})

async function textFile(name: string, content: string | Uint8Array): Promise<TextFile> {
  const path = join(folder, name)
  await writeFile(path, content)
  const file = await describeFile(path, name)
  const csv = file.format === 'csv' ? { delimiter: ',', names: NAMES } : undefined
  return { file, delimiter: csv?.delimiter, form: { columns: COLUMNS, isUtc: true, ...(csv && { csv }) } }
}

type Outcome = Partial<TextContent> & { fault?: string }

async function outcomeOf(reading: Promise<TextContent>): Promise<Outcome> {
  try {
    return await reading
  } catch (error) {
    return { fault: String(error) }
  }
}

const reading = { signal: new AbortController().signal, onRead: () => {} }

/** What is read with sums, in this thread; it has to be the same without them, and in another thread. */
async function read(name: string, content: string | Uint8Array): Promise<Outcome> {
  const file = await textFile(name, content)
  const summed = await outcomeOf(readText(file, reading))
  const { groups, ...others } = summed
  expect({ groups: undefined, ...others }).toEqual({
    groups: undefined,
    ...(await outcomeOf(readText({ ...file, form: undefined }, reading))),
  })
  expect(await outcomeOf(threads.read(file, () => {}))).toEqual(summed)
  return summed
}

it.each<[what: string, name: string, content: string | Uint8Array, records: bigint]>([
  ['CSV without a last line end', 'a.csv', `${HEADER}\n${ROW}\n${ROW}`, 2n],
  ['CSV with a byte order mark, CRLF and blank lines', 'a.csv', `\ufeff${HEADER}\r\n${ROW}\r\n\r\n${ROW}\r\n\r\n`, 2n],
  ['CSV in quotes', 'a.csv', `"${HEADER.replaceAll(',', '","')}"\n"${ROW.replaceAll(',', '","')}"\n${ROW}\n`, 2n],
  ['CSV without records', 'a.csv', `${HEADER}\n`, 0n],
  ['NDJSON with a blank line', 'a.ndjson', `${JSON_ROW}\n\n${JSON_ROW}`, 2n],
  ['NDJSON with a byte order mark and two kinds of line ends', 'a.ndjson', `\ufeff${JSON_ROW}\r\n${JSON_ROW}\n`, 2n],
  ['NDJSON without records', 'a.ndjson', '', 0n],
  ['gzip', 'a.csv.gz', gzipSync(`${HEADER}\n${ROW}\n`), 1n],
  [
    'gzip of two members',
    'a.csv.gz',
    Buffer.concat([gzipSync(`${HEADER}\n${ROW.slice(0, 9)}`), gzipSync(`${ROW.slice(9)}\n${ROW}`)]),
    2n,
  ],
])('sums all records of %s', async (_, name, content, records) => {
  const { groups } = await read(name, content)
  expect([...groupRows(groups ?? expect.fail('not summed'))].reduce((sum, group) => sum + group.records, 0n)).toBe(
    records,
  )
})

it.each<[what: string, name: string, content: string | Uint8Array]>([
  ['an empty CSV file', 'a.csv', ''],
  ['a header without a line end', 'a.csv', HEADER],
  ['line ends of CR alone', 'a.csv', `${HEADER}\r${ROW}\r`],
  ['line ends of two kinds', 'a.csv', `${HEADER}\n${ROW}\r\n`],
  ['a field too many', 'a.csv', `${HEADER}\n${ROW},\n`],
  ['a wrong count', 'a.csv', `${HEADER}\n${ROW}\n"${NOON}",a/b,"1",2x\n${ROW}\n`],
  ['a line end and a quote within quotes', 'a.csv', `${HEADER}\n${ROW}\n${NOON},"a\n""b",1,2\n${ROW}`],
  ['a quote that is never closed', 'a.csv', `${HEADER}\n${ROW}\n${NOON},"a,1,2\n${ROW}`],
  [
    'bytes that are not UTF-8',
    'a.csv',
    Buffer.concat([Buffer.from(`${HEADER}\n${NOON},`), Buffer.from([0xff]), Buffer.from(',1,2\n')]),
  ],
  ['a record of five megabytes', 'a.csv', `${HEADER}\n${NOON},${'x'.repeat(5_000_000)},1,2\n${ROW}\n`],
  [
    'more models than are summed',
    'a.csv',
    `${HEADER}\n${Array.from({ length: 20_001 }, (_, model) => `${NOON},${model},1,2\n`).join('')}`,
  ],
  ['a repeated key', 'a.ndjson', `${JSON_ROW}\n${JSON_ROW.slice(0, -1)},"prompt_tokens":7}\n${JSON_ROW}`],
  ['a byte order mark within the file', 'a.ndjson', `${JSON_ROW}\n\ufeff${JSON_ROW}\n`],
  ['a line that is a list', 'a.ndjson', `${JSON_ROW}\n[]\n`],
  ['gzip that is cut', 'a.csv.gz', gzipSync(`${HEADER}\n${ROW}\n`).subarray(0, -9)],
  ['zeros after gzip', 'a.csv.gz', Buffer.concat([gzipSync(`${HEADER}\n${ROW}\n`), Buffer.alloc(512)])],
  ['a byte after gzip', 'a.ndjson.gz', Buffer.concat([gzipSync(`${JSON_ROW}\n`), Buffer.from('x')])],
])('leaves %s to DuckDB', async (_, name, content) => {
  expect((await read(name, content)).groups).toBeUndefined()
})

const { numRuns, options } = tries()

it.each(['csv', 'ndjson'])('odd files of %s have the same hash, shape and faults', async (format) => {
  for (let run = 0; run < 100 * numRuns; run++) {
    const random = randomFrom(options.seed + run)
    const length = Math.floor(random() * 60)
    const usual = format === 'csv' ? ROW : JSON_ROW
    const records = Array.from({ length }, () => {
      if (random() < 0.7) return usual
      return format === 'csv' ? oddCsvRecord(random, NAMES, ',', '') : oddJsonRecord(random, NAMES, '')
    })
    const lineEnd = pick(random, ['\n', '\n', '\n', '\r\n', '\r'])
    const lines = [...(format === 'csv' ? [HEADER] : []), ...records]
    const text = lines.map((line) => line + (random() < 0.01 ? pick(random, ['\n', '\r\n', '\r']) : lineEnd)).join('')
    await read(`odd.${format}`, random() < 0.3 ? text.trimEnd() : text)
  }
})
