import { describe, expect, it } from 'vitest'
import { splitCsv, splitLines } from '../../../pipeline/raw/files/split.ts'

/** The bytes of `text` in chunks of `size`: a file may be cut anywhere. */
async function* chunksOf(text: string, size: number): AsyncIterable<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function textsOf(batches: AsyncIterable<Buffer[]>): Promise<string[]> {
  return (await Array.fromAsync(batches)).flat().map(String)
}

const CUTS = [1, 2, 3, 5, 1000]

describe('splitLines', () => {
  it.each([
    ['', []],
    ['\n', ['']],
    ['a\nb\n', ['a', 'b']],
    ['a\n\n\u{1f600}', ['a', '', '\u{1f600}']],
    ['a\r\nb\rc\n', ['a\r', 'b\rc']],
  ])('splits %j at each line feed', async (text, lines) => {
    for (const size of CUTS) expect(await textsOf(splitLines(chunksOf(text, size))), `cut at ${size}`).toEqual(lines)
  })
})

describe('splitCsv', () => {
  it.each([
    ['', []],
    ['a,b\nc,d\n', ['a,b', 'c,d']],
    ['a,b\nc,d', ['a,b', 'c,d']],
    ['a\r\nb\rc\n\nd\r\n\r\n', ['a', 'b', 'c', '', 'd', '']],
    ['"a\nb",c\nd\n', ['"a\nb",c', 'd']],
    ['"a""\r\n""b"\r\nc\r\n', ['"a""\r\n""b"', 'c']],
    ['"",""\n""\n', ['"",""', '""']],
    [' "a\nb" ,c\nd\n', [' "a\nb" ,c', 'd']],
    ['5"\nx "\ny\n', ['5"', 'x "', 'y']],
    ['a,"b\nc\n', ['a,"b\nc\n']],
  ])('splits %j at each line end outside quotes', async (text, records) => {
    for (const size of CUTS)
      expect(await textsOf(splitCsv(chunksOf(text, size), ',')), `cut at ${size}`).toEqual(records)
  })

  it('splits by the given delimiter', async () => {
    expect(await textsOf(splitCsv(chunksOf('a,"b\nc;"d\ne"\n', 1000), ';'))).toEqual(['a,"b', 'c;"d\ne"'])
  })
})
