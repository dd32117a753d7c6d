import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BuildError } from '../../pipeline/base/errors.ts'
import { parseJson, toJson, toJsonPieces } from '../../pipeline/base/json.ts'
import { readJsonText } from '../../pipeline/base/json-text.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { mutate } from '../support/mutants.ts'

const File = z.strictObject({
  name: z.string().min(1),
  share: z.number().max(1).optional(),
  count: z.int().optional(),
  kind: z.enum(['a', 'b']).optional(),
  list: z.array(z.string()).min(1).optional(),
  day: z.iso.date().optional(),
  either: z.union([z.string(), z.boolean()]).optional(),
})

describe('a JSON file that is wrong', () => {
  it.each([
    [{}, 'name: is missing'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 5 }, 'name: must be a string, not 5'],
    [{ name: ['x'.repeat(99)] }, `name: must be a string, not ["${'x'.repeat(58)}…`],
    [{ name: 'n', share: '0.5' }, 'share: must be a number, not "0.5"'],
    [{ name: 'n', share: 2 }, 'share: must be at most 1, not 2'],
    [{ name: 'n', count: 1.5 }, 'count: must be an integer, not 1.5'],
    [{ name: 'n', kind: 'c' }, 'kind: must be one of a, b, not "c"'],
    [{ name: 'n', list: 'x' }, 'list: must be an array, not "x"'],
    [{ name: 'n', list: [] }, 'list: must not be empty'],
    [{ name: 'n', list: ['x', null] }, 'list[1]: must be a string, not null'],
    [{ name: 'n', day: '1 May' }, 'day: must be a valid date, not "1 May"'],
    [{ name: 'n', either: 3 }, 'either: must be a string or a boolean, not 3'],
    [[], 'f.json:1: must be an object, not []'],
  ])('%j: %s', (value, message) => {
    const parsing = () => parseJson(File, JSON.stringify(value), 'f.json', BuildError)
    expect(parsing).toThrow(BuildError)
    expect(parsing).toThrow(message)
  })
})

describe('a JSON file', () => {
  const messageOf = (text: string): string => {
    try {
      return JSON.stringify(parseJson(File, text, 'f.json', BuildError))
    } catch (error) {
      expect(error).toBeInstanceOf(BuildError)
      return (error as Error).message
    }
  }

  it.each([
    ['', '1:1: not JSON: expected a value (a text needs double quotes), found the end of the file'],
    ['{\n  "name": "n"', '2:14: not JSON: expected "," or "}", found the end of the file'],
    ['{"name": "n"\n"share": 1}', '2:1: not JSON: expected "," or "}", found "share"'],
    ['{"name" "n"}', '1:9: not JSON: expected ":", found "n"'],
    ['{name: "n"}', '1:2: not JSON: expected a key in double quotes, found name'],
    ["{'name': 1}", "1:2: not JSON: expected a key in double quotes, found 'name'"],
    ['{"name": None}', '1:10: not JSON: expected a value (a text needs double quotes), found None'],
    ['{"share": .5}', '1:11: not JSON: expected a value (a text needs double quotes), found .5'],
    ['{"name": "n"}}', '1:14: not JSON: expected the end of the file, found }'],
    ['\ufeff{"é": "n}', '1:7: a text that does not end on its line'],
    ['{"name": "\\x"}', '1:10: a text with a control character or a wrong escape; write \\\\ for \\'],
    ['{"name": "n", "name": "m"}', '1:15: name: is a duplicate key; keep one'],
  ])('with wrong syntax names line and column: %j', (text, message) => {
    expect(messageOf(text)).toBe(`f.json:${message}`)
  })

  it('lists comments, trailing commas and duplicate keys, each with its place', () => {
    expect(messageOf('{ // why\n  "list": ["x",],\n  "a": 1, "a": 2, /* b\n */\n}').split('\n')).toEqual([
      '5 faults:',
      '  f.json:1:3: a comment, which JSON does not allow; remove it',
      '  f.json:2:15: a comma before "]"; remove it',
      '  f.json:3:11: a: is a duplicate key; keep one',
      '  f.json:3:17: a comma before "}"; remove it',
      '  f.json:3:19: a comment, which JSON does not allow; remove it',
    ])
  })

  it('lists all faults of its values, each with its line', () => {
    expect(
      messageOf('\ufeff\n{\n  "share": "x",\n  "list": [\n    "x",\n    {}\n  ],\n  "nam": 1\n}').split('\n'),
    ).toEqual([
      '4 faults:',
      '  f.json:1: name: is missing',
      '  f.json:3: share: must be a number, not "x"',
      '  f.json:6: list[1]: must be a string, not {}',
      '  f.json:8: unknown key "nam"',
    ])
  })

  it('is read or refused as JSON.parse does', () => {
    const text = JSON.stringify({ a: ['é\n"\\', -1.5e-3, true, null, {}], b: { c: [], d: { e: false } } }, undefined, 1)
    for (let number = 0; number < 2000; number++) {
      const mutant = mutate(Buffer.from(text), seededRandom('json', number), Buffer.from(text)).toString()
      const faults = readJsonText(mutant).filter(({ problem }) => !problem.includes('duplicate'))
      expect(faults.length === 0, mutant).toBe(isJson(mutant))
    }
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a JSON text as we write it', () => {
  it.each([
    ['a number that JSON has no place for', '{\n  "share": 1e400\n}\n'],
    ['lists too deep', nested(501)],
    ['lists deeper than the call stack', nested(20_000)],
    ['nothing', 'undefined\n'],
  ])('is read like any other: %s', (_, text) => {
    const anyway = () => parseJson(File, ` ${text}`, 'f.json', BuildError)
    const as = (read: () => unknown) => {
      try {
        return read()
      } catch (error) {
        return (error as Error).message.replaceAll(/:\d+(:\d+)?:/g, ':')
      }
    }
    expect(as(() => parseJson(File, text, 'f.json', BuildError))).toEqual(as(anyway))
  })

  function nested(levels: number): string {
    const [indent, list] = ['  ', (level: number): string => indent.repeat(Math.min(level, 600))]
    const open = Array.from({ length: levels }, (_, level) => `${list(level)}[`)
    const close = Array.from({ length: levels }, (_, level) => `${list(levels - 1 - level)}]`)
    return `${[...open.slice(0, -1), `${open.at(-1)}]`, ...close.slice(1)].join('\n')}\n`
  }
})

it('is the same text in pieces', async () => {
  const value = fc.object({
    withNullPrototype: false,
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined)],
  })
  await fc.assert(
    fc.asyncProperty(value, async (each) => {
      expect((await Array.fromAsync(toJsonPieces(each))).join('')).toBe(toJson(each))
    }),
    { numRuns: 500 },
  )
  const dated = { at: new Date(0), list: [[], {}, [{ at: new Date(0) }]], none: {} }
  expect((await Array.fromAsync(toJsonPieces(dated))).join('')).toBe(toJson(dated))
})
