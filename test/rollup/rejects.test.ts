/** Rejected records are kept with file, record number and reason (DESIGN.md §6.8), in a form that people and tools read. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Content, realFiles } from '../../pipeline/base/files.ts'
import type { RejectedRecord } from '../../pipeline/rollup/list-rejects.ts'
import { buildIn, newWorkspace, type Workspace, writeInput } from '../support/pipeline.ts'
import { compress, query, sqlText } from '../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const GOOD = '2025-03-02T12:00:00Z,acme/one,1,2'
const GOOD_JSON = JSON.stringify({
  timestamp: '2025-03-02T12:00:00Z',
  model_permaslug: 'acme/one',
  prompt_tokens: 1,
  completion_tokens: 2,
})
const BAD_JSON = GOOD_JSON.replace('2025-03-02T12:00:00Z', 'soon')

/** A workspace whose one public source, `s`, is `files`, by name and content. */
async function workspaceOf(files: Record<string, string | Uint8Array>): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  const source = { name: 's', schema: 'canonical', files: Object.keys(files), visibility: 'public' }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
  return workspace
}

function rejectsFolder(workspace: Workspace): string {
  return join(workspace.dataDir, 'state/rejects')
}

/** What is kept after the last build, ordered by file. */
async function readRejects(workspace: Workspace): Promise<RejectedRecord[]> {
  const folder = rejectsFolder(workspace)
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  const records = texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => JSON.parse(line))
  return records.toSorted((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1))
}

/** Number, reason and content of what one build of these files rejects of each. */
async function rejectsOfEach(files: Record<string, string | Uint8Array>): Promise<Record<string, unknown[]>> {
  const workspace = await workspaceOf(files)
  const { records } = await buildIn(workspace)
  const rejects = await readRejects(workspace)
  expect(Object.values(records.rejected).reduce((sum, count) => sum + count, 0)).toBe(rejects.length)
  expect(rejects.filter(({ file }) => !(file in files))).toEqual([])
  const ofEach = Object.keys(files).map((name) => {
    const ofFile = rejects.filter(({ file }) => file === name)
    return [name, ofFile.map(({ record, reason, content }) => [record, reason, content])]
  })
  return Object.fromEntries(ofEach)
}

/** The same of one file. */
async function rejectsOf(name: string, content: string | Uint8Array): Promise<unknown[] | undefined> {
  return (await rejectsOfEach({ [name]: content }))[name]
}

/** What of each of these files is as expected. */
function eachOf<Expected>(names: readonly string[], expected: Expected): Record<string, Expected> {
  return Object.fromEntries(names.map((name) => [name, expected]))
}

/** CSV records as an object of their columns. */
function fields(line: string): Record<string, string> {
  const names = HEADER.split(',')
  return Object.fromEntries(line.split(',').map((value, position) => [names[position], value]))
}

describe('rejected records of NDJSON', () => {
  it('are kept with the number and text of their line, however the file is compressed', async () => {
    const text = `${BAD_JSON}\n${GOOD_JSON}\n{"timestamp": \n[1]\n${GOOD_JSON}\n42\n`
    const names = ['a.ndjson', 'a.ndjson.gz', 'a.ndjson.zst']
    const files = Object.fromEntries(names.map((name) => [name, compress(name, text)]))
    expect(await rejectsOfEach(files)).toEqual(
      eachOf(names, [
        [1, 'invalid_timestamp', BAD_JSON],
        [3, 'malformed_record', '{"timestamp": '.trimEnd()],
        [4, 'malformed_record', '[1]'],
        [6, 'malformed_record', '42'],
      ]),
    )
  })

  it('have the number that an editor shows', async () => {
    const texts = {
      'blank lines': `\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{\n`,
      CRLF: `\r\n${GOOD_JSON}\r\n\r\n  \t\r\n${BAD_JSON}\r\n\r\n{\r\n`,
      'line ends of both kinds': `\r\n${GOOD_JSON}\n\n  \t\r\n${BAD_JSON}\n\r\n{\n`,
      'a byte order mark': `\ufeff\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{\n`,
      'no line end at the end': `\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{`,
    }
    const files = Object.fromEntries(
      Object.entries(texts).flatMap(([what, text]) =>
        ['ndjson', 'ndjson.gz'].map((ending) => [`${what}.${ending}`, compress(ending, text)]),
      ),
    )
    expect(await rejectsOfEach(files)).toEqual(
      eachOf(Object.keys(files), [
        [5, 'invalid_timestamp', BAD_JSON],
        [7, 'malformed_record', '{'],
      ]),
    )
  })

  it('may hold bytes that are no UTF-8', async () => {
    const broken = Buffer.from(BAD_JSON.replace('acme', '\xff'), 'latin1')
    const bytes = Buffer.concat([Buffer.from(`${GOOD_JSON}\n`), broken, Buffer.from(`\n${BAD_JSON}\n`)])
    expect(await rejectsOf('a.ndjson', bytes)).toEqual([
      [2, 'malformed_record', BAD_JSON.replace('acme', '\ufffd')],
      [3, 'invalid_timestamp', BAD_JSON],
    ])
  })
})

describe('rejected records of CSV', () => {
  const bad = (number: number) => `soon,acme/${number},1,2`

  it('are kept with their number and what each column said, however the file is compressed', async () => {
    const text = `${HEADER}\n${GOOD}\n${bad(2)}\n${GOOD}\n2025-03-02,=x,1,\n`
    const names = ['a.csv', 'a.csv.gz', 'a.csv.zst']
    const files = Object.fromEntries(names.map((name) => [name, compress(name, text)]))
    expect(await rejectsOfEach(files)).toEqual(
      eachOf(names, [
        [2, 'invalid_timestamp', fields(bad(2))],
        [4, 'invalid_model', fields('2025-03-02,=x,1,')],
      ]),
    )
  })

  it('have the right number among malformed ones, whatever ends a line', async () => {
    const records = [bad(1), 'one,two', bad(3), GOOD, '1,2,3,4,5', 'x,y,z', bad(7), `2025-03-02,"a\n\n,b",1,1`, bad(9)]
    const withEnds = (newline: string) => [HEADER, ...records, ''].join(newline)
    expect(await rejectsOfEach({ 'LF.csv': withEnds('\n'), 'CRLF.csv': withEnds('\r\n') })).toEqual(
      eachOf(
        ['LF.csv', 'CRLF.csv'],
        [
          [1, 'invalid_timestamp', fields(bad(1))],
          [2, 'malformed_record', 'one,two'],
          [3, 'invalid_timestamp', fields(bad(3))],
          [5, 'malformed_record', '1,2,3,4,5'],
          [6, 'malformed_record', 'x,y,z'],
          [7, 'invalid_timestamp', fields(bad(7))],
          [8, 'invalid_model', { ...fields('2025-03-02,,1,1'), model_permaslug: 'a\n\n,b' }],
          [9, 'invalid_timestamp', fields(bad(9))],
        ],
      ),
    )
  })

  it('count no empty line', async () => {
    const text = `${HEADER}\n\n${GOOD}\n\n\none,two\n\n${bad(3)}\n\nx\n${bad(5)}\n\n`
    expect(await rejectsOf('a.csv', text)).toEqual([
      [2, 'malformed_record', 'one,two'],
      [3, 'invalid_timestamp', fields(bad(3))],
      [4, 'malformed_record', 'x'],
      [5, 'invalid_timestamp', fields(bad(5))],
    ])
  })

  it('name their columns so that none is lost', async () => {
    const text = `${HEADER},,note,note\nsoon,acme/one,1,2,a,b,c\n${GOOD},a,b,c\n`
    const columns = { 'column 5': 'a', note: 'b', 'note (column 7)': 'c' }
    expect(await rejectsOf('a.csv', `\ufeff${text}`)).toEqual([
      [1, 'invalid_timestamp', { ...fields('soon,acme/one,1,2'), ...columns }],
    ])
  })

  it('may hold bytes that are no UTF-8 and quotes out of place', async () => {
    const broken = Buffer.from(`2025-03-02,acme/\xff,1,2\n`, 'latin1')
    const bytes = Buffer.concat([
      Buffer.from(`${HEADER}\n`),
      broken,
      Buffer.from(`${GOOD}\n"2025"x,a,1,1\n${bad(4)}\n`),
    ])
    expect(await rejectsOf('a.csv', bytes)).toEqual([
      [1, 'malformed_record', '2025-03-02,acme/\ufffd,1,2'],
      [3, 'malformed_record', '"2025"x,a,1,1'],
      [4, 'invalid_timestamp', fields(bad(4))],
    ])
  })
})

describe('rejected records of Parquet', () => {
  it('are kept with the number of their row and what each column said', async () => {
    const workspace = await workspaceOf({ 'a.parquet': '' })
    await query(
      `COPY (
         SELECT TIMESTAMPTZ '2025-03-02 12:00:00Z' AS timestamp, 'acme/one' AS model_permaslug,
           CASE WHEN i IN (2, 250000) THEN -i ELSE i END AS prompt_tokens, NULL::BIGINT AS completion_tokens, [i] AS list
         FROM range(1, 250001) t(i)
       ) TO ${sqlText(join(workspace.input, 'a.parquet'))} (FORMAT parquet, ROW_GROUP_SIZE 20000)`,
    )
    await buildIn(workspace)
    const said = { model_permaslug: 'acme/one', completion_tokens: null }
    expect(await readRejects(workspace)).toEqual(
      [2, 250_000].map((record) => ({
        source: 's',
        file: 'a.parquet',
        record,
        reason: 'invalid_token_count',
        content: { timestamp: '2025-03-02 12:00:00+00', ...said, prompt_tokens: `-${record}`, list: `[${record}]` },
      })),
    )
  })
})

describe('rejected records of large files', () => {
  const RECORDS = 250_000
  const EVERY = 12_345
  const numbers = Array.from({ length: Math.floor(RECORDS / EVERY) }, (_, index) => (index + 1) * EVERY)

  const csvLine = (index: number) =>
    index % EVERY !== 0
      ? `2025-03-02T12:00:00Z,acme/one,${index},${'2'.padStart(9)}`
      : index % 2 === 0
        ? `soon,${index},1,2`
        : `malformed,${index}`
  const csv = `${HEADER}\n${Array.from({ length: RECORDS }, (_, index) => `${csvLine(index + 1)}\n`).join('')}`

  it('have the right number in CSV, plain and compressed', async () => {
    expect(csv.length).toBeGreaterThan(10_000_000)
    const endings = ['.csv', '.csv.gz', '.csv.zst']
    const workspace = await workspaceOf(
      Object.fromEntries(endings.map((ending) => [`usage${ending}`, compress(ending, csv)])),
    )
    await buildIn(workspace)
    const found = (await readRejects(workspace)).map(({ file, record, content }) => [file, record, content])
    const expected = endings.flatMap((ending) =>
      numbers.map((number) => [
        `usage${ending}`,
        number,
        number % 2 === 0 ? fields(`soon,${number},1,2`) : `malformed,${number}`,
      ]),
    )
    expect(found).toEqual(expected)
  })

  it('have the right number in NDJSON', async () => {
    const line = (number: number) => (number % EVERY === 0 ? `{"number": ${number}}` : GOOD_JSON)
    const text = Array.from({ length: RECORDS }, (_, index) => `${line(index + 1)}\n`).join('')
    expect(text.length).toBeGreaterThan(10_000_000)
    expect(await rejectsOf('a.ndjson', text)).toEqual(
      numbers.map((number) => [number, 'invalid_timestamp', `{"number": ${number}}`]),
    )
  })
})

describe('the files of rejected records', () => {
  it('are one for each raw file that has any, under names of our own', async () => {
    const odd = ["it's; DROP TABLE x --.csv", '../input/\u{1f600} {a,b} [1]*.csv', `${'long'.repeat(50)}.csv`]
    const text = `${HEADER}\n${GOOD}\nsoon,a,1,1\n`
    const workspace = await workspaceOf({
      ...Object.fromEntries(odd.map((name) => [name, text])),
      'clean.csv': `${HEADER}\n${GOOD}\n`,
    })
    await buildIn(workspace)
    const names = await readdir(rejectsFolder(workspace))
    expect(names).toHaveLength(odd.length)
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}\.ndjson$/)
    const files = (await readRejects(workspace)).map(({ file }) => file)
    expect(files).toEqual(odd.map((name) => name.replace('../input/', '')).toSorted())
  })

  it('are those of the last build alone', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${GOOD}\nsoon,a,1,1\n`, 'b.csv': `${HEADER}\nx\n` })
    await buildIn(workspace)
    await writeInput(workspace, 'a.csv', `${HEADER}\n${GOOD}\n`)
    await writeInput(workspace, 'b.csv', `${HEADER}\ny\n`)
    await buildIn(workspace)
    expect(await readRejects(workspace)).toEqual([
      { source: 's', file: 'b.csv', record: 1, reason: 'malformed_record', content: 'y' },
    ])
  })

  it('go with their raw file, and come back when they were removed', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${GOOD}\nx\n`, 'b.csv': `${HEADER}\ny\n` })
    await buildIn(workspace)
    const source = { name: 's', schema: 'canonical', files: ['*.csv'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, on_missing: 'remove', sources: [source] })
    await rm(join(workspace.input, 'b.csv'))
    await buildIn(workspace)
    expect((await readRejects(workspace)).map(({ file }) => file)).toEqual(['a.csv'])
    await rm(rejectsFolder(workspace), { recursive: true })
    await buildIn(workspace)
    expect((await readRejects(workspace)).map(({ file }) => file)).toEqual(['a.csv'])
  })

  it('are never half written', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${GOOD}\nx\n` })
    const files = {
      ...realFiles,
      write: async (path: string, content: Content) => {
        if (!path.includes('rejects')) return realFiles.write(path, content)
        await realFiles.write(path, 'half of i')
        throw new Error('the disk is full')
      },
    }
    await expect(buildIn(workspace, undefined, { files })).rejects.toThrow('the disk is full')
    expect(await readdir(rejectsFolder(workspace))).toEqual([])
  })

  it('are kept although the build rejects too much', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${GOOD}\nx\n` })
    const source = { name: 's', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await expect(buildIn(workspace)).rejects.toThrow(/max_rejected_share/)
    expect(await readRejects(workspace)).toHaveLength(1)
  })
})
