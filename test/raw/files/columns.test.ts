import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFirstRecord, readCsvColumns } from '../../../pipeline/raw/files/columns.ts'
import { describeFile } from '../../../pipeline/raw/files/find.ts'
import { recognize } from '../../../pipeline/raw/files/recognize.ts'
import { useFolder } from '../../support/folder.ts'

const folder = useFolder()

const WANTED = ['timestamp', 'model', 'a b']

/** The columns of a whole text, as its first record says them: by the slow way, which knows no heads. */
function columnsOf(text: string): { names: string[]; delimiter: string } | 'empty' | 'broken' {
  if (text.replace(/^\ufeff/, '') === '') return 'empty'
  const headers = [',', ';', '\t', '|'].flatMap((delimiter) => {
    const names = parseFirstRecord(text, delimiter)
    return names === undefined ? [] : [{ delimiter, names }]
  })
  const known = (names: readonly string[]) => names.filter((name) => WANTED.includes(name)).length
  const [best] = headers.sort((a, b) => known(b.names) - known(a.names) || b.names.length - a.names.length)
  return best === undefined ? 'broken' : { ...best, names: best.names.map((name) => name.replace(/\r\n?/g, '\n')) }
}

async function readColumns(text: string, isRecognized: boolean): Promise<ReturnType<typeof columnsOf>> {
  const path = join(folder(), 'header.csv')
  await writeFile(path, text)
  const file = await describeFile(path, 'header.csv')
  try {
    const columns = await readCsvColumns(isRecognized ? await recognize(file) : file, WANTED)
    if (columns === undefined) return 'empty'
    expect(columns.types).toEqual(columns.names.map(() => 'VARCHAR'))
    return { names: columns.names, delimiter: columns.delimiter }
  } catch {
    return 'broken'
  }
}

const field = fc.oneof(
  fc.constantFrom(...WANTED, '"timestamp"', '"a\nb"', '"a""b"', '"', 'a"b', '""', '', ' ', '\ufeff', 'é', "'"),
  fc.constantFrom(4000, 4096, 16_380, 16_384, 20_000).map((length) => 'x'.repeat(length)),
)
const text = fc
  .tuple(
    fc.constantFrom('', '\ufeff', '\ufeff\ufeff', '\n', '"'),
    fc.array(fc.tuple(field, fc.constantFrom(',', ';', '\t', '|', '\n', '\r\n', '\r')), { maxLength: 8 }),
    fc.constantFrom('', '1,2', '1,2\n', '"'),
  )
  .map(([begin, fields, end]) => begin + fields.flat().join('') + end)

it('a CSV file with more columns than are read is refused, in a sentence that says so', async () => {
  const header = Array.from({ length: 100_000 }, (_, column) => `c${column}`).join()
  const path = join(folder(), 'wide.csv')
  await writeFile(path, header)
  const refused = expect(readCsvColumns(await describeFile(path, 'wide.csv'), WANTED)).rejects
  await refused.toThrow('wide.csv has more than 10000 columns, the most that are read')
})

describe('the header of a CSV file', () => {
  it.each([false, true])(
    'is read from a short head as from the whole file, recognized before: %s',
    async (isRecognized) => {
      await fc.assert(
        fc.asyncProperty(text, async (whole) => {
          expect(await readColumns(whole, isRecognized)).toEqual(columnsOf(whole))
        }),
        { numRuns: 200 },
      )
    },
  )
})
