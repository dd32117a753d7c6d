import { crc32, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { logNormal, seededRandom } from '../../pipeline/raw/sample/random.ts'
import { compressDates, gzipComposer, type Link, moveCrc, runOf } from '../../server/published/composed-gzip.ts'
import { FORMATS } from '../../server/published/negotiation.ts'
import { temporaryFolder } from '../support/app.ts'
import { publish, type Row } from '../support/publish.ts'
import { loadCurrent } from '../support/release-loader.ts'

const bytes = fc.uint8Array({ maxLength: 2000 })

test('the checksum of two texts follows from those of each', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect((moveCrc(crc32(a), b.length) ^ crc32(b)) >>> 0).toBe(crc32(Buffer.concat([a, b])))
    }),
    { numRuns: 2000 },
  )
})

test('moving a checksum twice equals moving it by the sum', () => {
  const length = fc.integer({ min: 0, max: 2 ** 31 - 1 })
  fc.assert(
    fc.property(fc.nat(), length, length, (crc, a, b) => {
      expect(moveCrc(moveCrc(crc, a), b)).toBe(moveCrc(crc, a + b))
    }),
    { numRuns: 2000 },
  )
})

const DAYS = 40

/** Totals whose order changes from day to day, as real ones do: of what is all alike, gzip makes still less. */
function driftingRows(): Row[] {
  const random = seededRandom('drift')
  let totals = Array.from({ length: 50 }, (_, model) => 4e11 / (model + 1))
  return Array.from({ length: DAYS }, (_, index) => {
    totals = totals.map((total) => Math.round(total * logNormal(random, 0.07)))
    const models = totals.map((total, model) => ({
      date: new Date(Date.UTC(2025, 0, index + 1)).toISOString().slice(0, 10),
      model_permaslug: `vendor${model % 37}/model-${model}-2025`,
      total_tokens: String(total),
    }))
    return models.sort((a, b) => Number(b.total_tokens) - Number(a.total_tokens))
  }).flat()
}

test('a gzip is not larger than the default window by gzip -6', async () => {
  const publicDir = await temporaryFolder()
  await publish(publicDir, driftingRows())
  const dataset = await loadCurrent(publicDir)
  const asked = { start_date: '2025-01-10', end_date: '2025-02-09' }
  for (const format of FORMATS) {
    const plain = Buffer.concat(dataset.answer('daily', asked, format).pieces)
    const { bytes } = dataset.answer('daily', asked, format, 'gzip')
    expect(bytes, format).toBeLessThanOrEqual(gzipSync(plain, { level: 6 }).length)
  }
})

test('a composer takes any bytes before, in and after any dates, wherever their pieces lie', () => {
  fc.assert(
    fc.property(
      fc.array(bytes, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
      bytes,
      bytes,
      fc.nat(),
      fc.nat(),
      (pool, chosen, head, tail, a, b) => {
        const rows = { ...runOf(pool.map((piece) => Buffer.concat([Buffer.from(','), piece]))), separatorBytes: 1 }
        const pieces = Uint32Array.from(chosen, (n) => n % pool.length)
        const pairs = Array.from(pieces.subarray(1), (piece, index): Link => [pieces[index] ?? 0, piece]).reverse()
        const links = pieces.map((_, date) => (date === 0 ? 0 : pairs.length - date))
        const [from, to] = [a % (pieces.length + 1), b % (pieces.length + 1)].sort((x, y) => x - y) as [number, number]
        const composer = gzipComposer(Buffer.from(head), rows, compressDates(rows, pairs), { pieces, links })
        const dates = [...pieces.subarray(from, to)].map((piece) => pool[piece] ?? expect.unreachable())
        const plain = Buffer.concat([
          head,
          Buffer.concat(dates.flatMap((date) => [Buffer.from(','), date])).subarray(1),
          tail,
        ])
        expect(gunzipSync(Buffer.concat(composer.compose(from, to, Buffer.from(tail)))).equals(plain)).toBe(true)
      },
    ),
    { numRuns: 1000 },
  )
})
