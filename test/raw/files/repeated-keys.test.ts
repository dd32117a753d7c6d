/** Of repeated keys the last wins, whatever is around them, and other lines stay as they are. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newShape, readLineShape } from '../../../pipeline/raw/files/line-shape.ts'
import { RepeatedKeys } from '../../../pipeline/raw/files/repeated-keys.ts'

/** What each line says that has repeated keys. */
function repaired(...lines: string[]): string[] {
  const found: string[] = []
  const keys = new RepeatedKeys()
  keys.scan(Buffer.from(lines.map((line) => `${line}\n`).join('')), (_start, _end, line) => found.push(`${line}`))
  return found
}

describe('repeated keys', () => {
  it.each([
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"b":{"a":1},"a":3}', '{"a":3,"b":{"a":1}}'],
    ['{"b":{"c":1,"c":[{"d":1 , "d"\t:2}]}}', '{"b":{"c":[{"d":2}]}}'],
    ['{"a":1,"\\u0061":2}', '{"a":2}'],
    ['{"a":12345678901234567890,"b":1,"b":1.50,"c":1e3}', '{"a":12345678901234567890,"b":1.50,"c":1e3}'],
    ['{"a":"{\\"x\\":1,\\"x\\":2}\\\\","a":"é\\ud800"}', '{"a":"é\ufffd"}'],
    [
      `{"a":1,${'"b":{'.repeat(70)}"c":1,"c":2${'}'.repeat(70)}}`,
      `{"a":1,${'"b":{'.repeat(70)}"c":2${'}'.repeat(70)}}`,
    ],
    ['{"a":1,"a":7,"b":[NaN,-Infinity , "NaN,]\\"",inf],}\f\r', '{"a":7,"b":["NaN","-Infinity","NaN,]\\"","inf"]}'],
    ['{"a":1,"a":[7, ] , }', '{"a":[7]}'],
  ])('are removed from %s', (line, expected) => {
    expect(repaired('{"a":1}', line, '{"a":2}')).toEqual([expected])
  })

  it.each([
    '{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}',
    '{"a":"\\"a\\":1","b":"a"}',
    '{"a":1,"a":2',
    '{"a":1,"a":2,,}',
    '{"a":1,"a":[,]}',
    '{"a":1,"a":2,NaN:3}',
    '{"a":"x',
    '"a":1,"a":2',
    `{${Array.from({ length: 600 }, (_, index) => `"${index}":0`).join()}}`,
    '}]}"a":1',
    '',
  ])('are not in %s, which stays as it is', (line) => {
    expect(repaired(line, line)).toEqual([])
  })

  it.each([
    ['{"a":"\\ud83d"}', '{"a":"\\ufffd"}'],
    ['{"\\uD83Dx":"\\uDE00\\uD83D"}', '{"\\ufffdx":"\\ufffd\\ufffd"}'],
    ['{"a":"\\ud83d\\ud83d\\ude00\\ude00"}', '{"a":"\\ufffd\\ud83d\\ude00\\ufffd"}'],
    ['{"a":"\\\\ud83d\\ud83d"}', '{"a":"\\\\ud83d\\ufffd"}'],
    ['{"a":"\\ud83d","a":"\\udfff"}', '{"a":"\ufffd"}'],
  ])('are looked for beside halves of characters, for which U+FFFD is put: %s', (line, expected) => {
    expect(repaired('{"a":"\\ud83d\\ude00"}', line, '{"a":"\\\\ud83d \\ud7ff \\ue000"}')).toEqual([expected])
  })

  it('are not parsed if there are too many keys, and the line is rejected', () => {
    const keys = Array.from({ length: 500_001 }, () => '"k":1').join()
    expect(repaired(`{${keys}}`)).toEqual(['a record with more than 500000 keys'])
    expect(repaired(`[${keys.replaceAll('"k":1', '{"k":1}')}]`)).toEqual([])
  })

  it('are not looked for in a line that is not UTF-8, which DuckDB rejects', () => {
    const keys = new RepeatedKeys()
    keys.scan(Buffer.from('{"a":"\xff","a":1}\n', 'latin1'), () => expect.unreachable())
  })

  it('are found wherever the chunks of a file are cut', async () => {
    const text = Buffer.from('{"a":1}\n\n{"long":"é","b":1,"b":"\\\\"}\n{"a":1,"b":2}')
    const shape = { ...newShape(), longestBytes: 28, hasRepeatedKeys: true }
    for (let cut = 0; cut < text.length; cut++) {
      async function* chunks() {
        yield text.subarray(0, cut)
        yield text.subarray(cut)
      }
      expect(await readLineShape(chunks())).toEqual(shape)
    }
  })

  it('leave what JSON.parse reads', () => {
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('1', '-0.5e2', 'null', '"a"', '"\\"}"', '[]'),
        fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(' , ')}]`),
        fc
          .array(fc.tuple(fc.constantFrom('a', 'b', '\\u0061', 'a b', 'Aa', 'BB'), tie('value')), { maxLength: 5 })
          .map((members) => `{ ${members.map(([key, member]) => `"${key}" :${member}`).join(',')}}`),
      ),
    }))
    const property = fc.property(value, (line) => {
      const [last = line] = repaired(line)
      expect(JSON.parse(last)).toEqual(JSON.parse(line))
      expect(repaired(last)).toEqual([])
      const keys = (text: string) => text.match(/" ?:/g)?.length
      expect(keys(last)).toBe(keys(JSON.stringify(JSON.parse(line))))
    })
    fc.assert(property, { seed: 18 })
  })
})
