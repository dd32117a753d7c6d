import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { frameOf } from '../../pipeline/site/chart/frame.ts'
import { tokenScale } from '../../pipeline/site/chart/scales.ts'
import { lineChart } from '../../pipeline/site/chart.ts'

it('draws lines as d3-shape does, digit for digit', () => {
  const tokens = fc.oneof({ weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 21n }) }, fc.constant(null))
  fc.assert(
    fc.property(fc.array(tokens, { minLength: 1, maxLength: 200 }), (values) => {
      const dates = values.map((_, position) => addDays('2025-01-01', position))
      const chart = { id: 'c', title: 'A title', description: 'A description', dates }
      const greatest = Math.max(0, ...values.map(Number))
      const { x, y } = frameOf(dates, greatest)
      const path = line<number>()
        .defined((position) => values[position] !== null)
        .x((position) => x(position))
        .y((position) => y(Number(values[position])))
        .digits(1)
      // A point alone, which d3 closes with Z, is a dot.
      const isDot = (run: string) => !run.includes('L')
      const runs = (path([...dates.keys()]) ?? '').split(/(?=M)/).filter((run) => run !== '')
      const drawn = runs.filter((run) => !isDot(run)).join('')
      const { text } = lineChart({ ...chart, series: [{ name: 'a', values }] })
      expect(/<path d="(M[^"]*L[^"]*)" stroke="currentColor" stroke-width="2"/.exec(text)?.[1] ?? '').toBe(drawn)
      const dots = runs.filter(isDot).map((run) => run.replace('Z', 'h0'))
      expect(/<path d="([^"]*h0)" stroke="currentColor" stroke-width="6"/.exec(text)?.[1] ?? '').toBe(dots.join(''))
    }),
    { numRuns: 500 },
  )
})

it('places tokens where d3-scale does', () => {
  const number = fc.double({ min: 1, max: 1e21, noNaN: true })
  fc.assert(
    fc.property(number, number, (one, other) => {
      const [tokens = 0, greatest = 0] = [one, other].sort((a, b) => a - b)
      const scale = scaleLinear().domain([0, greatest]).range([330, 0]).nice(4)
      expect(tokenScale(greatest, 330).at(tokens)).toBe(scale(tokens))
    }),
    { numRuns: 1000 },
  )
})
