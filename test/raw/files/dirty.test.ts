/** Files as gateways deliver them: what can be read is read, what cannot is a reject or a failure, never a wrong number. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { RecordCounts } from '../../../pipeline/dataset/records.ts'
import type { RejectedRecord } from '../../../pipeline/rollup/list-rejects.ts'
import { buildIn, newWorkspace, publishedCsv, rowsOf, type Workspace, writeInput } from '../../support/pipeline.ts'

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'
const ROW = '2025-03-02T12:00:00Z,acme/one,1,2'
const JSON_ROW = `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"acme/one","prompt_tokens":1,"completion_tokens":2}`

interface Built {
  rows: string[]
  records: RecordCounts
  rejects: RejectedRecord[]
}

/** Builds files, by name and content, as one public source. */
async function buildOf(files: Record<string, string | Uint8Array>): Promise<Built> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  const source = { name: 's', schema: 'canonical', files: Object.keys(files), visibility: 'public' }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
  const { records } = await buildIn(workspace)
  return { rows: rowsOf(await publishedCsv(workspace)), records, rejects: await readRejects(workspace) }
}

/** The rejects, file after file in the order of their names. */
async function readRejects(workspace: Workspace): Promise<RejectedRecord[]> {
  const folder = join(workspace.dataDir, 'state/rejects')
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  const rejects: RejectedRecord[] = texts
    .flatMap((text) => text.split('\n').slice(0, -1))
    .map((line) => JSON.parse(line))
  return rejects.sort((a, b) => Number(a.file > b.file) - Number(a.file < b.file))
}

describe('CSV with line ends of several kinds', () => {
  const text = [
    `${HEADER},note\r\n`,
    `${ROW},\n`,
    `${ROW},"a\r\nb\nc\rd"\r`,
    `soon,acme/one,4,8,"a\r\nb\nc\rd"\r\n`,
    '\n',
    `${ROW},\r`,
    'malformed\r\n',
    `${ROW},`,
  ].join('')

  it('is read plain and compressed, line ends within quotes as written', async () => {
    const of = (model: string) => text.replaceAll('acme/one', model)
    const { rows, records, rejects } = await buildOf({
      'a.csv': of('plain'),
      'a.csv.gz': gzipSync(of('gzip')),
      'a.csv.zst': zstdCompressSync(`\ufeff${of('zstd')}`),
    })
    expect(rows).toEqual(['2025-03-02 gzip 12', '2025-03-02 plain 12', '2025-03-02 zstd 12'])
    expect(records).toMatchObject({ read: 3 * 6, published: 3 * 4 })
    const found = ({ file, record, reason, content }: RejectedRecord) => [file, record, reason, content]
    expect(rejects.map(found)).toEqual(
      ['a.csv', 'a.csv.gz', 'a.csv.zst'].flatMap((file) => [
        [file, 3, 'invalid_timestamp', expect.objectContaining({ timestamp: 'soon', note: 'a\r\nb\nc\rd' })],
        [file, 5, 'malformed_record', 'malformed'],
      ]),
    )
  })
})

describe('CSV records of several lines', () => {
  it('are not taken for records where they look like such', async () => {
    // DuckDB starts a thread every 8 MB, at what it takes for the begin of a record.
    const lines = `${ROW},\n`.repeat(50)
    const record = `${ROW},"${lines}${ROW},"\n`
    const count = Math.ceil(20_000_000 / record.length)
    const { rows, records } = await buildOf({ 'a.csv': `${HEADER},note\n${record.repeat(count)}` })
    expect(rows).toEqual([`2025-03-02 acme/one ${3 * count}`])
    expect(records.read).toBe(count)
  })

  it('may be larger than 2 MB, and than what DuckDB reads at once', async () => {
    const note = `"${`${ROW},\n`.repeat(1_000_000)}"`
    expect(note.length).toBeGreaterThan(32_000_000)
    const text = `${HEADER},note\n${ROW},\n${ROW},${note}\nsoon,a,1,1,${'x'.repeat(3_000_000)}\n${ROW},\n`
    const { rows, records, rejects } = await buildOf({ 'a.csv': text, 'b.csv.gz': gzipSync(text, { level: 1 }) })
    expect(rows).toEqual(['2025-03-02 acme/one 18'])
    expect(records).toMatchObject({ read: 8, rejected: { invalid_timestamp: 2 } })
    expect(rejects.map(({ record, content }) => [record, JSON.stringify(content).length > 3_000_000])).toEqual([
      [3, true],
      [3, true],
    ])
  })
})

describe('CSV that lacks something', () => {
  it('counts where it has only a header, with or without a line end, and where it is empty', async () => {
    const { rows, records } = await buildOf({
      'a.csv': `${HEADER}\n${ROW}\n`,
      'b.csv': HEADER,
      'c.csv': `${HEADER}\r\n`,
      'd.csv': `\ufeff${HEADER}\n\n\n`,
      'e.csv': '',
      'f.csv': '\ufeff',
      'g.csv.gz': gzipSync(''),
      'h.csv.zst': zstdCompressSync(HEADER),
      'i.ndjson': '',
      'j.ndjson.gz': gzipSync('\n\n'),
      'k.ndjson': '\ufeff',
    })
    expect(rows).toEqual(['2025-03-02 acme/one 3'])
    expect(records).toMatchObject({ read: 1, rejected: {} })
  })

  it('may have a header in quotes behind a byte order mark', async () => {
    const header = HEADER.split(',').map((name) => `"${name}"`)
    const { rows } = await buildOf({
      'a.csv': `\ufeff${header.join(',')},"a\nnote"\n${ROW},"x\n"\n`,
      'b.csv': `\ufeff${header.join(',')},"a, note"\r\n${ROW},"x\r\n"\r\n`,
    })
    expect(rows).toEqual(['2025-03-02 acme/one 6'])
  })

  it('fails where DuckDB reads less than there is, such as behind a header of several lines and CRLF', async () => {
    await expect(buildOf({ 'a.csv': `${HEADER},"a\nnote"\r\n${ROW},x\r\n` })).rejects.toThrow(
      'a.csv cannot be read whole: it has 1 records, but DuckDB finds 0',
    )
  })

  it('may lack an optional column in one file and have it in another', async () => {
    const { rows, records } = await buildOf({
      'a.csv': `${HEADER},request_id\n${ROW},1\n${ROW},1\n`,
      'b.csv': `${HEADER}\n${ROW}\n${ROW}\n`,
      'c.csv': `request_id,${HEADER},visibility\n1,${ROW},\n2,${ROW},private\n`,
    })
    expect(rows).toEqual(['2025-03-02 acme/one 9'])
    expect(records).toMatchObject({ read: 6, duplicates: 2, private: 1 })
  })
})

describe('bytes that are no text', () => {
  const csv = (...records: (string | Buffer)[]) =>
    Buffer.concat([HEADER, ...records].map((part) => Buffer.from(`${part}\n`)))
  const latin1 = (text: string) => Buffer.from(text, 'latin1')

  it('in any field of CSV reject the record, wherever its column stands', async () => {
    const wide = 'note,user,model_permaslug,timestamp,prompt_tokens,completion_tokens,request_id,end'
    const bytes = Buffer.concat([
      Buffer.from(`${wide}\n,,acme/one,2025-03-02,1,2,id-1,\n`),
      latin1(',,acme/\xe9,2025-03-02,4,8,id-2,\n,,acme/one,2025-03-02,4,8,id-\xe9,\n,,acme/one,2025-03-02,4\xff,8,,\n'),
      latin1('caf\xe9,,acme/one,2025-03-02,4,8,,\n,,acme/one,2025-03-02,4,8,,caf\xe9\n,,acme/one,soon,4,8,,caf\xe9\n'),
      Buffer.from('caf\u00e9,,acme/one,2025-03-02,1,2,id-1,caf\u00e9\n,,acme/one,2025-03-02,1,2,,\n'),
    ])
    const { rows, records, rejects } = await buildOf({ 'a.csv': bytes })
    expect(rows).toEqual(['2025-03-02 acme/one 6'])
    expect(records).toMatchObject({ read: 9, duplicates: 1, rejected: { malformed_record: 6 } })
    expect(rejects.map(({ record }) => record)).toEqual([2, 3, 4, 5, 6, 7])
  })

  it('in a line of NDJSON reject it', async () => {
    const bytes = Buffer.concat([Buffer.from(`${JSON_ROW}\n`), latin1(`${JSON_ROW.replace('one', '\xe9')}\n`)])
    const { rows, records } = await buildOf({ 'a.ndjson': bytes })
    expect(rows).toEqual(['2025-03-02 acme/one 3'])
    expect(records.rejected).toEqual({ malformed_record: 1 })
  })

  it('that are zero are no part of a slug, a count or a timestamp', async () => {
    const bad = [
      '2025-03-02,acme/\0one,4,8',
      '2025-03-02,acme/one,4\0,8',
      '2025-03-02\0,acme/one,4,8',
      '\0,\0,\0,\0',
      '\0',
    ]
    const { rows, records } = await buildOf({
      'a.csv': csv(ROW, ...bad, ROW),
      'b.ndjson': `${JSON_ROW}\n${JSON_ROW.replace('one', 'one\0')}\n\0\n${JSON_ROW.replace('one', 'one\\u0000')}\n`,
    })
    expect(rows).toEqual(['2025-03-02 acme/one 9'])
    expect(records.rejected).toEqual({
      malformed_record: 3,
      invalid_timestamp: 2,
      invalid_token_count: 1,
      invalid_model: 2,
    })
  })
})

describe('records that were cut or have a field too many', () => {
  /**
   * Builds a file for each of these records and line ends, behind a right record of a model that is called as the file;
   * expects that record to count and the other to be rejected.
   */
  async function expectRejectedAtTheEnd(
    wrong: string[],
    { ends, format, right }: { ends: string[]; format: string; right: (model: string) => string },
  ): Promise<void> {
    const files = wrong.flatMap((record, index) =>
      ends.map((end) => {
        const file = `record-${String(index).padStart(2, '0')}-end-${ends.indexOf(end)}.${format}`
        return { file, record, text: `${right(file)}\n${record}${end}` }
      }),
    )
    const { rows, rejects } = await buildOf(Object.fromEntries(files.map(({ file, text }) => [file, text])))
    expect(rejects.map(({ file, record, reason, content }) => [file, record, reason, content])).toEqual(
      files.map(({ file, record }) => [file, 2, 'malformed_record', record]),
    )
    expect(rows).toEqual(files.map(({ file }) => `2025-03-02 ${file} 3`))
  }

  it('are rejected at the end of CSV, whatever ends the line', async () => {
    const wrong = [
      '2025-03-02,acme/one,4',
      '2025-03-02,acme',
      '20',
      '2025-03-02,acme/one,4,8,16',
      '2025-03-02,acme/one,4,8,,16',
      '2025-03-02,acme/one,"4"1,8',
    ]
    const right = (model: string) => `${HEADER}\n${ROW.replace('acme/one', model)}`
    await expectRejectedAtTheEnd(wrong, { ends: ['', '\n', '\r\n'], format: 'csv', right })
  })

  it('are rejected where the field too many has quotes within quotes, and columns are not needed', async () => {
    const row = '2025-03-02T12:00:00Z,acme/one,Ann,1,2,'
    // A comma without quotes: the tokens are one column further on.
    const ends = ['"a ""b"""', '"""b"""', '"a ""b""",']
    const shifted = ends.map((end) => `2025-03-02T12:00:00Z,acme/one,Lee,5,1,2,${end}`)
    const files = shifted.flatMap((record, index) => {
      const right = row.replace('acme/one', `record-${index}`)
      const text = `timestamp,model_permaslug,user,prompt_tokens,completion_tokens,note\n${right}"a ""b"""\n${record}\n${right}\n`
      return [
        [`${index}.csv`, text],
        [`${index}.csv.gz`, gzipSync(text)],
      ]
    })
    const { rows, records, rejects } = await buildOf(Object.fromEntries(files))
    expect(records.rejected).toEqual({ malformed_record: files.length })
    expect(rows).toEqual(shifted.map((_, index) => `2025-03-02 record-${index} 12`))
    expect(rejects.map(({ file, record, reason }) => [file, record, reason])).toEqual(
      files.map(([file]) => [file, 2, 'malformed_record']),
    )
  })

  it('count where what is too many is empty: commas at the end say nothing', async () => {
    const { rows, records } = await buildOf({ 'a.csv': `${HEADER}\n${ROW},\n${ROW},,\n` })
    expect(rows).toEqual(['2025-03-02 acme/one 6'])
    expect(records.rejected).toEqual({})
  })

  it('are rejected at the end of NDJSON, whether or not the line ends', async () => {
    const wrong = [
      '{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"acme',
      '{',
      `${JSON_ROW} x`,
      `${JSON_ROW}${JSON_ROW}`,
    ]
    const right = (model: string) => JSON_ROW.replace('acme/one', model)
    await expectRejectedAtTheEnd(wrong, { ends: ['', '\n'], format: 'ndjson', right })
  })
})
