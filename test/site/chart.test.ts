import { describe, expect, it } from 'vitest'
import { contentOf } from '../../pipeline/site/chart/scene.ts'
import { chartFigure, chartFile } from '../../pipeline/site/chart.ts'
import { recentChart, recentDays } from '../../pipeline/site/recent.ts'
import { manyRows } from '../support/rows.ts'
import { rowsFrom } from './chart/rows.ts'

const HOSTILE = `</title><script>alert("1")</script>'&`

const CONTENT = contentOf(rowsFrom('2026-01-01 acme/a 5\n2026-01-01 b 4\n2026-01-02 b 1'), {
  ...{ window: { from: '2026-01-01', to: '2026-01-02' }, grain: 'day', form: 'stacked', measure: 'tokens' },
  ...{ rest: 'joined', order: [] },
})

it('a chart on a page has a drawing for wide screens and one for phones, with one name, and lists its series', () => {
  const { text } = chartFigure({ id: 'c', title: 'A title', description: 'A description', content: CONTENT })
  expect([...text.matchAll(/<svg class="(\w+)"/g)].map(([, kind]) => kind)).toEqual(['wide', 'narrow'])
  expect(text.match(/aria-labelledby="c-title c-desc"/g)).toHaveLength(2)
  for (const id of ['c-title', 'c-desc']) expect(text.match(new RegExp(`id="${id}"`, 'g'))).toHaveLength(1)
  const listed = [...text.matchAll(/<li class="(\w+)"><span>([^<]*)</g)].map(([, paint, name]) => [paint, name])
  expect(listed).toEqual([
    ['s1', 'b'],
    ['s0', 'acme/a'],
  ])
  expect(text).toContain('<ul class="legend spare">')
})

it('a chart on a page says below it what is provisional, and is the same bytes for the same rows', () => {
  const figure = () =>
    chartFigure(recentChart(recentDays(manyRows(90, 30), { provisionalFrom: '2026-11-18' }), 'r')).text
  expect(figure()).toContain('provisional from 2026-11-18 on: numbers may still change')
  expect(figure()).toContain('class="sample hatched"')
  expect(figure()).toBe(figure())
})

describe('a chart as a file', () => {
  const chart = recentChart(recentDays(manyRows(90, 30), { provisionalFrom: '2026-11-18' }), 'c')

  it('is well-formed SVG that needs no stylesheet, with title, source and notes', () => {
    const svg = chartFile({ ...chart, title: 'With\u0000 controls\u001b' }, ['Source: Example, CC BY 4.0'])
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="960"/)
    expect(svg).toContain('fill="#fcfcfa"')
    for (const text of ['With controls', 'Source: Example, CC BY 4.0']) expect(svg).toContain(`>${text}</text>`)
    expect(svg).toContain('>provisional from 2026-11-18 on: numbers may still change</text>')
    expect(svg).not.toMatch(/<ul|<div|var\(|class=/)
    const opened = [...svg.matchAll(/<([a-z]+)(?:\s[^>]*[^/])?>/g)].map(([, name]) => name).toSorted()
    expect(opened).toEqual([...svg.matchAll(/<\/([a-z]+)>/g)].map(([, name]) => name).toSorted())
  })

  it('breaks a long title and a long source into lines that fit', () => {
    const svg = chartFile({ ...chart, title: 'long words '.repeat(30) }, ['https://example.org/'.repeat(20)])
    for (const [, text = ''] of svg.matchAll(/<text[^>]*>([^<]*)</g)) expect(text.length).toBeLessThan(150)
  })
})

it('every kind of chart escapes names, title and description', () => {
  const series = CONTENT.series.map((one) => ({ ...one, name: HOSTILE }))
  const chart = { id: 'c', title: HOSTILE, description: HOSTILE, content: { ...CONTENT, series } }
  for (const text of [chartFigure(chart).text, chartFile(chart, [HOSTILE])]) {
    expect(text).not.toContain('<script')
    expect(text).not.toMatch(/&(?!(amp|lt|gt|quot|#39);)/)
  }
})
