/** Gzip in blocks. A known file of another text saves time and never changes a byte. */
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { gzip } from '../../pipeline/base/gzip.ts'

const BLOCK = 131_072

/** Lines of a table, about two blocks and a half of them. */
const LINES = Array.from(
  { length: 9000 },
  (_, n) => `2025-01-${10 + (n % 20)},author/model-${n},${(n * 7919) % 99_991}\n`,
)
const TEXT = Buffer.from(LINES.join(''))

it('unpacks to the text, at the borders of blocks, too', async () => {
  for (const length of [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, TEXT.length]) {
    const text = TEXT.subarray(0, length)
    expect(gunzipSync(await gzip(text)).equals(text), `${length}`).toBe(true)
  }
})

it('is that of zlib for a text of one block, and hardly larger for others', async () => {
  const [short, long] = [TEXT.subarray(0, BLOCK), TEXT]
  const [body, expected] = [await gzip(short), gzipSync(short, { level: 9 })]
  expect(body.subarray(10).equals(expected.subarray(10))).toBe(true)
  expect((await gzip(long)).length).toBeLessThan(gzipSync(long, { level: 9 }).length * 1.01)
})

it('has the same bytes with any other file known', async () => {
  const place = fc.integer({ min: 0, max: TEXT.length })
  const edit = fc.record({ end: place, at: place, insert: fc.string({ maxLength: 3 }) })
  await fc.assert(
    fc.asyncProperty(edit, place, async ({ end, at, insert }, length) => {
      const other = Buffer.concat([TEXT.subarray(0, Math.min(at, end)), Buffer.from(insert), TEXT.subarray(at, end)])
      const known = await gzip(other, { level: 1 })
      const text = TEXT.subarray(0, length)
      expect((await gzip(text, { level: 1, known })).equals(await gzip(text, { level: 1 }))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

it('has the same bytes if the known file is cut, damaged or of another program', async () => {
  const [whole, expected] = [await gzip(TEXT), await gzip(TEXT)]
  const damaged = Buffer.from(whole)
  damaged.writeUInt8(damaged.readUInt8(5000) ^ 1, 5000)
  for (const known of [whole.subarray(0, whole.length / 2), damaged, gzipSync(TEXT), Buffer.alloc(0), TEXT]) {
    expect((await gzip(TEXT, { known })).equals(expected)).toBe(true)
  }
})

it('ends where a block ends, although the known file goes on', async () => {
  const [known, text] = [await gzip(TEXT), TEXT.subarray(0, 2 * BLOCK)]
  expect((await gzip(text, { known })).equals(await gzip(text))).toBe(true)
})

it('takes over blocks of a known file instead of compressing them', async () => {
  const known = await gzip(TEXT.subarray(0, 2 * BLOCK + 5), { level: 1 })
  const [mixed, plain] = [await gzip(TEXT, { known }), await gzip(TEXT)]
  expect(mixed.equals(plain)).toBe(false)
  expect(gunzipSync(mixed).equals(TEXT)).toBe(true)
})
