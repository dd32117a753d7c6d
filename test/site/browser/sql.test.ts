import { describe, expect, it } from 'vitest'
import { fromHash, toHash } from '../../../pipeline/site/browser/sql/address.ts'
import { answerContent, chartColumns, chartQuery } from '../../../pipeline/site/browser/sql/answer-chart.ts'
import { type Cell, readCells } from '../../../pipeline/site/browser/sql/cells.ts'
import { errorOfQuestion, keepAnswer, splitScript } from '../../../pipeline/site/browser/sql/script.ts'
import { drawScene } from '../../../pipeline/site/chart/scene.ts'

/** Tokens as DuckDB gives them: places in bytes. Types: 2 text, 3 operator, 4 keyword, 5 comment. */
function tokensOf(script: string) {
  const types = { text: 2, operator: 3, word: 4, comment: 5 }
  const found = [...script.matchAll(/(?<text>'[^']*')|(?<comment>--.*)|(?<operator>;)|(?<word>\w+)/g)]
  const placed = found.map(({ index, groups = {} }) => ({
    offset: Buffer.byteLength(script.slice(0, index)),
    type: Object.entries(types).find(([name]) => groups[name] !== undefined)?.[1] ?? 0,
  }))
  return { offsets: placed.map(({ offset }) => offset), types: placed.map(({ type }) => type) }
}

describe('a script', () => {
  const split = (script: string) => splitScript(script, tokensOf(script))

  it('is split at semicolons outside of texts and comments, and each statement keeps its place', () => {
    const script = "CREATE VIEW é AS FROM 'a;ü';\n-- one; two\n  SELECT 1; ;\n-- end;"
    expect(split(script)).toEqual([
      { sql: "CREATE VIEW é AS FROM 'a;ü'", isCommand: true },
      { sql: `${' '.repeat(28)}\n-- one; two\n  SELECT 1`, isCommand: false },
    ])
  })

  it('has no statements if it has only comments', () => expect(split('-- nothing; here')).toEqual([]))

  it('may end in a comment', () => {
    const [statement] = split('SELECT 1 -- one')
    expect(keepAnswer(statement?.sql ?? '')).toBe('CREATE OR REPLACE TEMP TABLE answer AS FROM (\nSELECT 1 -- one\n)')
  })
})

it('an error names the line of the question, once', () => {
  const place = (line: number) => `LINE ${line}: select selec 1\n                     ^`
  expect(errorOfQuestion(`Conversion Error: near "1"\n\n${place(2)}\n\n${place(2)}`)).toBe(
    `Conversion Error: near "1"\n\n${place(1)}`,
  )
  expect(errorOfQuestion('Conversion Error: none\n\nLINE 10: x\n         ^')).toBe(
    'Conversion Error: none\n\nLINE 9:  x\n         ^',
  )
  expect(errorOfQuestion('Out of Memory Error: none')).toBe('Out of Memory Error: none')
})

it('cells are read as they were written: NULL, empty texts, quotes, line breaks', () => {
  expect(readCells('"1",,"","a ""b"", c"\n"x\ny",,,"z"\n')).toEqual([
    ['1', null, '', 'a "b", c'],
    ['x\ny', null, null, 'z'],
  ])
  expect(readCells('')).toEqual([])
  expect(() => readCells('"1","a')).toThrow('cut')
})

it('an address keeps question and release', () => {
  const question = "SELECT 'a&b=c#d+e', '100 %'\nFROM daily"
  for (const release of [undefined, '20261120T120000Z'])
    expect(fromHash(toHash({ question, release }))).toEqual({ question, release })
  expect(fromHash('#q=FROM+daily&release=../secret')).toEqual({
    question: 'FROM daily',
    release: undefined,
    misnamed: '../secret',
  })
  expect(fromHash('')).toEqual({ question: '', release: undefined })
})

describe('the chart of an answer', () => {
  const columns = [
    { name: 'date', type: 'DATE' },
    { name: 'the "name"', type: 'VARCHAR' },
    { name: 'n', type: 'HUGEINT' },
  ]
  const found = chartColumns(columns)
  if (found === undefined) throw new Error('there is a date and a number')
  const weeks: Cell[][] = [
    ['2026-11-02', 'a', '5'],
    ['2026-11-02', 'other', '7'],
    ['2026-11-16', 'a', '6'],
  ]

  it('has the first date, number and name, read exactly', () => {
    expect(chartQuery(found)).toContain(`"the ""name""", TRY_CAST("n" AS HUGEINT) FROM answer`)
    expect(chartColumns(columns.slice(0, 2))).toBeUndefined()
    expect(chartColumns([{ name: 't', type: 'TIMESTAMP' }, ...columns.slice(2)])?.name).toBeUndefined()
  })

  it('draws weeks that begin on Mondays, every name among them, with gaps', () => {
    const content = answerContent(weeks, found)
    if (typeof content === 'string') throw new Error(content)
    expect(content).toMatchObject({ grain: 'week', measure: 'number', column: { name: 'n', factor: 1 } })
    expect(content.series.map(({ name, values }) => [name, values])).toEqual([
      ['a', [5n, null, 6n]],
      ['other', [7n, null, null]],
    ])
    const texts = drawScene(content, { width: 800, height: 300 }).marks.flatMap((mark) =>
      mark.kind === 'text' ? [mark.text] : [],
    )
    expect(texts).toEqual(expect.arrayContaining(['n', 'a', 'other']))
  })

  it('draws fractions by their value', () => {
    const share = chartColumns([...columns.slice(0, 1), { name: 'share', type: 'DOUBLE' }])
    const cells = [
      ['2026-11-01', null, '250000'],
      ['2026-11-02', null, '500000'],
    ]
    const content = share && answerContent(cells, share)
    if (content === undefined || typeof content === 'string') throw new Error(content)
    const texts = drawScene(content, { width: 300, height: 200 }).marks.flatMap((mark) =>
      mark.kind === 'text' ? [mark.text] : [],
    )
    expect(texts).toEqual(expect.arrayContaining(['share', '0.5', '0.1']))
  })

  it.each<[why: RegExp, cells: Cell[][]]>([
    [/two dates/, weeks.slice(0, 2)],
    [/same date and the "name"/, [...weeks, ['2026-11-16', 'a', '1']]],
    [/negative/, [...weeks, ['2026-11-23', 'a', '-1']]],
    [/has one date/, [weeks[0] ?? [], ['2026-11-09', 'b', '1']]],
    [/too far apart/, [...weeks, ['1990-01-03', 'a', '1']]],
  ])('is not drawn if it would mislead: %s', (why, cells) => expect(answerContent(cells, found)).toMatch(why))
})
