import { describe, expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { type Chart, lineChart, type Series, stackedChart, standaloneChart } from '../../pipeline/site/chart.ts'
import { recentChart, recentDays } from '../../pipeline/site/recent.ts'
import { manyRows } from '../support/rows.ts'

const FIRST = '2026-01-10'
const UNITS: Record<string, number> = { '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12, Q: 1e15 }

function chartOf(series: readonly Series[], first = FIRST): Chart {
  const dates = Array.from({ length: series[0]?.values.length ?? 0 }, (_, index) => addDays(first, index))
  return { id: 'c', title: 'A title', description: 'A description', dates, series }
}

/** The ticks of the axis of tokens, as drawn: what each says as a number, and its height. */
function ticksOf(svg: string): { value: number; y: number }[] {
  const ticks = svg.matchAll(/<path d="M[\d.]+,([\d.]+)H[^>]*class="grid"[^>]*><text[^>]*>([\d.,]+)([A-Z]?)</g)
  return [...ticks].map(([, y = '', digits = '', unit = '']) => {
    return { value: Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN), y: Number(y) }
  })
}

/** What a height stands for, by the ticks alone: a reader's way, not the drawing's. */
function readerOf(svg: string): (y: number) => number {
  const ticks = ticksOf(svg)
  const [zero, top] = [ticks[0], ticks.at(-1)]
  if (zero === undefined || top === undefined || top.value === 0) throw new Error('no scale to read')
  return (y) => ((y - zero.y) / (top.y - zero.y)) * top.value
}

/** The runs of points of each series' path, by the series' name. */
function pathsOf(svg: string): Map<string, { x: number; y: number }[][]> {
  const paths = svg.matchAll(/<title>([^<]*)<\/title>((?:<path d="[^"]*"[^>]*>)*)/g)
  return new Map(
    [...paths].map(([, name = '', shapes = '']) => {
      const runs = [...shapes.matchAll(/M[^MV]*/g)].map(([run]) =>
        [...run.matchAll(/([\d.]+),([\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) })),
      )
      return [name, runs]
    }),
  )
}

function datesOf(svg: string): { x: number; text: string; anchor: string }[] {
  const ticks = svg.matchAll(/<text x="([\d.]+)" y="391" text-anchor="(\w+)">([^<]*)</g)
  return [...ticks].map(([, x, anchor = '', text = '']) => ({ x: Number(x), text, anchor }))
}

function labelsOf(svg: string): { y: number; text: string }[] {
  const group = svg.split('class="labels"')[1] ?? ''
  return [...group.matchAll(/<text x="[\d.]+" y="([\d.]+)">([^<]*)</g)].map(([, y, text = '']) => ({
    y: Number(y),
    text,
  }))
}

const wave = (length: number, shift: number) =>
  Array.from({ length }, (_, index) => BigInt(Math.round(1e9 * (2 + Math.sin(index / 9 + shift)))))

describe('stackedChart', () => {
  it('stacks each series on those below it, treats a single null as zero and a date of nulls as a gap', () => {
    const svg = stackedChart(
      chartOf([
        { name: 'low', values: [4n, 4n, null, 4n, 4n] },
        { name: 'high', values: [2n, null, null, 2n, 2n] },
      ]),
    ).text
    const read = readerOf(svg)
    const heights = (name: string) =>
      pathsOf(svg)
        .get(name)
        ?.map((run) => run.map(({ y }) => Math.round(read(y))))
    expect(heights('low')).toEqual([
      [4, 4],
      [4, 4],
    ])
    expect(heights('high')).toEqual([
      [6, 4],
      [6, 6],
    ])
  })

  it('draws a single date as a bar', () => {
    const svg = stackedChart(chartOf([{ name: 'a', values: [5n] }])).text
    const [, x = '', y = '', width = ''] = /d="M([\d.]+),[\d.]+V([\d.]+)h([\d.]+)V[\d.]+Z"/.exec(svg) ?? []
    expect(Number(width)).toBeGreaterThan(20)
    expect(Number(x) + Number(width) / 2).toBeCloseTo(datesOf(svg)[0]?.x ?? 0, 0)
    expect(readerOf(svg)(Number(y))).toBeCloseTo(5)
  })

  it.each([
    ['final', addDays(FIRST, 10)],
    ['provisional', FIRST],
  ])('marks no date as provisional if all dates are %s', (_, provisionalFrom) => {
    const { text } = stackedChart({ ...chartOf([{ name: 'a', values: wave(10, 0) }]), provisionalFrom })
    expect(text).not.toMatch(/provisional|stroke-dasharray/)
  })
})

describe('lineChart', () => {
  it('leaves gaps for nulls and draws a single value as a dot', () => {
    const values = [4n, 3n, null, null, 2n, null, 1n, 1n]
    const svg = lineChart(chartOf([{ name: 'a/b', values }])).text
    const read = readerOf(svg)
    const runs = pathsOf(svg)
      .get('a/b')
      ?.map((run) => run.map(({ y }) => Math.round(read(y))))
    expect(runs).toEqual([[4, 3], [1, 1], [2]])
    expect(svg).toMatch(/h0" stroke="currentColor" stroke-width="6"/)
  })

  it('puts the label of a line at the height of its last value', () => {
    const series = [
      { name: 'a', values: [10n, 8n, null] },
      { name: 'b', values: [2n, 2n, 2n] },
    ]
    const { text } = lineChart(chartOf(series))
    const read = readerOf(text)
    // The text stands 4.5 below the middle of its line.
    expect(labelsOf(text).map(({ y, text }) => [text, Math.round(read(y - 4.5))])).toEqual([
      ['a', 8],
      ['b', 2],
    ])
  })
})

describe('the axes', () => {
  it.each([
    ['all zero', [0n, 0n, 0n]],
    ['one day', [7n]],
    ['ones', [1n, 0n, 1n]],
    ['no values', [null, null]],
    ['2^63 - 1', [2n ** 63n - 1n, 2n ** 62n, 1n]],
  ])('begin at zero and have a few whole ticks, up to the greatest value: %s', (_, values) => {
    for (const draw of [lineChart, stackedChart]) {
      const { text } = draw(chartOf([{ name: 'a', values }]))
      const ticks = ticksOf(text)
      const greatest = Math.max(...values.map((value) => Number(value ?? 0n)))
      expect(ticks[0]?.value).toBe(0)
      expect(ticks.at(-1)?.value).toBeGreaterThanOrEqual(greatest)
      expect(ticks.length).toBeLessThan(8)
      expect(ticks.every(({ value }) => Number.isInteger(value))).toBe(true)
      expect(text).not.toMatch(/NaN|Infinity|undefined|null/)
      for (const [, y] of text.matchAll(/[LM][\d.]+,(-?[\d.]+)/g)) {
        expect(Number(y)).toBeGreaterThanOrEqual(0)
        expect(Number(y)).toBeLessThanOrEqual(400)
      }
    }
  })

  it('name as many dates as fit, with the year where one begins', () => {
    const texts = (days: number, first: string) =>
      datesOf(lineChart(chartOf([{ name: 'a', values: wave(days, 0) }], first)).text).map(({ text }) => text)
    expect(texts(1, '2026-11-19')).toEqual(['Nov 19, 2026'])
    expect(texts(2, '2025-12-31')).toEqual(['Dec 31, 2025', 'Jan 1, 2026'])
    expect(texts(7, '2026-11-13')).toEqual(['Nov 13, 2026', 'Nov 15', 'Nov 17', 'Nov 19'])
    expect(texts(90, '2026-08-22')).toEqual(['Sep 2026', 'Oct', 'Nov'])
    expect(texts(700, '2025-01-01')).toEqual(['Jan 2025', 'Jul', 'Jan 2026', 'Jul'])
  })

  it('keep the names of dates apart and inside the drawing in the large text of a phone, for any number of dates', () => {
    for (let days = 1; days <= 1500; days += days < 130 ? 1 : 37) {
      const { text } = lineChart(chartOf([{ name: 'a', values: wave(days, 0) }], addDays('2025-01-01', days)))
      const boxes = datesOf(text).map(({ x, text, anchor }) => {
        const width = text.length * 12
        const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2
        return { left, right: left + width }
      })
      expect(boxes.length, `${days} days`).toBeGreaterThan(0)
      for (const [index, { left, right }] of boxes.entries()) {
        expect(left, `${days} days`).toBeGreaterThan(boxes[index - 1]?.right ?? 0)
        expect(right, `${days} days`).toBeLessThan(760)
      }
    }
  })
})

describe('labels', () => {
  const eleven = Array.from({ length: 11 }, (_, index) => ({
    name: `acme/model-${index}`,
    values: wave(40, index / 100),
  }))

  it('name each series once, inside the drawing and without overlap', () => {
    const far = eleven.map((one, index) => ({
      ...one,
      values: one.values.map((value) => value + (index === 0 ? 10n ** 12n : 0n)),
    }))
    for (const chart of [stackedChart(chartOf(eleven)), lineChart(chartOf(eleven)), lineChart(chartOf(far))]) {
      const labels = labelsOf(chart.text)
      expect(labels.map(({ text }) => text).toSorted()).toEqual(eleven.map(({ name }) => name.slice(5)).toSorted())
      for (const [index, { y }] of labels.entries()) {
        if (index > 0) expect(y - (labels[index - 1]?.y ?? 0)).toBeGreaterThanOrEqual(15)
        expect(y).toBeGreaterThan(10)
        expect(y).toBeLessThan(400)
      }
    }
  })

  it('are replaced by a legend if there are too many', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `m${index}`, values: wave(4, index) }))
    const { text } = lineChart(chartOf(many))
    expect(labelsOf(text)).toEqual([])
    expect([...text.matchAll(/<li class=/g)].length).toBe(30)
    expect(text).toContain('<ul class="legend">')
  })
})

it('every kind of chart escapes names, title and description', () => {
  const name = `</title><script>alert("1")</script>'&`
  const series = [name, 'b'].map((name) => ({ name, values: [1n, 2n] }))
  const chart = { ...chartOf(series), title: name, description: name }
  for (const text of [stackedChart(chart).text, lineChart(chart).text, standaloneChart(chart)]) {
    expect(text).not.toContain('<script')
    expect(text).not.toMatch(/&(?!(amp|lt|gt|quot|#39);)/)
  }
})

describe('standaloneChart', () => {
  it('is well-formed SVG that needs no stylesheet', () => {
    const chart = recentChart(recentDays(manyRows(90, 30)), 'c')
    const svg = standaloneChart({ ...chart, title: 'With\u0000 controls\u001b' })
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="960" height="440"/)
    expect(svg).toContain('fill="#fcfcfa"')
    expect(svg).toContain('>With controls</text>')
    expect(svg).not.toMatch(/<ul|<div|var\(/)
    for (const [, color] of svg.matchAll(/<g class="(?:s\d|rest)"( color="#\w{6}")?/g)) expect(color).toBeDefined()
    const opened = [...svg.matchAll(/<([a-z]+)(?:\s[^>]*[^/])?>/g)].map(([, name]) => name).toSorted()
    const closed = [...svg.matchAll(/<\/([a-z]+)>/g)].map(([, name]) => name).toSorted()
    expect(opened).toEqual(closed)
  })
})
