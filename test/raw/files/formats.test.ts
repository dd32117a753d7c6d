/**
 * Every format of raw files. The first bytes decide which one it is; the ending of the name decides only where they cannot.
 * Each file has one model, named after its case. There are two builds, because a date has at most 50 models.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { atMinute } from '../../support/gateway.ts'
import {
  AS_OF,
  buildIn,
  createWorkspace,
  newWorkspace,
  publishedCsv,
  removeWorkspace,
  rowsOf,
  runCli,
  settings,
  workspaceOf,
  writeInput,
  writeSource,
} from '../../support/pipeline.ts'
import { compress, query, sqlText } from '../../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const NOON = '2025-03-02T12:00:00Z'

/** Two records of a model, with 3 tokens and with 1. */
const csv = (model: string) => [HEADER, `${NOON},${model},1,2`, `${NOON},${model},1,`]
const ndjson = (model: string) =>
  [
    { timestamp: NOON, model_permaslug: model, prompt_tokens: 1, completion_tokens: 2 },
    {
      completion_tokens: null,
      model_permaslug: model,
      prompt_tokens: '1',
      timestamp: NOON,
      nested: { model_permaslug: ['x'] },
    },
  ].map((record) => JSON.stringify(record))

const utf16 = (text: string) => Buffer.from(text, 'utf16le')

/** The text in two parts, compressed one by one. */
const inParts = (text: string, compressed: (part: string) => Buffer, at = 20) =>
  Buffer.concat([text.slice(0, at), '', text.slice(at)].map(compressed))

const zeros = (line: string) => Array.from({ length: 30_000 }, () => line)

/** All of these may stand unescaped in a JSON string; readers of lines like to stumble over them. */
const ODD = JSON.stringify('\u007f \u0085 \u2028 \u2029 \u00a0 \ufffe \uffff \u{1f600} , ; | \t \\ \' "')

/** What a file is made of, by its case. */
const FILES: Record<string, [file: string, content: (model: string) => string | Uint8Array]> = {
  'CSV with LF': ['lf.csv', (model) => csv(model).join('\n')],
  'CSV with CRLF': ['crlf.csv', (model) => csv(model).join('\r\n')],
  'CSV with a line end after the last record': ['end.csv', (model) => `${csv(model).join('\n')}\n`],
  'CSV behind a byte order mark': ['bom.csv', (model) => `\ufeff${csv(model).join('\n')}\n`],
  'CSV with quotes around every field': [
    'quotes.csv',
    (model) =>
      csv(model)
        .map((line) => `"${line.replaceAll(',', '","')}"`)
        .join('\n'),
  ],
  'CSV whose odd values are on a late line': [
    'late.csv',
    (model) =>
      [
        HEADER,
        ...zeros(`${NOON},7,0,0`),
        `2025-03-02 12:00:00.5+00:00,"${model}",+1,2.0`,
        `2025-03-02T12:00:00.123456789Z,${model},1,`,
      ].join('\n'),
  ],
  'CSV with records of several lines': [
    'lines.csv',
    (model) => `note,${HEADER}\n"first\nsecond",${NOON},${model},1,2\n"a ""note""",${NOON},${model},1,\n`,
  ],
  'CSV that is called something else before': [
    'usage.csv.ndjson.parquet.csv.gz',
    (model) => compress('.gz', csv(model).join('\n')),
  ],
  'CSV of gzip members': ['members.csv.gz', (model) => inParts(csv(model).join('\n'), (part) => gzipSync(part))],
  'CSV of zstd frames that are cut amid the header': [
    'frames.csv.zst',
    (model) => inParts(csv(model).join('\n'), (part) => zstdCompressSync(part)),
  ],
  'CSV of zstd frames that are cut amid a record': [
    'records.csv.zst',
    (model) => inParts(csv(model).join('\n'), (part) => zstdCompressSync(part), 70),
  ],
  'NDJSON with LF': ['lf.ndjson', (model) => ndjson(model).join('\n')],
  'NDJSON with CRLF': ['crlf.ndjson', (model) => ndjson(model).join('\r\n')],
  'NDJSON with a line end after the last record': ['end.jsonl', (model) => `${ndjson(model).join('\n')}\n`],
  'NDJSON with spaces inside': [
    'spaces.ndjson',
    (model) => `${ndjson(model).join('\n').replaceAll(',"', ' , "').replaceAll('":', '" : ')}\n`,
  ],
  'NDJSON with odd characters': [
    'odd.ndjson',
    (model) =>
      ndjson(model)
        .map((line) => `{"note":${ODD},${line.slice(1)}`)
        .join('\n'),
  ],
  'NDJSON with a line of several megabytes': [
    'long.ndjson.gz',
    (model) => {
      const [first = '', second = ''] = ndjson(model)
      return compress('.gz', `{"messages":"${'x'.repeat(5_000_000)}",${first.slice(1)}\n${second}\n`)
    },
  ],
  'NDJSON with empty lines': ['empty-lines.ndjson', (model) => `\n${ndjson(model).join('\n\n')}\n\n`],
  'NDJSON whose late lines have other keys': [
    'keys.jsonl',
    (model) => [...zeros(`{"timestamp":"${NOON}","model_permaslug":"zero"}`), ...ndjson(model)].join('\n'),
  ],
  'NDJSON behind a byte order mark': ['bom.ndjson', (model) => `\ufeff${ndjson(model).join('\n')}\n`],
  'NDJSON of gzip members': [
    'members.ndjson.gz',
    (model) => inParts(ndjson(model).join('\n'), (part) => gzipSync(part)),
  ],
  'NDJSON of zstd frames behind a byte order mark': [
    'frames.ndjson.zst',
    (model) => inParts(`\ufeff${ndjson(model).join('\n')}\n`, (part) => zstdCompressSync(part)),
  ],
  'gzip that is called .csv': ['gzip.csv', (model) => gzipSync(csv(model).join('\n'))],
  'zstd that is called .ndjson': ['zstd.ndjson', (model) => zstdCompressSync(ndjson(model).join('\n'))],
  'zstd that is called .gz': ['zstd.csv.gz', (model) => zstdCompressSync(csv(model).join('\n'))],
  'CSV that is called .csv.gz': ['plain.csv.gz', (model) => csv(model).join('\n')],
  'NDJSON that is called .ndjson.zst': ['plain.ndjson.zst', (model) => ndjson(model).join('\n')],
  'CSV within gzip within gzip': ['twice.csv.gz', (model) => gzipSync(gzipSync(csv(model).join('\n')))],
  'NDJSON within gzip within zstd': [
    'twice.ndjson.zst',
    (model) => zstdCompressSync(gzipSync(ndjson(model).join('\n'))),
  ],
  'CSV that is called .ndjson': ['csv.ndjson', (model) => csv(model).join('\r\n')],
  'NDJSON that is called .log': ['nd.log', (model) => ndjson(model).join('\n')],
  'NDJSON in gzip in a log that was rotated': ['nd.log.1', (model) => gzipSync(ndjson(model).join('\n'))],
  'CSV that is called .txt': ['table.txt', (model) => csv(model).join('\n')],
  'CSV with tabs that is called .tsv': ['table.tsv', (model) => csv(model).join('\n').replaceAll(',', '\t')],
  'a list of JSON without an ending': ['list', (model) => `[${ndjson(model).join(',\n')}]`],
  'CSV that is called .parquet': ['csv.parquet', (model) => csv(model).join('\n')],
  'NDJSON that is called .csv': ['ndjson.csv', (model) => ndjson(model).join('\n')],
  'NDJSON that is called .json': ['ndjson.json', (model) => ndjson(model).join('\n')],
  'NDJSON that is called .csv.gz': ['ndjson.csv.gz', (model) => gzipSync(ndjson(model).join('\n'))],
  'a list of JSON that is called .csv': ['list.csv', (model) => `\n[${ndjson(model).join(',\n')}]`],
  'a list of JSON that is called .ndjson': ['list.ndjson', (model) => `[\n${ndjson(model).join(',\n')}\n]\n`],
  'objects of several lines that are called .jsonl': [
    'indented.jsonl',
    (model) =>
      ndjson(model)
        .map((line) => JSON.stringify(JSON.parse(line), undefined, 2))
        .join('\n'),
  ],
  'CSV in UTF-16 with a byte order mark': ['mark.csv', (model) => utf16(`\ufeff${csv(model).join('\r\n')}`)],
  'CSV in UTF-16 without one': ['no-mark.csv', (model) => utf16(csv(model).join('\r\n'))],
  'CSV in big-endian UTF-16': ['big.csv.gz', (model) => gzipSync(utf16(`\ufeff${csv(model).join('\n')}`).swap16())],
  'NDJSON in big-endian UTF-16 without a mark': ['big.ndjson', (model) => utf16(ndjson(model).join('\n')).swap16()],
  'a list of JSON in UTF-16': ['utf-16.json', (model) => utf16(`\ufeff[${ndjson(model).join(',')}]`)],
  // Of repeated keys the last wins.
  'NDJSON with repeated keys': [
    'repeated.ndjson',
    (model) =>
      [
        `{"prompt_tokens":7,"timestamp":"${NOON}","model_permaslug":"x","prompt_tokens" : 1,"model_permaslug":"${model}","completion_tokens":2.0}`,
        `{"prompt_tokens":7,"timestamp":"${NOON}","model_permaslug":"${model}","prompt\\u005ftokens":1}`,
      ].join('\n'),
  ],
  'a list of JSON with repeated keys': [
    'repeated.json',
    (model) => {
      const [first = '', second = ''] = ndjson(model)
      return `[{"prompt_tokens":7,${first.slice(1)},{"completion_tokens":7,"note":{"a":1,"a":2},${second.slice(1)}]`
    },
  ],
}

const TIMESTAMPS = {
  TIMESTAMPTZ: "TIMESTAMPTZ '2025-03-03 07:59:59.999999+08:00'",
  TIMESTAMP: "TIMESTAMP '2025-03-02 23:59:59.999999'",
  TIMESTAMP_NS: "TIMESTAMP_NS '2025-03-02 23:59:59.999999999'",
  TIMESTAMP_MS: "TIMESTAMP_MS '2025-03-02 23:59:59.999'",
  VARCHAR: "'2025-03-03T07:59:59.999999999+08:00'",
}
const COUNTS = ['TINYINT', 'INTEGER', 'UINTEGER', 'BIGINT', 'UBIGINT', 'DOUBLE', 'FLOAT', 'DECIMAL(18,2)', 'VARCHAR']

/** A query that makes a Parquet file, by its case. */
const PARQUET: Record<string, (model: string) => string> = {
  ...Object.fromEntries(
    Object.entries(TIMESTAMPS).map(([type, timestamp]) => [
      `Parquet with a timestamp of ${type}`,
      (model: string) =>
        `SELECT ${timestamp} AS timestamp, '${model}' AS model_permaslug, 4 AS prompt_tokens, 0 AS completion_tokens`,
    ]),
  ),
  ...Object.fromEntries(
    COUNTS.map((type) => [
      `Parquet with counts of ${type.replace(',', '.')}`,
      (model: string) =>
        `SELECT '${NOON}' AS timestamp, '${model}' AS model_permaslug, 4::${type} AS prompt_tokens, NULL::${type} AS completion_tokens`,
    ]),
  ),
  'Parquet with more columns in another order': (model) =>
    `SELECT [1, 2] AS hash_ids, 4 AS completion_tokens, {'a': 1} AS extra, '${model}' AS model_permaslug, 0 AS prompt_tokens, TIMESTAMP '2025-03-02 12:00:00' AS timestamp`,
}

/** Parquet by other names, with the bytes around it. */
const WRAPPED: Record<string, (bytes: Buffer) => Uint8Array> = {
  'parquet.csv': (bytes) => bytes,
  'parquet.csv.gz': (bytes) => bytes,
  'parquet.json': (bytes) => gzipSync(bytes),
  'again.parquet.zst': (bytes) => zstdCompressSync(bytes),
  'twice.parquet.gz': (bytes) => gzipSync(gzipSync(bytes)),
}

/** Files of other sources of the build. */
const OTHERS = {
  'Parquet in a declared zone': "TIMESTAMP '2025-03-03 07:59:59'",
  'Parquet with dates that are UTC days': "DATE '2025-03-02'",
}
const ONCE = 'a file once that several patterns match'

describe('a file', () => {
  const tokens = new Map<string, string | undefined>()

  beforeAll(async () => {
    const workspace = await createWorkspace()
    for (const [what, [file, content]] of Object.entries(FILES))
      await writeInput(workspace, `raw/${file}`, content(what))
    await writeInput(workspace, 'raw/header-alone.csv', `${HEADER}\n`)
    const writeParquet = (name: string, select: string) =>
      query(`COPY (${select}) TO ${sqlText(join(workspace.input, name))} (FORMAT parquet)`)
    const recordOf = (model: string, timestamp = `'${NOON}'`) =>
      `SELECT ${timestamp} AS timestamp, '${model}' AS model_permaslug, 4 AS prompt_tokens, 0 AS completion_tokens`
    for (const [index, [what, select]] of Object.entries(PARQUET).entries())
      await writeParquet(`${index}.parquet`, select(what))
    for (const [name, wrapped] of Object.entries(WRAPPED)) {
      await writeParquet('plain', recordOf(name))
      await writeInput(workspace, `wrapped/${name}`, wrapped(await readFile(join(workspace.input, 'plain'))))
    }
    for (const [index, [what, timestamp]] of Object.entries(OTHERS).entries())
      await writeParquet(`zone${index}.parquet`, recordOf(what, timestamp))
    await writeInput(workspace, 'deep/er/usage.csv', csv(ONCE).join('\n'))
    const source = (name: string, files: string[]) => ({ name, schema: 'canonical', files, visibility: 'public' })
    const parquet = [
      source('s', ['?.parquet', '??.parquet', 'wrapped/*']),
      source('deep', ['deep/er/usage.csv', './deep/er/usage.csv', 'deep/../deep/er/usage.csv', 'deep/**/*.csv']),
      { ...source('zone', ['zone*.parquet']), timezone: 'Asia/Shanghai' },
    ]
    for (const sources of [[source('s', ['raw/*'])], parquet]) {
      await writeInput(workspace, 'sources.json', { sources, on_missing: 'remove' })
      await buildIn(workspace, atMinute(tokens.size))
      for (const row of rowsOf(await publishedCsv(workspace))) {
        const [, model = '', count] = /^2025-03-02 (.*) (\d+)$/.exec(row) ?? []
        tokens.set(model, count)
      }
    }
    return () => removeWorkspace(workspace)
  })

  const cases = [FILES, PARQUET, WRAPPED, OTHERS, { [ONCE]: '' }].flatMap(Object.keys)

  it.each(cases)('is read: %s', (what) => {
    expect(tokens.get(what)).toBe('4')
  })

  it('counts nothing else', () => {
    expect(tokens.size).toBe(cases.length)
  })
})

const CSV = `${csv('a').join('\n')}\n`

/** Files that are not read, and what is said of them. */
const REFUSED: [file: string, content: string | Uint8Array, message: string][] = [
  [
    'a.csv',
    Buffer.from('PK\x03\x04\x14\0\x06\0...[Content_Types].xml', 'latin1'),
    'a.csv is an Excel workbook, not CSV: save',
  ],
  [
    'a.ndjson.gz',
    gzipSync(Buffer.from('PK\x03\x04logs.csv', 'latin1')),
    'a.ndjson.gz is a ZIP archive, not JSON: unpack it',
  ],
  ['a.parquet', Buffer.from('SQLite format 3\0', 'latin1'), 'a.parquet is an SQLite database, not Parquet: export'],
  [
    'a.csv.gz',
    gzipSync(`${'a.csv'.padEnd(257, '\0')}ustar\x0000`),
    'a.csv.gz is a tar archive, not CSV: unpack it first',
  ],
  ['a.csv', '%PDF-1.7', 'a.csv is a PDF document, not CSV'],
  [
    'a.json',
    '<?xml version="1.0"?><Error>AccessDenied</Error>',
    'a.json is XML or HTML, not JSON: it may be the message',
  ],
  ['a.csv.gz', Buffer.from('PK\x03\x04logs.csv', 'latin1'), 'a.csv.gz is a ZIP archive, not CSV: unpack it'],
  ['a.csv', 'BZh91AY&SY...', 'a.csv is compressed with bzip2, not CSV'],
  ['a.csv.gz', gzipSync(zstdCompressSync(CSV)), 'a.csv.gz is compressed with zstd within gzip'],
  ['a.csv', utf16(`\ufeff${CSV}`).subarray(0, -1), 'a.csv cannot be read whole: it ends within a character'],
  ['a.csv.gz', gzipSync(gzipSync(CSV).subarray(0, -9)), 'a.csv.gz cannot be read whole: unexpected end of file'],
  ['a.csv', gzipSync(CSV).subarray(0, -9), 'a.csv cannot be read whole: unexpected end of file'],
  ['a.csv.gz', '', 'a.csv.gz cannot be read whole: unexpected end of file'],
  ['a.csv.gz', gzipSync(CSV).subarray(3), 'a.csv.gz cannot be read whole: incorrect header check'],
  ['a.csv', Buffer.from([1, 0, 2, 27, 91, 50, 74, 0, 255]), 'a.csv is binary, not CSV'],
]

describe('a file that is not read', () => {
  it.each(REFUSED)('stops the build: %s', async (file, content, message) => {
    await expect(buildIn(await workspaceOf({ [file]: content }))).rejects.toThrow(message)
  })
})

it('writes no control characters of a binary file to the terminal', async () => {
  const workspace = await newWorkspace()
  const bytes = Buffer.concat([Buffer.from('\x1b[2J\x07,timestamp\x9b,\u202e\n'), Buffer.from([255, 7, 27, 99])])
  for (const name of ['a.csv', 'b.ndjson', 'c.json']) await writeInput(workspace, name, bytes)
  for (const files of [['a.csv'], ['b.ndjson'], ['c.json']]) {
    await writeSource(workspace, files)
    for (const words of [['build'], ['inspect', join(workspace.input, files[0] ?? '')], ['rejects', '--limit', '9']]) {
      const { stdout, stderr } = await runCli(words, settings(workspace, AS_OF))
      expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  }
})
