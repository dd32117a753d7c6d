import fc from 'fast-check'
import { expect, it } from 'vitest'
import { assignColors, MOST_SERIES } from '../../../pipeline/site/chart/series.ts'

const ORDER = Array.from({ length: 30 }, (_, place) => `model-${place}`)
const some = fc.subarray(ORDER, { maxLength: MOST_SERIES })

it('gives each of at most eight names a color of its own', () => {
  fc.assert(
    fc.property(some, some, (drawn, before) => {
      const colors = assignColors(drawn, ORDER, assignColors(before, ORDER))
      expect([...colors.keys()].toSorted()).toEqual(drawn.toSorted())
      expect(new Set(colors.values()).size).toBe(drawn.length)
      for (const color of colors.values()) expect(color).toBeLessThan(MOST_SERIES)
    }),
  )
})

it('keeps the colors of the eight largest, whatever is drawn beside them', () => {
  fc.assert(
    fc.property(some, (drawn) => {
      const colors = assignColors(drawn, ORDER)
      for (const name of drawn) {
        const place = ORDER.indexOf(name)
        if (place < MOST_SERIES) expect(colors.get(name)).toBe(place)
      }
    }),
  )
})

it('keeps the colors of names that stay when a person chooses others', () => {
  fc.assert(
    fc.property(some, some, (before, after) => {
      const colors = assignColors(before, ORDER)
      const next = assignColors(after, ORDER, colors)
      for (const name of after) if (before.includes(name)) expect(next.get(name)).toBe(colors.get(name))
    }),
  )
})
