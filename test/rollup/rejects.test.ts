/** Rejected records are kept with file, record number and reason, in a form that people and tools read. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Content, realFiles } from '../../pipeline/base/files.ts'
import { type RejectedRecord, readRejects } from '../../pipeline/rollup/list-rejects.ts'
import { Gateway, use, useOn } from '../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  type Workspace,
  workspaceOf as workspaceWith,
  writeInput,
  writeSource,
} from '../support/pipeline.ts'
import { compress, type FileRecord, query, sqlText } from '../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const GOOD = '2025-03-02T12:00:00Z,acme/one,1,2'
const GOOD_JSON = JSON.stringify({
  timestamp: '2025-03-02T12:00:00Z',
  model_permaslug: 'acme/one',
  prompt_tokens: 1,
  completion_tokens: 2,
})
const BAD_JSON = GOOD_JSON.replace('2025-03-02T12:00:00Z', 'soon')

type Contents = Record<string, string | Uint8Array>

const workspaceOf = (files: Contents, top = {}) => workspaceWith(files, {}, { max_rejected_share: 1, ...top })

function rejectsFolder(workspace: Workspace): string {
  return join(workspace.dataDir, 'state/rejects')
}

/** What is kept after the last build, ordered by file. */
async function rejectsIn(workspace: Workspace): Promise<RejectedRecord[]> {
  const records = await Array.fromAsync(readRejects(workspace.dataDir))
  return records.toSorted((a, b) => Number(a.file > b.file) - Number(a.file < b.file))
}

/** CSV records as an object of their columns. */
function fields(line: string): Record<string, string> {
  const names = HEADER.split(',')
  return Object.fromEntries(line.split(',').map((value, position) => [names[position], value]))
}

const bad = (number: number) => `soon,acme/${number},1,2`
const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** Files whose records are rejected: content, and number, reason and content of each. */
type Rejects = [record: number, reason: string, content: unknown][]
interface Case {
  what: string
  files: Contents
  rejects: Rejects
}

const NDJSON = `${BAD_JSON}\n${GOOD_JSON}\n{"timestamp": \n[1]\n${GOOD_JSON}\n42\n`
const CSV = `${HEADER}\n${GOOD}\n${bad(2)}\n${GOOD}\n2025-03-02,=x,1,\n`
const MIXED = [bad(1), 'one,two', bad(3), GOOD, '1,2,3,4,5', 'x,y,z', bad(7), `2025-03-02,"a\n\n,b",1,1`, bad(9)]
const mixedCsv = (newline: string) => [HEADER, ...MIXED, ''].join(newline)
const compressed = (name: string, text: string): Contents =>
  Object.fromEntries(['', '.gz', '.zst'].map((ending) => [`${name}${ending}`, compress(ending, text)]))

const CASES: Case[] = [
  {
    what: 'keeps lines of NDJSON with number and text, however the file is compressed',
    files: compressed('lines.ndjson', NDJSON),
    rejects: [
      [1, 'invalid_timestamp', BAD_JSON],
      [3, 'malformed_record', '{"timestamp":'],
      [4, 'malformed_record', '[1]'],
      [6, 'malformed_record', '42'],
    ],
  },
  {
    what: 'numbers lines of NDJSON as an editor does',
    files: {
      'blank-lines.ndjson': `\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{\n`,
      'crlf.ndjson': `\r\n${GOOD_JSON}\r\n\r\n  \t\r\n${BAD_JSON}\r\n\r\n{\r\n`,
      'both-line-ends.ndjson': `\r\n${GOOD_JSON}\n\n  \t\r\n${BAD_JSON}\n\r\n{\n`,
      'byte-order-mark.ndjson': `\ufeff\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{\n`,
      'no-last-line-end.ndjson': `\n${GOOD_JSON}\n\n  \t\n${BAD_JSON}\n\n{`,
      'compressed.ndjson.gz': compress('.gz', `\r\n${GOOD_JSON}\n\n  \t\r\n${BAD_JSON}\n\r\n{`),
    },
    rejects: [
      [5, 'invalid_timestamp', BAD_JSON],
      [7, 'malformed_record', '{'],
    ],
  },
  {
    what: 'keeps lines of NDJSON that are not UTF-8',
    files: {
      'latin1.ndjson': Buffer.concat([
        Buffer.from(`${GOOD_JSON}\n`),
        latin1(BAD_JSON.replace('acme', '\xff')),
        Buffer.from(`\n${BAD_JSON}\n`),
      ]),
    },
    rejects: [
      [2, 'malformed_record', BAD_JSON.replace('acme', '\ufffd')],
      [3, 'invalid_timestamp', BAD_JSON],
    ],
  },
  {
    what: 'keeps CSV records with number and columns, however the file is compressed',
    files: compressed('columns.csv', CSV),
    rejects: [
      [2, 'invalid_timestamp', fields(bad(2))],
      [4, 'invalid_model', fields('2025-03-02,=x,1,')],
    ],
  },
  {
    what: 'numbers CSV records among malformed ones, whatever ends a line',
    files: { 'lf.csv': mixedCsv('\n'), 'crlf.csv': mixedCsv('\r\n') },
    rejects: [
      [1, 'invalid_timestamp', fields(bad(1))],
      [2, 'malformed_record', 'one,two'],
      [3, 'invalid_timestamp', fields(bad(3))],
      [5, 'malformed_record', '1,2,3,4,5'],
      [6, 'malformed_record', 'x,y,z'],
      [7, 'invalid_timestamp', fields(bad(7))],
      [8, 'invalid_model', { ...fields('2025-03-02,,1,1'), model_permaslug: 'a\n\n,b' }],
      [9, 'invalid_timestamp', fields(bad(9))],
    ],
  },
  {
    what: 'does not number empty lines of CSV',
    files: { 'empty-lines.csv': `${HEADER}\n\n${GOOD}\n\n\none,two\n\n${bad(3)}\n\nx\n${bad(5)}\n\n` },
    rejects: [
      [2, 'malformed_record', 'one,two'],
      [3, 'invalid_timestamp', fields(bad(3))],
      [4, 'malformed_record', 'x'],
      [5, 'invalid_timestamp', fields(bad(5))],
    ],
  },
  {
    what: 'keeps every column of CSV, also without a name or with the same name',
    files: { 'names.csv': `\ufeff${HEADER},,note,note\nsoon,acme/one,1,2,a,b,c\n${GOOD},a,b,c\n` },
    rejects: [
      [1, 'invalid_timestamp', { ...fields('soon,acme/one,1,2'), 'column 5': 'a', note: 'b', 'note (column 7)': 'c' }],
    ],
  },
  {
    what: 'keeps CSV records that have misplaced quotes',
    files: { 'quotes.csv': `${HEADER}\n${GOOD}\n"2025"x,a,1,1\n${bad(4)}\n` },
    rejects: [
      [2, 'malformed_record', '"2025"x,a,1,1'],
      [3, 'invalid_timestamp', fields(bad(4))],
    ],
  },
]

/** Names that only quoting makes harmless. */
const ODD_NAMES = ["it's; DROP TABLE x --.csv", '\u{1f600} {a,b} [1]*.csv', `${'long'.repeat(50)}.csv`]

describe('rejected records', () => {
  let original: Workspace
  let found: Map<string, Rejects>

  beforeAll(async () => {
    original = await createWorkspace()
    const odd = ODD_NAMES.map((name) => [name, `${HEADER}\n${GOOD}\n${bad(2)}\n`])
    const files = Object.assign({ 'clean.csv': `${HEADER}\n${GOOD}\n` }, ...CASES.map((each) => each.files))
    for (const [name, content] of [...Object.entries(files), ...odd]) await writeInput(original, `raw/${name}`, content)
    await writeSource(original, ['raw/*'], {}, { max_rejected_share: 1 })
    const { records } = await buildIn(original)
    const rejects = await rejectsIn(original)
    expect(Object.values(records.rejected).reduce((sum, count) => sum + count, 0)).toBe(rejects.length)
    found = new Map()
    for (const { file, record, reason, content } of rejects) {
      const name = file.replace('raw/', '')
      found.set(name, [...(found.get(name) ?? []), [record, reason, content]])
    }
  })

  afterAll(() => removeWorkspace(original))

  it.each(CASES.map((each) => [each.what, each] as const))('%s', (_, { files, rejects }) => {
    for (const name of Object.keys(files)) expect(found.get(name), name).toEqual(rejects)
  })

  it('are in a file of their own for each raw file that has any, under names without those of raw files', async () => {
    expect([...found.keys()].toSorted()).toEqual(
      [...CASES.flatMap((each) => Object.keys(each.files)), ...ODD_NAMES].toSorted(),
    )
    const names = await readdir(rejectsFolder(original))
    expect(names).toHaveLength(found.size)
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}\.ndjson$/)
  })

  it('are kept with row number and columns of Parquet', async () => {
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
    expect(await rejectsIn(workspace)).toEqual(
      [2, 250_000].map((record) => ({
        source: 's',
        file: 'a.parquet',
        record,
        reason: 'invalid_token_count',
        content: { timestamp: '2025-03-02 12:00:00+00', ...said, prompt_tokens: `-${record}`, list: `[${record}]` },
      })),
    )
  })

  it('have their numbers in files of more than 10 MB', async () => {
    const [count, every] = [250_000, 12_345]
    const lines = (line: (number: number) => string) =>
      Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('')
    const csvLine = (number: number) => {
      if (number % every !== 0) return `2025-03-02T12:00:00Z,acme/one,${number},${'2'.padStart(9)}`
      return number % 2 === 0 ? `soon,${number},1,2` : `malformed,${number}`
    }
    const csv = `${HEADER}\n${lines(csvLine)}`
    const ndjson = lines((number) => (number % every === 0 ? `{"number": ${number}}` : GOOD_JSON))
    for (const text of [csv, ndjson]) expect(text.length).toBeGreaterThan(10_000_000)
    const workspace = await workspaceOf({ 'a.csv': csv, 'b.csv.zst': compress('.zst', csv), 'c.ndjson': ndjson })
    await buildIn(workspace)
    const numbers = Array.from({ length: Math.floor(count / every) }, (_, index) => (index + 1) * every)
    const ofCsv = (number: number) => (number % 2 === 0 ? fields(`soon,${number},1,2`) : `malformed,${number}`)
    expect((await rejectsIn(workspace)).map(({ file, record, content }) => [file, record, content])).toEqual([
      ...numbers.map((number) => ['a.csv', number, ofCsv(number)]),
      ...numbers.map((number) => ['b.csv.zst', number, ofCsv(number)]),
      ...numbers.map((number) => ['c.ndjson', number, `{"number": ${number}}`]),
    ])
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

  it('are kept although the build rejects too many', async () => {
    const workspace = await workspaceOf({ 'a.csv': `${HEADER}\n${GOOD}\nx\n` }, { max_rejected_share: 0.01 })
    await expect(buildIn(workspace)).rejects.toThrow(/max_rejected_share.*tokenboard rejects/)
    expect(await rejectsIn(workspace)).toHaveLength(1)
  })
})

describe('rejected records of later builds', () => {
  const RIGHT = use('acme/one', 1)
  const BAD_TIME: FileRecord = { ...RIGHT, timestamp: 'soon' }
  const BAD_COUNT: FileRecord = { ...RIGHT, prompt_tokens: '-1' }
  const BAD_MODEL: FileRecord = { ...RIGHT, model_permaslug: '=one' }

  async function listed({ workspace }: Gateway): Promise<string[]> {
    return (await Array.fromAsync(readRejects(workspace.dataDir))).map((record) => JSON.stringify(record)).sort()
  }

  function place(line: string): string {
    const { file, record, reason } = JSON.parse(line)
    return `${file} ${record} ${reason}`
  }

  it('stay listed if their files are not read again, and follow those that are new, changed, renamed and removed', async () => {
    const gateway = new Gateway(await newWorkspace())
    await gateway.configure({ max_rejected_share: 1 })
    await gateway.deliver('a.csv', [RIGHT, BAD_TIME])
    await gateway.deliver('b.ndjson.gz', [BAD_COUNT, RIGHT])
    await gateway.deliver('c.parquet', [RIGHT, RIGHT, BAD_MODEL])
    const expected = [
      'raw/a.csv 2 invalid_timestamp',
      'raw/b.ndjson.gz 1 invalid_token_count',
      'raw/c.parquet 3 invalid_model',
    ]
    await gateway.build()
    expect((await listed(gateway)).map(place)).toEqual(expected)
    await gateway.build()
    expect((await listed(gateway)).map(place)).toEqual(expected)
    await rm(rejectsFolder(gateway.workspace), { recursive: true })
    await gateway.build()
    expect((await listed(gateway)).map(place)).toEqual(expected)
    await gateway.deliver('a.csv', [BAD_COUNT, RIGHT, useOn('2025-03-03', 'acme/one', 1), BAD_TIME])
    await gateway.rename('b.ndjson.gz', 'renamed.ndjson.gz')
    await gateway.deliver('c.parquet', [RIGHT, RIGHT, RIGHT])
    await gateway.deliver('d.csv.zst', [BAD_MODEL])
    await gateway.build()
    expect((await listed(gateway)).map(place)).toEqual([
      'raw/a.csv 1 invalid_token_count',
      'raw/a.csv 4 invalid_timestamp',
      'raw/d.csv.zst 1 invalid_model',
      'raw/renamed.ndjson.gz 1 invalid_token_count',
    ])
    await gateway.configure({ max_rejected_share: 1, on_missing: 'remove' })
    await gateway.takeAway('a.csv')
    const { summary } = await gateway.build()
    expect(summary.records.rejected).toEqual({ invalid_token_count: 1, invalid_model: 1 })
    expect((await listed(gateway)).map(place)).toEqual([
      'raw/d.csv.zst 1 invalid_model',
      'raw/renamed.ndjson.gz 1 invalid_token_count',
    ])
  })
})
