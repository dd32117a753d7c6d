/** The first bytes of a raw file say what it is, and the ending of its name only what they do not. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
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
  writeInput,
} from '../../support/pipeline.ts'
import { query, sqlText } from '../../support/records.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const NOON = '2025-03-02T12:00:00Z'

/** Two records of a model, with 3 tokens and with 1. */
const csv = (model: string) => [HEADER, `${NOON},${model},1,2`, `${NOON},${model},1,`]
const ndjson = (model: string) =>
  [
    { timestamp: NOON, model_permaslug: model, prompt_tokens: 1, completion_tokens: 2 },
    { completion_tokens: null, model_permaslug: model, prompt_tokens: '1', timestamp: NOON },
  ].map((record) => JSON.stringify(record))

const utf16 = (text: string) => Buffer.from(text, 'utf16le')

const FILES: Record<string, [file: string, content: (model: string) => string | Uint8Array]> = {
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

/** Parquet by other names, with the bytes around it. */
const PARQUET: Record<string, (bytes: Buffer) => Uint8Array> = {
  'parquet.csv': (bytes) => bytes,
  'parquet.csv.gz': (bytes) => bytes,
  'parquet.json': (bytes) => gzipSync(bytes),
  'twice.parquet.gz': (bytes) => gzipSync(gzipSync(bytes)),
}

describe('a file', () => {
  const tokens = new Map<string, string | undefined>()

  beforeAll(async () => {
    const workspace = await createWorkspace()
    for (const [what, [file, content]] of Object.entries(FILES))
      await writeInput(workspace, `raw/${file}`, content(what))
    for (const [name, wrapped] of Object.entries(PARQUET)) {
      const path = join(workspace.input, `${name}.plain`)
      const record = `'${NOON}' AS timestamp, '${name}' AS model_permaslug, 4 AS prompt_tokens, 0 AS completion_tokens`
      await query(`COPY (SELECT ${record}) TO ${sqlText(path)} (FORMAT parquet)`)
      await writeInput(workspace, `raw/${name}`, wrapped(await readFile(path)))
    }
    const source = { name: 's', schema: 'canonical', files: ['raw/*'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await buildIn(workspace)
    for (const row of rowsOf(await publishedCsv(workspace))) {
      const [, model = '', count] = /^2025-03-02 (.*) (\d+)$/.exec(row) ?? []
      tokens.set(model, count)
    }
    return () => removeWorkspace(workspace)
  })

  it.each([...Object.keys(FILES), ...Object.keys(PARQUET)])('is read: %s', (what) => {
    expect(tokens.get(what)).toBe('4')
  })

  it('counts nothing else', () => {
    expect(tokens.size).toBe(Object.keys(FILES).length + Object.keys(PARQUET).length)
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
    const workspace = await newWorkspace()
    await writeInput(workspace, file, content)
    const source = { name: 's', schema: 'canonical', files: [file], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await expect(buildIn(workspace)).rejects.toThrow(message)
  })
})

it('writes no control characters of a binary file to the terminal', async () => {
  const workspace = await newWorkspace()
  const bytes = Buffer.concat([Buffer.from('\x1b[2J\x07,timestamp\x9b,\u202e\n'), Buffer.from([255, 7, 27, 99])])
  for (const name of ['a.csv', 'b.ndjson', 'c.json']) await writeInput(workspace, name, bytes)
  const source = { name: 's', schema: 'canonical', files: ['*'], visibility: 'public' }
  for (const files of [['a.csv'], ['b.ndjson'], ['c.json']]) {
    await writeInput(workspace, 'sources.json', { sources: [{ ...source, files }] })
    for (const words of [['build'], ['inspect', join(workspace.input, files[0] ?? '')], ['rejects', '--limit', '9']]) {
      const { stdout, stderr } = await runCli(words, settings(workspace, AS_OF))
      expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  }
})
