import { describe, expect, it } from 'vitest'
import { renderMetrics } from '../../pipeline/contract/prometheus-text.ts'

describe('the Prometheus text', () => {
  it('names each family, its help and its type before its samples', () => {
    const text = renderMetrics([
      { name: 'up', help: 'Whether it is up.', type: 'gauge', samples: [{ value: 1 }] },
      {
        name: 'took_seconds',
        help: 'How long it took.',
        type: 'histogram',
        samples: [
          { suffix: '_bucket', labels: { route: '/a', le: '0.5' }, value: 2 },
          { suffix: '_bucket', labels: { route: '/a', le: '+Inf' }, value: 3 },
          { suffix: '_sum', labels: { route: '/a' }, value: 1.25 },
          { suffix: '_count', labels: { route: '/a' }, value: 3 },
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
    const samples = [{ labels: { source: 'a"b\\c\nd' }, value: 0 }]
    const text = renderMetrics([{ name: 'n', help: 'back\\slash\nand line', type: 'gauge', samples }])

    expect(text).toBe('# HELP n back\\\\slash\\nand line\n# TYPE n gauge\nn{source="a\\"b\\\\c\\nd"} 0\n')
  })

  it('writes numbers that are not finite as Prometheus reads them', () => {
    const samples = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21].map((value) => ({ value }))

    expect(renderMetrics([{ name: 'n', help: 'h', type: 'gauge', samples }])).toMatch(
      /n \+Inf\nn -Inf\nn NaN\nn 1e\+21\n$/,
    )
  })

  it('leaves out a family without samples', () => {
    expect(renderMetrics([{ name: 'n', help: 'h', type: 'counter', samples: [] }])).toBe('')
  })
})
