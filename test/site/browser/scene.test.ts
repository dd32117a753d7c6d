import { describe, expect, test } from 'vitest'
import { addDays } from '../../../pipeline/site/browser/explore/calendar.ts'
import { cellsOf } from '../../../pipeline/site/browser/explore/cells.ts'
import { toSvg } from '../../../pipeline/site/browser/explore/picture.ts'
import type { Row } from '../../../pipeline/site/browser/explore/row.ts'
import { drawChart, type Mark, paintOf } from '../../../pipeline/site/browser/explore/scene.ts'
import { chooseSeries } from '../../../pipeline/site/browser/explore/series.ts'
import { rowsFrom } from './rows.ts'

const PLOT = { left: 52, top: 12, bottom: 374, right: 584 }

function draw(
  rows: readonly Row[],
  {
    as = 'lines',
    show = 'tokens',
    grain = 'day',
    width = 800,
  }: Partial<{
    as: 'lines' | 'stacked'
    show: 'tokens' | 'share'
    grain: 'day' | 'week' | 'month'
    width: number
  }> = {},
) {
  const window = { from: rows[0]?.date ?? '', to: rows.at(-1)?.date ?? '' }
  const cells = cellsOf(rows, window, grain)
  const series = chooseSeries(cells, [], true)
  return { series, scene: drawChart({ cells, series, width, height: 400, as, by: grain, show }) }
}

const isPath = (mark: Mark) => mark.kind === 'path'
const texts = (marks: readonly Mark[]) => marks.flatMap((mark) => (mark.kind === 'text' ? [mark.text] : []))
/** Every number of the paths of a colour. */
const pathOf = (marks: readonly Mark[], paint: string) =>
  marks.filter(isPath).find((mark) => (mark.fill === paint || mark.stroke === paint) && mark.width !== 1)?.d ?? ''

describe('a chart of the explorer', () => {
  test('draws lines through each value at its height on the axis', () => {
    const { scene } = draw(rowsFrom('2026-01-01 a 0\n2026-01-02 a 50\n2026-01-03 a 100'))
    expect(pathOf(scene.marks, 's0')).toBe(`M${PLOT.left},${PLOT.bottom}L318,193L${PLOT.right},${PLOT.top}`)
    expect(scene.columns).toEqual([52, 318, 584])
  })

  test('has a gap for dates without a row, and a dot for a date between two gaps', () => {
    const { scene } = draw(
      rowsFrom('2026-01-01 a 10\n2026-01-02 a 10\n2026-01-04 a 10\n2026-01-06 a 10\n2026-01-07 a 10'),
    )
    const line = scene.marks.filter(isPath).find((mark) => mark.stroke === 's0' && mark.width !== 1)
    expect(line?.d.match(/M/g)).toHaveLength(2)
    const dots = scene.marks.filter(isPath).filter((mark) => mark.fill === 's0' && mark.d.includes('a2.5'))
    expect(dots).toHaveLength(1)
  })

  test('stacks areas up to the sum of the day', () => {
    const { scene } = draw(rowsFrom('2026-01-01 a 60\n2026-01-01 b 40\n2026-01-02 a 60\n2026-01-02 b 40'), {
      as: 'stacked',
    })
    // The axis ends at 100: a reaches from 0 to 60, b from 60 to 100.
    const height = (value: number) => Math.round((PLOT.bottom - (value / 100) * (PLOT.bottom - PLOT.top)) * 10) / 10
    expect(pathOf(scene.marks, 's0')).toBe(
      `M52,${height(60)}L${PLOT.right},${height(60)}L${PLOT.right},${height(0)}L52,${height(0)}Z`,
    )
    expect(pathOf(scene.marks, 's1')).toBe(
      `M52,${height(100)}L${PLOT.right},${height(100)}L${PLOT.right},${height(60)}L52,${height(60)}Z`,
    )
  })

  test('fills the whole height with stacked shares', () => {
    const { scene } = draw(rowsFrom('2026-01-01 a 1\n2026-01-01 other 2\n2026-01-02 a 7\n2026-01-02 other 1'), {
      as: 'stacked',
      show: 'share',
    })
    expect(pathOf(scene.marks, 'other')).toContain(`M52,${PLOT.top}L${PLOT.right},${PLOT.top}`)
    expect(texts(scene.marks)).toEqual(expect.arrayContaining(['0 %', '100 %']))
  })

  test('has only finite numbers for one day, for zeros and for the largest numbers', () => {
    const max = 2n ** 63n - 1n
    for (const text of ['2026-01-01 a 5', '2026-01-01 a 0\n2026-01-02 a 0', `2026-01-01 a ${max}\n2026-01-02 a ${max}`])
      for (const as of ['lines', 'stacked'] as const)
        for (const show of ['tokens', 'share'] as const) {
          const { scene } = draw(rowsFrom(text), { as, show })
          expect(JSON.stringify(scene)).not.toMatch(/NaN|null|Infinity/)
          expect(pathOf(scene.marks, 's0')).not.toBe('')
        }
  })

  const crowd = Array.from({ length: 60 }, (_, day) =>
    Array.from({ length: 15 }, (_, i) => `${addDays('2026-01-01', day)} author/model-${i} ${1000 - i}`),
  )
    .flat()
    .concat('2026-01-05 other 3')
  const many = rowsFrom(crowd.join('\n'))

  test('labels each series at its end without overlap, where there is room', () => {
    for (const as of ['lines', 'stacked'] as const) {
      const { scene, series } = draw(many, { as })
      const labels = scene.marks.flatMap((mark) =>
        mark.kind === 'text' && mark.paint === 'ink' && mark.anchor === 'start' ? [mark] : [],
      )
      expect(labels).toHaveLength(series.length)
      const heights = labels.map(({ y }) => y).sort((a, b) => a - b)
      for (const [i, y] of heights.slice(1).entries()) expect(y - (heights[i] ?? 0)).toBeGreaterThanOrEqual(14.9)
      for (const y of heights) expect(y).toBeGreaterThan(0)
      for (const y of heights) expect(y).toBeLessThanOrEqual(PLOT.bottom + 4)
    }
  })

  test('labels a model without its author where the rest of the name is unique', () => {
    const { scene } = draw(rowsFrom('2026-01-01 acme/one 5\n2026-01-01 acme/two 4\n2026-01-01 other/two 3'))
    expect(texts(scene.marks)).toEqual(expect.arrayContaining(['one', 'acme/two', 'other/two']))
    expect(texts(scene.marks)).not.toContain('acme/one')
  })

  test('has no labels on a narrow screen', () => {
    const { scene } = draw(many, { width: 360 })
    expect(texts(scene.marks).some((text) => text.includes('model'))).toBe(false)
    expect(scene.columns.at(-1)).toBe(360 - 14)
  })

  test('gives each model a color of its own, and the rest and `other` grays', () => {
    const { series } = draw(many)
    const paints = series.map((_, i) => paintOf(series, i))
    expect(new Set(paints).size).toBe(series.length)
    expect(paints.slice(-2)).toEqual(['rest', 'other'])
  })

  test('marks a week that has not all its days', () => {
    const marksOf = (weeks: string) => texts(draw(rowsFrom(weeks), { grain: 'week' }).scene.marks)
    expect(marksOf('2026-01-05 a 1 7\n2026-01-12 a 1 2').filter((text) => text === '∗')).toHaveLength(1)
    expect(marksOf('2026-01-05 a 1 7\n2026-01-12 a 1 7')).not.toContain('∗')
    expect(texts(draw(rowsFrom('2026-01-05 a 1\n2026-01-07 a 1')).scene.marks)).not.toContain('∗')
  })
})

test('a downloaded picture is an SVG file in which names are escaped', () => {
  const hostile = rowsFrom('2026-01-01 </text><script>alert("1")</script>&amp; 5\n2026-01-02 x 5')
  const { scene } = draw(hostile)
  const picture = { scene, title: '<Tokens> & "more"', credit: 'Source: <a>', colours: (paint: string) => `#${paint}` }
  const svg = toSvg(picture)
  expect(svg).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  expect(svg).not.toMatch(/<script|<a>|<Tokens>| class=| style=/)
  expect(svg).toContain('&lt;Tokens&gt; &amp; &quot;more&quot;')
  expect(svg).toContain('Source: &lt;a&gt;')
  expect(toSvg(picture)).toBe(svg)
})
