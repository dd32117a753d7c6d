import { expect, it } from 'vitest'
import { type Comparison, compare, measureCurve, type Result, straightLine, verdictOf } from './measure.ts'
import { merged, reportText } from './report.ts'

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

it('a comparison has medians of all rounds but the first, and the ratio of each, where there is a baseline', async () => {
  const result = await compare(SLOPE, 3)
  expect(result.ours).toEqual({ median: 4, min: 3, max: 9 })
  expect(result.baseline).toEqual({ median: 2, min: 2, max: 3 })
  expect(result.ratio).toEqual({ median: 2, min: 1.5, max: 3 })
  const { baseline: _none, ...alone } = SLOPE
  expect((await compare({ ...alone, ours: giving(9, 4) }, 1)).ratio).toBeUndefined()
})

it.each([
  ['ratio', {}, 'yes'],
  ['value', { barOf: 'value' }, 'no'],
  ['a rate', { higherIsBetter: true, required: 2.1 }, 'no'],
  ['a goal', { goal: 2 }, 'goal'],
  ['a limit', { exceeded: ['peak_mib is 900, at most 512'] }, 'no'],
] as const)('a comparison is judged by %s', (_, changed, verdict) => {
  const [two, three] = [2, 3].map((value) => ({ median: value, min: value, max: value }))
  const result = {
    ...{ name: 'x', unit: 's', higherIsBetter: false, required: 2, goal: 1.5, rounds: 1, ours: three, ratio: two },
    ...{ exceeded: [], details: {}, baselineDetails: {}, facts: {} },
  }
  expect(verdictOf({ ...result, ...changed } as unknown as Result)).toBe(verdict)
})

const resultOf = async (name: string, measured: Record<string, string | number> = MACHINE) => {
  const measuring = { ...SLOPE, name, ours: giving(9, 1), baseline: giving(9, 2) }
  return { ...(await compare(measuring, 1)), measured }
}

it('a report shows the bar, the verdict and what was measured beside it', async () => {
  const report = { suite: 'day', results: [await resultOf('slope')], curves: [], skipped: ['nothing: no reason'] }
  expect(reportText(report)).toBe(`| what | Tokenboard | compared with | ratio | bar | met | beside it |
| --- | --- | --- | --- | --- | --- | --- |
| slope | **1.00** ms of CPU | bare: 2.00 | 0.500 | ratio ≤ 2, goal 1 | goal | 100 / 100 MiB |

Not measured here: nothing: no reason

Measured on: cpu a test, commit abc. 1 round.`)
  const scaled = { ...report, results: [await resultOf('slope', { ...MACHINE, scale: 0.1 })] }
  expect(reportText(scaled)).toContain('| ratio ≤ 2, goal 1 |  | 100')
})

it('a report keeps earlier rows of comparisons that are still there, in the order of the suite', async () => {
  const report = async (commit: string, ...names: string[]) => {
    const results = await Promise.all(names.map((name) => resultOf(name, { commit })))
    return { suite: 'day', results, curves: [], skipped: [] }
  }
  const comparisons = ['a', 'b', 'never measured'].map((name) => ({ ...SLOPE, name }))
  const both = merged(await report('old', 'b', 'gone', 'a'), await report('new', 'b'), { comparisons })
  expect(both.results.map(({ name, measured: { commit } }) => `${name} ${commit}`)).toEqual(['a old', 'b new'])
})

it('a curve has the straight line through the medians', async () => {
  const lines = [{ name: 'builds', measure: async (size: number) => ({ value: 3 + 0.5 * size }) }]
  const curve = { name: 'records', oneOfSize: 'million records', sizes: [1, 5, 20], lines }
  const measured = await measureCurve(curve, 2)
  const points = measured.lines[0]?.points ?? []
  expect(points.map(({ seconds }) => seconds.median)).toEqual([3.5, 5.5, 13])
  const { intercept, slope } = straightLine(points)
  expect([intercept, slope].map((value) => value.toFixed(6))).toEqual(['3.000000', '0.500000'])
  const report = { suite: 'scaling', results: [], curves: [{ ...measured, measured: MACHINE }], skipped: [] }
  expect(reportText(report)).toContain(
    '| records | builds | 1: 3.50 · 5: 5.50 · 20: 13.0 | 3.00 s, and 500 ms for each',
  )
})
