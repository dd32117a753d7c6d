import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shorten, shortenAll, spread, widthOf } from '../../../pipeline/site/chart/labels.ts'

const AREA = { gap: 15, top: 0, bottom: 330 }
const heights = (ys: readonly number[], area = AREA) =>
  spread(
    ys.map((y) => ({ y })),
    area,
  )?.map(({ y }) => y)

describe('spread', () => {
  it('does not move labels that are far enough apart', () => expect(heights([10, 100, 300])).toEqual([10, 100, 300]))

  it('moves labels that overlap apart evenly', () => {
    expect(heights([100, 100, 100])).toEqual([85, 100, 115])
    expect(heights([100, 104, 300])).toEqual([94.5, 109.5, 300])
  })

  it('keeps labels inside the area', () => {
    expect(heights([0, 0])).toEqual([0, 15])
    expect(heights([330, 330])).toEqual([315, 330])
  })

  it('returns undefined if there is no room', () => {
    expect(heights([1, 2, 3], { ...AREA, bottom: 29 })).toBeUndefined()
    expect(heights([1, 2, 3], { ...AREA, bottom: 30 })).toEqual([0, 15, 30])
  })

  it('keeps all labels in order, inside and without overlap, wherever they begin', () => {
    const wanted = fc.array(fc.record({ y: fc.integer({ min: -100, max: 500 }), id: fc.integer() }), { maxLength: 23 })
    fc.assert(
      fc.property(wanted, (items) => {
        const placed = spread(items, AREA) ?? []
        expect(placed.map(({ id }) => id)).toEqual(items.toSorted((a, b) => a.y - b.y).map(({ id }) => id))
        for (const [index, { y }] of placed.entries()) {
          expect(y).toBeGreaterThanOrEqual(AREA.top)
          expect(y).toBeLessThanOrEqual(AREA.bottom + 1e-9)
          if (index > 0) expect(y - (placed[index - 1]?.y ?? 0)).toBeGreaterThanOrEqual(AREA.gap - 1e-9)
        }
      }),
    )
  })
})

describe('shorten', () => {
  it('keeps a name that fits', () => expect(shorten('abcdef', 6)).toBe('abcdef'))
  it('cuts a name in the middle, with an ellipsis', () => expect(shorten('abcdefghi', 7)).toBe('abc…ghi'))
  it('keeps the author and the version', () => {
    expect(shorten('acme/long-model-name-20260101', 20)).toBe('acme/long-m…0260101')
  })
  it('cuts an author that takes more than half', () => {
    expect(shorten('an-author-with-a-long-name/model', 11)).toBe('an-au…odel')
  })
  it('counts wide characters as wider', () => {
    expect(shorten('日本語日本語', 12)).toBe('日本語日本語')
    expect(shorten('日本語日本語日', 11)).toBe('日本…本語日')
  })
  it('never cuts a character in two', () => expect(shorten('🦜'.repeat(20), 9)).toBe('🦜🦜…🦜🦜'))

  it('never is wider than asked, and never empty', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 5, max: 40 }), (name, width) => {
        expect(widthOf(shorten(name, width))).toBeLessThanOrEqual(Math.max(width, 1))
      }),
    )
  })
})

it('shortenAll keeps names apart that differ in the middle', () => {
  const names = ['a/model-one-of-many-20260101', 'a/model-two-of-many-20260101']
  expect(new Set(shortenAll(names, 16)).size).toBe(2)
})
