import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shorten, shortenAll, spread, widthOf } from '../../../pipeline/site/chart/labels.ts'

const AREA = { gap: 15, top: 0, bottom: 330 }
const at = (ys: readonly number[]) => ys.map((y) => ({ y }))

it.each([
  ['does not move labels that are far enough apart', [10, 100, 300], 330, [10, 100, 300]],
  ['moves labels that overlap apart evenly', [100, 100, 100], 330, [85, 100, 115]],
  ['moves them apart around their mean', [100, 104, 300], 330, [94.5, 109.5, 300]],
  ['keeps labels below the top', [0, 0], 330, [0, 15]],
  ['keeps labels above the bottom', [330, 330], 330, [315, 330]],
  ['fills all room', [1, 2, 3], 30, [0, 15, 30]],
  ['returns undefined if there is no room', [1, 2, 3], 29, undefined],
])('spread %s', (_, ys, bottom, expected) => {
  expect(spread(at(ys), { ...AREA, bottom })?.map(({ y }) => y)).toEqual(expected)
})

it('spread keeps all labels in order, inside and without overlap, wherever they begin', () => {
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

it.each([
  ['keeps a name that fits', 'abcdef', 6, 'abcdef'],
  ['cuts a name in the middle', 'abcdefghi', 7, 'abc…ghi'],
  ['keeps the author and the version', 'acme/long-model-name-20260101', 20, 'acme/long-m…0260101'],
  ['cuts an author that takes more than half', 'an-author-with-a-long-name/model', 11, 'an-au…odel'],
  ['counts wide characters as wider', '日本語日本語', 12, '日本語日本語'],
  ['cuts wide characters', '日本語日本語日', 11, '日本…本語日'],
  ['never cuts a character in two', '🦜'.repeat(20), 9, '🦜🦜…🦜🦜'],
])('shorten %s', (_, name, width, expected) => expect(shorten(name, width)).toBe(expected))

it('shorten never is wider than asked, and shortenAll keeps names apart that differ in the middle', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 5, max: 40 }), (name, width) => {
      expect(widthOf(shorten(name, width))).toBeLessThanOrEqual(Math.max(width, 1))
    }),
  )
  const names = ['a/model-one-of-many-20260101', 'a/model-two-of-many-20260101']
  expect(new Set(shortenAll(names, 16)).size).toBe(2)
})
