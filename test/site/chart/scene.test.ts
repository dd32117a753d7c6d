/** Drawings, read as a person reads them: by the axes, the names and the shapes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, type Grain } from '../../../pipeline/site/chart/calendar.ts'
import { widthOf } from '../../../pipeline/site/chart/labels.ts'
import type { Mark, Scene } from '../../../pipeline/site/chart/marks.ts'
import { bySize, type ChartRow } from '../../../pipeline/site/chart/rows.ts'
import { type Content, type ContentOptions, contentOf, drawScene } from '../../../pipeline/site/chart/scene.ts'
import { rowsFrom } from './rows.ts'

const SIZE = { width: 960, height: 400 }
const UNITS: Record<string, number> = { '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12, Q: 1e15, '%': 0.01 }

type Text = Extract<Mark, { kind: 'text' }>
type Path = Extract<Mark, { kind: 'path' }>
const textsOf = ({ marks }: Scene) => marks.filter((mark): mark is Text => mark.kind === 'text')
const pathsOf = ({ marks }: Scene) => marks.filter((mark): mark is Path => mark.kind === 'path')
const pathOf = (scene: Scene, name: string) => pathsOf(scene).find((path) => path.name === name)?.d ?? ''

function contentFrom(rows: readonly ChartRow[], more: Partial<ContentOptions> = {}): Content {
  const window = { from: rows[0]?.date ?? '', to: rows.at(-1)?.date ?? '' }
  const base = {
    window,
    grain: 'day',
    form: 'stacked',
    measure: 'tokens',
    rest: 'joined',
    order: bySize(rows),
  } as const
  return contentOf(rows, { ...base, ...more })
}

const draw = (text: string, more: Partial<ContentOptions> = {}, size = SIZE) => {
  return drawScene(contentFrom(rowsFrom(text), more), size)
}

/** What a height stands for, by the ticks of the axis alone. */
function readerOf(scene: Scene): (y: number) => number {
  const ticks = textsOf(scene).flatMap(({ text, anchor, y }) => {
    const [, digits, unit = ''] = /^([\d.,]+) ?([A-Z%]?)$/.exec(text) ?? []
    return anchor === 'end' && digits !== undefined ? [{ value: Number(digits) * (UNITS[unit] ?? 0), y: y - 4 }] : []
  })
  const [low, high] = [ticks[0], ticks.at(-1)]
  if (low === undefined || high === undefined || low.y === high.y) throw new Error('no scale to read')
  return (y) => low.value + ((y - low.y) / (high.y - low.y)) * (high.value - low.value)
}

/** The upper edges of a shape, as the axis reads them. */
function heightsOf(scene: Scene, name: string): number[] {
  const read = readerOf(scene)
  const d = pathOf(scene, name)
  const ys = d.includes('h') ? [...d.matchAll(/V([\d.]+)h/g)] : [...d.matchAll(/[ML][\d.]+,([\d.]+)/g)]
  return ys.map(([, y]) => Math.round(read(Number(y))))
}

describe('areas', () => {
  it('reach up to the sum of the series below them, and down to the axis', () => {
    const scene = draw('2026-01-01 a 60\n2026-01-01 b 40\n2026-01-02 a 60\n2026-01-02 b 20')
    expect(heightsOf(scene, 'a')).toEqual([60, 60, 0, 0])
    expect(heightsOf(scene, 'b')).toEqual([100, 80, 0, 0])
  })

  it('fill the whole height with shares', () => {
    const scene = draw('2026-01-01 a 1\n2026-01-01 other 3\n2026-01-02 a 7\n2026-01-02 other 1', { measure: 'share' })
    expect(pathOf(scene, 'all others')).toContain(`,${scene.top}L`)
    expect(textsOf(scene).map(({ text }) => text)).toEqual(expect.arrayContaining(['0 %', '100 %']))
  })

  it('have a gap on dates without data, and a bar for a date alone', () => {
    const scene = draw('2026-01-01 a 4\n2026-01-02 a 4\n2026-01-04 a 4')
    expect(pathOf(scene, 'a').match(/M/g)).toHaveLength(2)
    expect(pathOf(scene, 'a')).toMatch(/V[\d.]+h[\d.]+V/)
    expect(scene.notes).toEqual([{ text: '1 date has no data' }])
  })

  it('have no outlines where a step is less than three pixels wide', () => {
    const outlines = (days: number) => {
      const rows = Array.from({ length: days }, (_, day) => `${addDays('2025-01-01', day)} a 5`).join('\n')
      return pathsOf(draw(rows)).filter(({ name, stroke }) => name !== undefined && stroke !== undefined).length
    }
    expect(outlines(100)).toBeGreaterThan(0)
    expect(outlines(400)).toBe(0)
  })
})

describe('lines', () => {
  const LINES = { form: 'lines', rest: 'none' } as const

  it('go through each value, with gaps and dots', () => {
    const scene = draw('2026-01-01 a 4\n2026-01-02 a 3\n2026-01-04 a 2\n2026-01-06 a 1\n2026-01-07 a 1', LINES)
    const [line, dots] = pathsOf(scene).filter(({ name }) => name === 'a')
    expect(line?.d.match(/M/g)).toHaveLength(2)
    expect(dots?.d.match(/a2\.5/g)).toHaveLength(2)
    const read = readerOf(scene)
    const ys = [...(line?.d ?? '').matchAll(/[ML][\d.]+,([\d.]+)/g)].map(([, y]) => Math.round(read(Number(y))))
    expect(ys).toEqual([4, 3, 1, 1])
  })

  it('begin at 100 in an index', () => {
    const text = '2026-01-01 a 4\n2026-01-02 a 8\n2026-01-02 b 50\n2026-01-03 a 2\n2026-01-03 b 25'
    const scene = draw(text, { ...LINES, measure: 'index' })
    expect(heightsOf(scene, 'a')).toEqual([100, 200, 50])
    expect(heightsOf(scene, 'b')).toEqual([100, 50])
  })

  it('have equal steps for equal factors on a log scale, and no zeros', () => {
    const rows = rowsFrom('2026-01-01 a 10\n2026-01-02 a 100\n2026-01-03 a 1000\n2026-01-05 a 0\n2026-01-06 a 10')
    const scene = drawScene({ ...contentFrom(rows, LINES), isLog: true }, SIZE)
    const ys = [...pathOf(scene, 'a').matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y))
    expect((ys[0] ?? 0) - (ys[1] ?? 0)).toBeCloseTo((ys[1] ?? 0) - (ys[2] ?? 0), 0)
    expect(textsOf(scene)[0]?.text).toBe('Tokens per day, log scale')
  })

  it('have rank 1 at the top', () => {
    const values = [3n, null, 1n, 12n]
    const { periods } = contentFrom(rowsFrom('2026-01-01 a 1\n2026-01-04 a 1'))
    const series = [{ name: 'a', paint: 's0', values } as const]
    const scene = drawScene({ grain: 'day', form: 'lines', measure: 'rank', periods, totals: values, series }, SIZE)
    const ranks = textsOf(scene).flatMap(({ anchor, text }) => (anchor === 'end' ? [text] : []))
    expect(ranks).toEqual(['1', '10', '20'])
    expect(pathOf(scene, 'a')).toContain(`,${scene.top}L`)
  })
})

describe('bars', () => {
  const WEEKS = '2026-01-05 a 60 7\n2026-01-05 b 40 7\n2026-01-12 a 10 2\n2026-01-12 b 20 2'

  it('are one for each week, as high as its sum', () => {
    const scene = draw(WEEKS, { grain: 'week' })
    expect(heightsOf(scene, 'a')).toEqual([60, 10])
    expect(heightsOf(scene, 'b')).toEqual([100, 30])
  })

  it('are hatched where the week is not whole, and a note says which', () => {
    const scene = draw(WEEKS, { grain: 'week' })
    expect(scene.notes).toEqual([{ sample: 'hatched', text: 'not whole: 2026-01-12 (2 of 7 days)' }])
    const hatch = pathsOf(scene).find(({ stroke, name }) => stroke === 'ground' && name === undefined)?.d ?? ''
    const xs = [...hatch.matchAll(/[ML]([\d.]+),/g)].map(([, x]) => Number(x))
    const middle = ((scene.columns[0] ?? 0) + (scene.columns[1] ?? 0)) / 2
    expect(Math.min(...xs)).toBeGreaterThan(middle)
    expect(draw('2026-01-05 a 60 7', { grain: 'week' }).notes).toEqual([])
  })
})

it('hatches provisional dates up to the highest of them, and marks restated ones', () => {
  const text = Array.from({ length: 9 }, (_, day) => `2026-01-0${day + 1} a ${day < 6 ? 90 : 40 + day}`).join('\n')
  const scene = draw(text, { provisionalFrom: '2026-01-07', restated: new Set(['2026-01-02']) })
  expect(scene.notes.map(({ sample }) => sample)).toEqual(['hatched', 'restated'])
  expect(scene.notes[0]?.text).toBe('provisional from 2026-01-07 on: numbers may still change')
  const hatch = pathsOf(scene).find(({ stroke, name }) => stroke === 'ground' && name === undefined)?.d ?? ''
  const points = [...hatch.matchAll(/([\d.]+),([\d.]+)/g)].map(([, x, y]) => [Number(x), readerOf(scene)(Number(y))])
  const [xs = [], ys = []] = [0, 1].map((part) => points.map((point) => point[part] ?? 0))
  const [before = 0, first = 0, last = 0] = [5, 6, 8].map((at) => scene.columns[at])
  expect(Math.min(...xs)).toBeCloseTo((before + first) / 2, 0)
  expect(Math.max(...xs)).toBeCloseTo(last, 0)
  expect([Math.min(...ys), Math.max(...ys)].map(Math.round)).toEqual([0, 48])
})

describe('names', () => {
  const crowd = Array.from({ length: 40 * 15 }, (_, at) => {
    const [day, i] = [Math.floor(at / 15), at % 15]
    return `${addDays('2026-01-01', day)} author/a-model-with-a-rather-long-name-2026010${i % 10}-v${i} ${1000 - i}`
  })
  const many = crowd.concat('2026-01-05 other 3').join('\n')

  it('stand at the end of each series without overlap, each with its author, all different', () => {
    for (const form of ['lines', 'stacked'] as const) {
      const scene = draw(many, { form })
      const labels = textsOf(scene).filter(({ paint, anchor }) => paint === 'ink' && anchor === 'start')
      expect(labels).toHaveLength(9)
      expect(scene.isLabelled).toBe(true)
      expect(new Set(labels.map(({ text }) => text)).size).toBe(9)
      for (const { text, x } of labels) {
        if (text !== 'all others') expect(text).toMatch(/^author\/.*…/)
        expect(x + widthOf(text) * 6.8).toBeLessThan(SIZE.width)
      }
      const heights = labels.map(({ y }) => y).toSorted((a, b) => a - b)
      for (const [at, y] of heights.slice(1).entries()) expect(y - (heights[at] ?? 0)).toBeGreaterThanOrEqual(15.8)
    }
  })

  it('are left to the legend on a narrow screen', () => {
    const scene = draw(many, {}, { width: 360, height: 260 })
    expect(scene.isLabelled).toBe(false)
    expect(textsOf(scene).some(({ text }) => text.includes('author'))).toBe(false)
  })
})

describe('axes', () => {
  it('have dates apart from each other and inside the drawing, for any number of them', () => {
    for (const width of [340, 960])
      for (const grain of ['day', 'week', 'month'] as Grain[])
        for (let days = 1; days <= 1500; days += days < 130 ? 1 : 37) {
          const window = { from: '2025-01-01', to: addDays('2025-01-01', days - 1) }
          const content = contentOf([], { window, grain, form: 'stacked', measure: 'tokens', rest: 'none', order: [] })
          const dates = textsOf(drawScene(content, { width, height: 260 })).filter(({ anchor }) => anchor === 'middle')
          expect(dates.length, `${days} days`).toBeGreaterThan(0)
          let end = 0
          for (const { x, text } of dates) {
            const half = (widthOf(text) * 6.5) / 2
            expect(x - half, `${days} ${grain}s, ${text}`).toBeGreaterThanOrEqual(end)
            end = x + half
          }
          expect(end).toBeLessThanOrEqual(width)
        }
  })

  it('have whole numbers of tokens, and finite places for zeros and the largest numbers', () => {
    const max = 2n ** 63n - 1n
    const number = fc.oneof(fc.constantFrom(0n, 1n, max), fc.bigInt({ min: 0n, max }))
    const values = fc.array(number, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(values, fc.constantFrom('lines', 'stacked'), (values, form) => {
        for (const measure of ['tokens', 'share', 'index'] as const) {
          const rows = values.map((value, day) => `2026-01-0${day + 1} a ${value}`).join('\n')
          const scene = draw(rows, { form, measure })
          expect(JSON.stringify(scene)).not.toMatch(/NaN|null|Infinity/)
          for (const { text, anchor } of textsOf(scene))
            if (anchor === 'end' && measure === 'tokens') expect(text).toMatch(/^[\d,.]+[A-Z]?$/)
        }
      }),
    )
  })
})
