import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Utf8Check } from '../../../pipeline/raw/files/csv-shape.ts'

const Piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 2 }).map((bytes) => Buffer.from(bytes)),
)

it('the check of UTF-8 does not depend on where bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(Piece), fc.array(fc.nat({ max: 30 })), (pieces, places) => {
      const bytes = Buffer.concat(pieces)
      const check = new Utf8Check()
      const cuts = [0, ...places.sort((a, b) => a - b), bytes.length]
      for (const [index, start] of cuts.slice(0, -1).entries()) check.add(bytes.subarray(start, cuts[index + 1]))
      expect(check.isWhole()).toBe(isUtf8(bytes))
    }),
    { seed: 9, numRuns: 2000 },
  )
})
