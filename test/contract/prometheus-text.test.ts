import { describe, expect, it } from 'vitest'
import { renderMetrics, seriesOf } from '../../pipeline/contract/prometheus-text.ts'

describe('the Prometheus text', () => {
  it('names each family, its help and its type before its samples', () => {
    const text = renderMetrics([
      { name: 'up', help: 'Whether it is up.', type: 'gauge', samples: [['up', 1]] },
      {
        name: 'took_seconds',
        help: 'How long it took.',
        type: 'histogram',
        samples: [
          [seriesOf('took_seconds_bucket', { route: '/a', le: '0.5' }), 2],
          [seriesOf('took_seconds_bucket', { route: '/a', le: '+Inf' }), 3],
          [seriesOf('took_seconds_sum', { route: '/a' }), 1.25],
          [seriesOf('took_seconds_count', { route: '/a' }), 3],
        ],
      },
    ])

    expect(text).toBe(`# HELP up Whether it is up.
# TYPE up gauge
up 1
# HELP took_seconds How long it took.
# TYPE took_seconds histogram
took_seconds_bucket{route="/a",le="0.5"} 2
took_seconds_bucket{route="/a",le="+Inf"} 3
took_seconds_sum{route="/a"} 1.25
took_seconds_count{route="/a"} 3
`)
  })

  it('escapes what would end a label or a line', () => {
    const series = seriesOf('n', { source: 'a"b\\c\nd' })
    const text = renderMetrics([{ name: 'n', help: 'back\\slash\nand line', type: 'gauge', samples: [[series, 0]] }])

    expect(text).toBe('# HELP n back\\\\slash\\nand line\n# TYPE n gauge\nn{source="a\\"b\\\\c\\nd"} 0\n')
  })

  it('writes numbers that are not finite as Prometheus reads them', () => {
    const samples = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21].map(
      (value) => ['n', value] as const,
    )

    expect(renderMetrics([{ name: 'n', help: 'h', type: 'gauge', samples }])).toMatch(
      /n \+Inf\nn -Inf\nn NaN\nn 1e\+21\n$/,
    )
  })

  it('leaves out a family without samples', () => {
    expect(renderMetrics([{ name: 'n', help: 'h', type: 'counter', samples: [] }])).toBe('')
  })
})
