import { crc32, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { logNormal, seededRandom } from '../../pipeline/raw/sample/random.ts'
import { compressDates, gzipComposer, type Link, moveCrc, runOf } from '../../server/published/composed-gzip.ts'
import type { Dataset } from '../../server/published/dataset.ts'
import { FORMATS } from '../../server/published/negotiation.ts'
import { temporaryFolder } from '../support/app.ts'
import { publish, type Row, sampleRows } from '../support/publish.ts'
import { loadCurrent } from '../support/release-loader.ts'

const bytes = fc.uint8Array({ maxLength: 2000 })

describe('checksums', () => {
  test('of two texts are combined from those of each', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect((moveCrc(crc32(a), b.length) ^ crc32(b)) >>> 0).toBe(crc32(Buffer.concat([a, b])))
      }),
      { numRuns: 2000 },
    )
  })

  test('of any length: moving twice equals moving by the sum', () => {
    const length = fc.integer({ min: 0, max: 2 ** 31 - 1 })
    fc.assert(
      fc.property(fc.nat(), length, length, (crc, a, b) => {
        expect(moveCrc(moveCrc(crc, a), b)).toBe(moveCrc(crc, a + b))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a gzip of any window', () => {
  const DAYS = 40
  const day = fc.integer({ min: 1, max: DAYS + 5 })
  const date = (n: number) => new Date(Date.UTC(2025, 0, n)).toISOString().slice(0, 10)
  // A gap, and days that the dataset does not have yet.
  const sparse = sampleRows({ days: DAYS }).filter((row) => row.date !== '2025-01-09')

  async function prepared(rows = sparse): Promise<Dataset> {
    const publicDir = await temporaryFolder()
    await publish(publicDir, rows)
    return await loadCurrent(publicDir)
  }

  const window = fc
    .tuple(day, day)
    .map(([a, b]) => ({ start_date: date(Math.min(a, b)), end_date: date(Math.max(a, b)) }))

  test.each(FORMATS)('unpacks to the bytes of the plain answer: %s', async (format) => {
    const dataset = await prepared()
    fc.assert(
      fc.property(window, (asked) => {
        const plain = Buffer.concat(dataset.answer('daily', asked, format).pieces)
        const packed = dataset.answer('daily', asked, format, 'gzip')
        const whole = Buffer.concat(packed.pieces)
        expect(whole.length).toBe(packed.bytes)
        // One member, and nothing after it: zlib checks CRC and size, and would read further members.
        expect(gunzipSync(whole).equals(plain)).toBe(true)
        expect([whole.readUInt32LE(whole.length - 8), whole.readUInt32LE(whole.length - 4)]).toEqual([
          crc32(plain),
          plain.length,
        ])
      }),
      { numRuns: 2000 },
    )
  })

  /** Totals whose order changes from day to day, as real ones do: of what is all alike, gzip makes still less. */
  function driftingRows(): Row[] {
    const random = seededRandom('drift')
    let totals = Array.from({ length: 50 }, (_, model) => 4e11 / (model + 1))
    return Array.from({ length: DAYS }, (_, index) => {
      totals = totals.map((total) => Math.round(total * logNormal(random, 0.07)))
      const models = totals.map((total, model) => ({
        date: date(index + 1),
        model_permaslug: `vendor${model % 37}/model-${model}-2025`,
        total_tokens: String(total),
      }))
      return models.sort((a, b) => Number(b.total_tokens) - Number(a.total_tokens))
    }).flat()
  }

  test.each(FORMATS)('is not larger than the default window by gzip -6: %s', async (format) => {
    const dataset = await prepared(driftingRows())
    const asked = { start_date: '2025-01-10', end_date: '2025-02-09' }
    const plain = Buffer.concat(dataset.answer('daily', asked, format).pieces)
    expect(dataset.answer('daily', asked, format, 'gzip').bytes).toBeLessThanOrEqual(
      gzipSync(plain, { level: 6 }).length,
    )
  })

  test.each(FORMATS)('has a header without name, time or operating system: %s', async (format) => {
    const dataset = await prepared()
    // RFC 1952 § 2.3: magic number, deflate, no flags, four bytes of time, no level, unknown system.
    const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    for (const [start_date, end_date] of [
      ['2025-01-02', '2025-01-02'],
      ['2025-01-01', '2025-02-09'],
      ['2025-02-20', '2025-02-21'],
    ] as const) {
      const bytes = Buffer.concat(dataset.answer('daily', { start_date, end_date }, format, 'gzip').pieces)
      expect(bytes.subarray(0, header.length)).toEqual(header)
    }
  })
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
