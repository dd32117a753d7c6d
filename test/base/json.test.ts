import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BuildError } from '../../pipeline/base/errors.ts'
import { parseJson } from '../../pipeline/base/json.ts'

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
    [{ name: '' }, 'name: is empty'],
    [{ name: 5 }, 'name: must be a text, not 5'],
    [{ name: ['x'.repeat(99)] }, `name: must be a text, not ["${'x'.repeat(58)}…`],
    [{ name: 'n', share: '0.5' }, 'share: must be a number, not "0.5"'],
    [{ name: 'n', share: 2 }, 'share: must be at most 1, not 2'],
    [{ name: 'n', count: 1.5 }, 'count: must be a whole number, not 1.5'],
    [{ name: 'n', kind: 'c' }, 'kind: must be "a" or "b", not "c"'],
    [{ name: 'n', list: 'x' }, 'list: must be a list, not "x"'],
    [{ name: 'n', list: [] }, 'list: is empty'],
    [{ name: 'n', list: ['x', null] }, 'list[1]: must be a text, not null'],
    [{ name: 'n', day: '1 May' }, 'day: must be a valid date, not "1 May"'],
    [{ name: 'n', either: 3 }, 'either: has a form that is not known: 3'],
    [[], 'f.json: must be an object, not []'],
    [
      { share: 'x', count: null },
      'name: is missing; share: must be a number, not "x"; count: must be a number, not null',
    ],
  ])('%j: %s', (value, message) => {
    const parsing = () => parseJson(File, JSON.stringify(value), 'f.json', BuildError)
    expect(parsing).toThrow(BuildError)
    expect(parsing).toThrow(message)
  })
})
