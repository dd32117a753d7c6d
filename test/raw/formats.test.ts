/** Every format of raw files. One build reads them all: each file is of a model with the name of the case. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  rowsOf,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { compress, query, sqlText } from '../support/records.ts'

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

/** The text in two parts, compressed one by one. */
const inParts = (text: string, compressed: (part: string) => Buffer, at = 20) =>
  Buffer.concat([text.slice(0, at), '', text.slice(at)].map(compressed))

const zeros = (line: string) => Array.from({ length: 30_000 }, () => line)

/** All of these may stand unescaped in a JSON string; readers of lines like to stumble over them. */
const ODD = JSON.stringify('\u007f \u0085 \u2028 \u2029 \u00a0 \ufffe \uffff \u{1f600} , ; | \t \\ \' "')

/** What a file is made of, by its case. */
const TEXTS: Record<string, [file: string, content: (model: string) => string | Uint8Array]> = {
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
const COMPRESSED = ['.gz', '.zst']
const compressedParquet = (ending: string) => `Parquet that was compressed once more as ${ending}`

let workspace: Workspace
let tokens: Map<string, string>

async function writeParquet(name: string, select: string): Promise<string> {
  await query(`COPY (${select}) TO ${sqlText(join(workspace.input, name))} (FORMAT parquet)`)
  return name
}

beforeAll(async () => {
  workspace = await createWorkspace()
  for (const [what, [file, content]] of Object.entries(TEXTS)) await writeInput(workspace, `all/${file}`, content(what))
  await writeInput(workspace, 'all/header-alone.csv', `${HEADER}\n`)
  for (const [index, [what, select]] of Object.entries(PARQUET).entries())
    await writeParquet(`all/${index}.parquet`, select(what))
  for (const ending of COMPRESSED) {
    const name = await writeParquet(
      `plain${ending}.parquet`,
      PARQUET['Parquet with counts of BIGINT']?.(compressedParquet(ending)) ?? '',
    )
    await writeInput(
      workspace,
      `all/again.parquet${ending}`,
      compress(ending, await readFile(join(workspace.input, name))),
    )
  }
  await writeInput(workspace, 'deep/er/usage.csv', csv('a file once that several patterns match').join('\n'))
  await writeParquet(
    'zone.parquet',
    `SELECT TIMESTAMP '2025-03-03 07:59:59' AS timestamp, 'Parquet in a declared zone' AS model_permaslug, 4 AS prompt_tokens, 0 AS completion_tokens`,
  )
  await writeParquet(
    'dates.parquet',
    `SELECT DATE '2025-03-02' AS timestamp, 'Parquet with dates that are UTC days' AS model_permaslug, 4 AS prompt_tokens, 0 AS completion_tokens`,
  )
  const source = (name: string, files: string[], settings = {}) => {
    return { name, schema: 'canonical', files, visibility: 'public', ...settings }
  }
  await writeInput(workspace, 'sources.json', {
    sources: [
      source('all', ['all/*']),
      source('deep', ['deep/er/usage.csv', './deep/er/usage.csv', 'deep/../deep/er/usage.csv', 'deep/**/*.csv']),
      source('zone', ['zone.parquet', 'dates.parquet'], { timezone: 'Asia/Shanghai' }),
    ],
  })
  await buildIn(workspace)
  const rows = rowsOf(await publishedCsv(workspace))
  tokens = new Map(rows.map((row) => [row.slice(0, row.lastIndexOf(' ')), row.slice(row.lastIndexOf(' ') + 1)]))
  return () => removeWorkspace(workspace)
})

it.each([
  ...Object.keys(TEXTS),
  ...Object.keys(PARQUET),
  ...COMPRESSED.map(compressedParquet),
  'a file once that several patterns match',
  'Parquet in a declared zone',
  'Parquet with dates that are UTC days',
])('reads %s', (what) => {
  expect(tokens.get(`2025-03-02 ${what}`)).toBe('4')
})

it('reads no other models from them', () => {
  expect(tokens.size).toBe(Object.keys(TEXTS).length + Object.keys(PARQUET).length + COMPRESSED.length + 3)
})

it('the build fails and names a file without a required column', async () => {
  const other = await createWorkspace()
  await writeInput(other, 'usage.csv', `timestamp,model,prompt_tokens,completion_tokens\n${NOON},a,1,2\n`)
  const source = { name: 's', schema: 'canonical', files: ['usage.csv'], visibility: 'public' }
  await writeInput(other, 'sources.json', { sources: [source] })
  await expect(buildIn(other)).rejects.toThrow(/usage\.csv.*model_permaslug|model_permaslug.*usage\.csv/s)
  await removeWorkspace(other)
})
