import { describe, expect, it } from 'vitest'
import { type Comparison, compare, type Result, verdictOf } from './comparison.ts'
import { measureCurve, straightLine } from './curve.ts'
import { draw } from './pictures.ts'
import { reportText } from './report.ts'
import { merged } from './results.ts'

const MACHINE = { cpu: 'a test', commit: 'abc' }

/** A measurement that gives one number after the other. */
const giving = (...values: number[]) => {
  let next = 0
  return async () => ({ value: values[next++] ?? Number.NaN, details: { peak_mib: 100 } })
}

const SLOPE: Comparison = {
  ...{ name: 'slope', unit: 'ms of CPU', higherIsBetter: false, required: 2, goal: 1 },
  ours: giving(99, 3, 4, 9),
  baseline: giving(99, 2, 2, 3),
  baselineName: 'bare',
}

describe('a comparison', () => {
  it('has medians of all rounds but the first, and the ratio of each', async () => {
    const result = await compare(SLOPE, 3)
    expect(result.ours).toEqual({ median: 4, min: 3, max: 9 })
    expect(result.baseline).toEqual({ median: 2, min: 2, max: 3 })
    expect(result.ratio).toEqual({ median: 2, min: 1.5, max: 3 })
    expect(verdictOf(result)).toBe('yes')
  })

  it('may have no baseline, and a bar of its own value', async () => {
    const alone = { name: 'alone', unit: 's', higherIsBetter: false, barOf: 'value' as const, required: 5, goal: 4 }
    const result = await compare({ ...alone, ours: giving(9, 4) }, 1)
    expect(result.ratio).toBeUndefined()
    expect(verdictOf(result)).toBe('goal')
  })

  it.each([
    ['ratio', {}, 'yes'],
    ['value', { barOf: 'value' }, 'no'],
    ['a rate', { higherIsBetter: true, required: 2.1 }, 'no'],
    ['a goal', { goal: 2 }, 'goal'],
    ['a limit', { exceeded: ['peak_mib is 900, at most 512'] }, 'no'],
  ] as const)('is judged by %s', (_, changed, verdict) => {
    const two = { median: 2, min: 2, max: 2 }
    const result: Result = {
      ...{ name: 'x', unit: 's', higherIsBetter: false, required: 2, goal: 1.5, rounds: 1 },
      ...{ ours: { median: 3, min: 3, max: 3 }, ratio: two, exceeded: [], details: {}, baselineDetails: {}, facts: {} },
    }
    expect(verdictOf({ ...result, ...changed, exceeded: [...('exceeded' in changed ? changed.exceeded : [])] })).toBe(
      verdict,
    )
  })
})

describe('a report', () => {
  it('shows the bar, the verdict and what was measured beside it', async () => {
    const result = {
      ...(await compare({ ...SLOPE, ours: giving(9, 1), baseline: giving(9, 2) }, 1)),
      measured: MACHINE,
    }
    const report = { suite: 'day', results: [result], curves: [], skipped: ['nothing: no reason'] }
    expect(reportText(report)).toBe(`| what | Tokenboard | compared with | ratio | bar | met | beside it |
| --- | --- | --- | --- | --- | --- | --- |
| slope | **1.00** ms of CPU | bare: 2.00 | 0.500 | ratio ≤ 2, goal 1 | goal | 100 / 100 MiB |

Not measured here: nothing: no reason

Measured on: cpu a test, commit abc. 1 round.`)
    const scaled = { ...report, results: [{ ...result, measured: { ...MACHINE, scale: 0.1 } }] }
    expect(reportText(scaled)).toContain('| ratio ≤ 2, goal 1 |  | 100')
  })

  it('keeps earlier rows of comparisons that are still there, in the order of the suite', async () => {
    const named = async (name: string, commit: string) => {
      const result = await compare({ ...SLOPE, name, ours: giving(1, 1), baseline: giving(1, 1) }, 1)
      return { ...result, measured: { commit } }
    }
    const report = (...results: Awaited<ReturnType<typeof named>>[]) => ({
      suite: 'day',
      results,
      curves: [],
      skipped: [],
    })
    const earlier = report(await named('b', 'old'), await named('gone', 'old'), await named('a', 'old'))
    const both = merged(earlier, report(await named('b', 'new')), {
      comparisons: ['a', 'b', 'never measured'].map((name) => ({ ...SLOPE, name })),
    })
    expect(both.results.map(({ name, measured: { commit } }) => `${name} ${commit}`)).toEqual(['a old', 'b new'])
  })
})

describe('a curve', () => {
  it('has the straight line through the medians', async () => {
    const line = { name: 'builds', measure: async (size: number) => ({ value: 3 + 0.5 * size }) }
    const measured = await measureCurve(
      { name: 'records', size: 'million records', oneOfSize: 'million records', sizes: [1, 5, 20], lines: [line] },
      2,
    )
    const [{ intercept, slope, points } = { intercept: 0, slope: 0, points: [] }] = measured.lines
    expect([intercept, slope].map((value) => value.toFixed(6))).toEqual(['3.000000', '0.500000'])
    expect(points.map(({ seconds }) => seconds.median)).toEqual([3.5, 5.5, 13])
    expect(straightLine(points)).toEqual({ intercept, slope })
    const svg = draw({ id: 'picture', title: 'CPU < time', curves: [measured] })
    expect(svg).toContain(
      '<desc id="picture-desc">Straight lines through the medians. builds: 3.00 s, and 500 ms for each million records.',
    )
    expect(svg).toContain('CPU &lt; time')
    expect(svg).not.toContain('=&quot;')
  })
})
