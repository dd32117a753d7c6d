/** Files as gateways deliver them: every record is read or rejected, never read as something else. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readRejects } from '../../../pipeline/rollup/list-rejects.ts'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  rowsOf,
  workspaceOf,
  writeInput,
  writeSource,
} from '../../support/pipeline.ts'
import { compress } from '../../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const ROW = '2025-03-02T12:00:00Z,acme/one,1,2'
const JSON_ROW = `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"acme/one","prompt_tokens":1,"completion_tokens":2}`

/** Files of a case, in the format that each name ends with, before compression. */
interface Case {
  what: string
  files: Record<string, string | Buffer>
  /** What the records of each file count that are right, each of which has 3 tokens. */
  records: number
  /** The rejected records of each file. */
  rejects?: [record: number, reason: string, content?: unknown][]
}

const malformed = (...numbers: number[]): [number, string][] => numbers.map((number) => [number, 'malformed_record'])
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const lines = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.flatMap((part) => [Buffer.from(part), Buffer.from('\n')]))

const LINE_ENDS = [
  `${HEADER},note\r\n`,
  `${ROW},\n`,
  `${ROW},"a\r\nb\nc\rd"\r`,
  `soon,acme/one,4,8,"a\r\nb\nc\rd"\r\n`,
  '\n',
  `${ROW},\r`,
  'malformed\r\n',
  `${ROW},`,
].join('')

const LOOKS_LIKE_RECORDS = `${ROW},"${`${ROW},\n`.repeat(50)}${ROW},"\n`
const MANY = Math.ceil(20_000_000 / LOOKS_LIKE_RECORDS.length)
const LONG_NOTE = `"${`${ROW},\n`.repeat(1_000_000)}"`
const QUOTED_HEADER = HEADER.split(',')
  .map((name) => `"${name}"`)
  .join(',')
const WIDE = 'note,user,model_permaslug,timestamp,prompt_tokens,completion_tokens,request_id,end'

/** A right record, and a wrong one with each of these ends behind it. */
function atTheEnd(format: 'csv' | 'ndjson', wrong: readonly string[], ends: readonly string[]): Case[] {
  const right = format === 'csv' ? `${HEADER}\n${ROW}` : JSON_ROW
  return wrong.map((record, index) => ({
    what: `rejects a malformed record at the end of ${format}, whatever ends the line: ${record.slice(-40)}`,
    files: Object.fromEntries(ends.map((end, of) => [`end-${index}-${of}.${format}`, `${right}\n${record}${end}`])),
    records: 1,
    rejects: [[2, 'malformed_record', record]],
  }))
}

const CASES: Case[] = [
  {
    what: 'reads CSV with line ends of several kinds, those within quotes as written',
    files: { 'ends.csv': LINE_ENDS, 'ends.csv.gz': LINE_ENDS, 'ends.csv.zst': `\ufeff${LINE_ENDS}` },
    records: 4,
    rejects: [
      [3, 'invalid_timestamp', expect.objectContaining({ timestamp: 'soon', note: 'a\r\nb\nc\rd' })],
      [5, 'malformed_record', 'malformed'],
    ],
  },
  {
    // DuckDB starts a thread every 8 MB, at what it takes for the begin of a record.
    what: 'does not take lines of a CSV field for records',
    files: { 'looks-like.csv': `${HEADER},note\n${LOOKS_LIKE_RECORDS.repeat(MANY)}` },
    records: MANY,
  },
  {
    what: 'reads CSV records of more than 32 MB',
    files: Object.fromEntries(
      ['long.csv', 'long.csv.gz'].map((name) => [name, `${HEADER},note\n${ROW},\n${ROW},${LONG_NOTE}\n${ROW},\n`]),
    ),
    records: 3,
  },
  {
    what: 'keeps rejected CSV records of more than 2 MB',
    files: { 'long-reject.csv': `${HEADER},note\n${ROW},\nsoon,a,1,1,${'x'.repeat(3_000_000)}\n${ROW},\n` },
    records: 2,
    rejects: [[2, 'invalid_timestamp', expect.objectContaining({ note: 'x'.repeat(3_000_000) })]],
  },
  {
    what: 'reads no record from empty files and from headers alone',
    files: {
      'header.csv': HEADER,
      'header-crlf.csv': `${HEADER}\r\n`,
      'header-mark.csv': `\ufeff${HEADER}\n\n\n`,
      'empty.csv': '',
      'mark.csv': '\ufeff',
      'empty.csv.gz': '',
      'header.csv.zst': HEADER,
      'empty.ndjson': '',
      'empty-lines.ndjson.gz': '\n\n',
      'mark.ndjson': '\ufeff',
    },
    records: 0,
  },
  {
    what: 'reads a CSV header in quotes after a byte order mark',
    files: {
      'quoted.csv': `\ufeff${QUOTED_HEADER},"a\nnote"\n${ROW},"x\n"\n`,
      'quoted-crlf.csv': `\ufeff${QUOTED_HEADER},"a, note"\r\n${ROW},"x\r\n"\r\n`,
    },
    records: 1,
  },
  {
    what: 'reads an optional column from the file that has it',
    files: { 'with-id.csv': `${HEADER},request_id\n${ROW},1\n${ROW},1\n` },
    records: 1,
  },
  {
    what: 'reads optional columns in another order',
    files: { 'order.csv': `visibility,request_id,${HEADER}\n,3,${ROW}\nprivate,4,${ROW}\n` },
    records: 1,
  },
  {
    what: 'rejects CSV records with bytes that are not UTF-8, in any column',
    files: {
      'latin1.csv': lines(
        `${WIDE}\n,,acme/one,2025-03-02,1,2,id-1,`,
        latin1(',,acme/\xe9,2025-03-02,4,8,id-2,'),
        latin1(',,acme/one,2025-03-02,4,8,id-\xe9,'),
        latin1(',,acme/one,2025-03-02,4\xff,8,,'),
        latin1('caf\xe9,,acme/one,2025-03-02,4,8,,'),
        latin1(',,acme/one,2025-03-02,4,8,,caf\xe9'),
        latin1(',,acme/one,soon,4,8,,caf\xe9'),
        'caf\u00e9,,acme/one,2025-03-02,1,2,id-1,caf\u00e9',
        ',,acme/one,2025-03-02,1,2,,',
      ),
    },
    records: 2,
    rejects: [[2, 'malformed_record', ',,acme/\ufffd,2025-03-02,4,8,id-2,'], ...malformed(3, 4, 5, 6, 7)],
  },
  {
    what: 'rejects zero bytes in slugs, counts and timestamps of CSV',
    files: {
      'zero.csv': lines(
        ...[HEADER, ROW, '2025-03-02,acme/\0one,4,8', '2025-03-02,acme/one,4\0,8', '2025-03-02\0,acme/one,4,8'],
        ...['\0,\0,\0,\0', '\0', ROW],
      ),
    },
    records: 2,
    rejects: [
      [2, 'invalid_model'],
      [3, 'invalid_token_count'],
      [4, 'invalid_timestamp'],
      [5, 'invalid_timestamp'],
      [6, 'malformed_record'],
    ],
  },
  {
    what: 'rejects zero bytes in NDJSON, also as an escape',
    files: {
      'zero.ndjson': lines(JSON_ROW, JSON_ROW.replace('one', 'one\0'), '\0', JSON_ROW.replace('one', 'one\\u0000')),
    },
    records: 1,
    rejects: [...malformed(2, 3), [4, 'invalid_model']],
  },
  ...atTheEnd(
    'csv',
    [
      '2025-03-02,acme/one,4',
      '2025-03-02,acme',
      '20',
      '2025-03-02,acme/one,4,8,16',
      '2025-03-02,acme/one,4,8,,16',
      '2025-03-02,acme/one,"4"1,8',
    ],
    ['', '\n', '\r\n'],
  ),
  ...atTheEnd(
    'ndjson',
    ['{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"acme', '{', `${JSON_ROW} x`, `${JSON_ROW}${JSON_ROW}`],
    ['', '\n'],
  ),
  ...['"a ""b"""', '"""b"""', '"a ""b""",'].map((end, index): Case => {
    const right = '2025-03-02T12:00:00Z,acme/one,Ann,1,2,"a ""b"""'
    // A comma without quotes: the tokens are one column further on.
    const shifted = `2025-03-02T12:00:00Z,acme/one,Lee,5,1,2,${end}`
    const text = `timestamp,model_permaslug,user,prompt_tokens,completion_tokens,note\n${right}\n${shifted}\n${right}\n`
    return {
      what: `rejects a CSV record with a field too many that ends in ${end}`,
      files: { [`shifted-${index}.csv`]: text, [`shifted-${index}.csv.gz`]: text },
      records: 2,
      rejects: malformed(2),
    }
  }),
  {
    what: 'reads CSV records that end in commas too many',
    files: { 'commas.csv': `${HEADER}\n${ROW},\n${ROW},,\n` },
    records: 2,
  },
]

describe('dirty files', () => {
  const counted = new Map<string, number>()
  const rejected = new Map<string, [number, string, unknown][]>()

  beforeAll(async () => {
    const workspace = await createWorkspace()
    try {
      for (const { files } of CASES) {
        for (const [name, content] of Object.entries(files)) {
          const bytes = Buffer.from(content).toString('latin1').replaceAll('acme/one', name)
          await writeInput(workspace, name, compress(name, Buffer.from(bytes, 'latin1')))
        }
      }
      await writeSource(workspace, ['*.csv*', '*.ndjson*'], {}, { max_rejected_share: 1 })
      await buildIn(workspace)
      for (const row of rowsOf(await publishedCsv(workspace))) {
        const [, name = '', tokens] = row.split(' ')
        counted.set(name, Number(tokens))
      }
      for await (const { file, record, reason, content } of readRejects(workspace.dataDir)) {
        rejected.set(file, [...(rejected.get(file) ?? []), [record, reason, content]])
      }
    } finally {
      await removeWorkspace(workspace)
    }
  })

  it.each(CASES.map((each) => [each.what, each] as const))('%s', (_, { files, records, rejects = [] }) => {
    for (const name of Object.keys(files)) {
      expect(counted.get(name) ?? 0, name).toBe(3 * records)
      const inFile = (content: unknown) =>
        typeof content === 'string' ? content.replaceAll('acme/one', name) : content
      const expected = rejects.map(([record, reason, content = expect.anything()]) => [record, reason, inFile(content)])
      expect(rejected.get(name) ?? [], name).toEqual(expected)
    }
  })

  it('count nothing but their right records', () => {
    const names = CASES.flatMap(({ files }) => Object.keys(files))
    expect([...counted.keys()].filter((name) => !names.includes(name))).toEqual([])
  })
})

it('rejects a record above the limit alone, in every format, and reads long ones below it', async () => {
  const long = (of: string, bytes = 64 * 2 ** 20) => of.repeat(Math.ceil(bytes / of.length))
  const files = {
    'a.csv.gz': lines(`note,${HEADER}`, `,${ROW}`, `${long('1')},${ROW}`, `"${long('a,\n', 20_000_000)}",${ROW}`),
    'a.ndjson.gz': lines(
      JSON_ROW,
      `{"note":"${long('x')}"}`,
      `{"note":"${long('x', 40_000_000)}",${JSON_ROW.slice(1)}`,
    ),
    'a.json.gz': lines(`[${JSON_ROW},`, `{"note":"${long('x')}"},${JSON_ROW}]`),
  }
  const compressed = Object.entries(files).map(([name, content]) => [name, compress(name, content)] as const)
  const workspace = await workspaceOf(Object.fromEntries(compressed), {}, { max_rejected_share: 1 })
  await buildIn(workspace)
  expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-02 acme/one 18'])
  for await (const { record, reason, content } of readRejects(workspace.dataDir)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    expect([record, reason, text]).toEqual([2, 'malformed_record', 'a record longer than 64 MiB'])
  }
})

it('says what to do about a page above the limit, whose records are in a list', async () => {
  const page = `{"data":[${`${JSON_ROW},`.repeat(700_000)}${JSON_ROW}]}`
  const workspace = await workspaceOf({ 'a.json.gz': compress('a.json.gz', page) }, { unnest: 'data[]' })
  await expect(buildIn(workspace)).rejects.toThrow(
    "a.json.gz has a document longer than 64 MiB, whose records are in the list data: save smaller pages, or cut it with jq -c '.data[] as $each | .data = [$each]'",
  )
})

it('reads a file whose header has several lines, of the same line ends or others', async () => {
  const renamed = HEADER.replace('prompt_tokens', '"prompt\ntokens"')
  const files = {
    'a.csv': `${renamed},"a\nnote"\r\n${ROW},"x\ny"\r\n`,
    'b.csv': `${renamed},note\n${ROW},x\n`.replaceAll('\n', '\r\n'),
    'c.csv': `${renamed.replaceAll('\n', '\r\n')}\n${ROW}\n`,
    'd.csv': `"\n",${renamed}\n,${ROW}\n`,
    'e.log': `${renamed}\n${ROW}\n`,
  }
  const workspace = await workspaceOf(files, { columns: { prompt_tokens: 'prompt\r\ntokens' } })
  await buildIn(workspace)
  expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-02 acme/one 15'])
})
