import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvShape, readCsvShape } from '../../../pipeline/raw/files/csv-shape.ts'
import { useFolder } from '../../support/folder.ts'

const folder = useFolder()

async function shapeOf(text: string): Promise<CsvShape> {
  const path = join(folder(), 'shape.csv')
  await writeFile(path, text)
  const file = { path, name: 'shape.csv', bytes: 0, modified: 0n, format: 'csv', compression: 'uncompressed' } as const
  return readCsvShape(file, ',', new AbortController())
}

const duckdb = await DuckDBInstance.create(':memory:')

/** How many records DuckDB reads, those it calls malformed among them. A connection knows of its own rejects alone. */
async function countByDuckDb(path: string): Promise<number> {
  const connection = await duckdb.connect()
  try {
    const read = await connection.runAndReadAll(
      `SELECT count(*)::INTEGER FROM read_csv(
         $path, columns = {a: 'VARCHAR', b: 'VARCHAR', c: 'VARCHAR'}, auto_detect = false, header = true, quote = '"',
         escape = '"', parallel = false, store_rejects = true, rejects_limit = 0)`,
      { path },
    )
    const malformed = await connection.runAndReadAll('SELECT count(DISTINCT line)::INTEGER FROM reject_errors')
    return [read, malformed].reduce((sum, result) => sum + Number(result.value(0, 0)), 0)
  } finally {
    connection.closeSync()
  }
}

describe('the shape of a CSV file', () => {
  it.each([
    ['', 0, []],
    ['a,b', 0, []],
    ['\ufeffa,b\n', 0, ['LF']],
    ['a,b\n1,2\n3,4', 2, ['LF']],
    ['a,b\r\n\r\n1,2\r\n\r\nmalformed\r\n', 2, ['CRLF']],
    ['a,b\r1,2\r', 1, ['CR']],
    ['a,b\n1,2\r\n3,4\r5,6\n', 3, ['LF', 'CRLF', 'CR']],
    ['a,b\n"1\r\n",2\n', 1, ['LF']],
    ['\ufeff"a\n",b\r\n1,2\r\n', 1, ['CRLF']],
  ])('%j has %j records and the line ends %j', async (text, records, lineEnds) => {
    const shape = await shapeOf(text)
    expect(shape.records).toBe(records)
    expect([...shape.lineEnds]).toEqual(lineEnds)
  })

  it('tells whether there are quotes and line ends within quotes', async () => {
    for (const text of ['1,"2"', '"",""', '1,2""3'])
      expect(await shapeOf(`a,b\n${text}\n`), text).toMatchObject({ hasEscapedQuotes: false, hasQuotedLineEnds: false })
    expect(await shapeOf('a,b\n1,"2"""\n')).toMatchObject({ hasEscapedQuotes: true, hasQuotedLineEnds: false })
    for (const end of ['\n', '\r'])
      expect(await shapeOf(`a,b\n1,"${end}"\n`)).toMatchObject({ hasEscapedQuotes: false, hasQuotedLineEnds: true })
  })

  it('has the length of its longest record in bytes', async () => {
    expect((await shapeOf('a\n\u{1f600}\n')).longestRecordBytes).toBe(4)
    expect((await shapeOf(`a\n${'x'.repeat(300_000)}\nb`)).longestRecordBytes).toBe(300_000)
    expect((await shapeOf(`a\nb\n${'x'.repeat(300_000)}`)).longestRecordBytes).toBe(300_000)
  })

  it.each(['a,b\n1,"2\n', 'a,b\n1,"2', 'a,b\n1,"2""\n3,4\n'])(
    '%j cannot be read because a quote is never closed',
    async (text) => {
      await expect(shapeOf(text)).rejects.toThrow('shape.csv cannot be read whole: the quote that record 1 opens')
    },
  )

  it('has as many records as DuckDB reads, whatever the text', async () => {
    const path = join(folder(), 'any.csv')
    const field = fc.constantFrom(
      '',
      '1',
      ' ',
      'x y',
      '5"x',
      '"q"',
      ' "q" ',
      '"a,b"',
      '"a\nb"',
      '"\n\n"',
      '"a""b"',
      '"6"x',
    )
    const line = fc.array(field, { maxLength: 4 }).map((fields) => fields.join(','))
    const text = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n'))
      .map(([lines, end]) => ['a,b,c', ...lines].join('\n').concat(end))
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const { records } = await shapeOf(content)
        await writeFile(path, content)
        expect(records).toBe(await countByDuckDb(path))
      }),
      { numRuns: 200, seed: 7 },
    )
  })
})
