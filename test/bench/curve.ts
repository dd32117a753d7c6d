import type { Measured, Suite } from './comparison.ts'
import { type Spread, spreadOf } from './spread.ts'

/** The same work at several sizes. */
export interface Curve {
  name: string
  /** What the size is, such as `million records`, and one of it. */
  size: string
  oneOfSize: string
  sizes: readonly number[]
  lines: readonly { name: string; measure: (size: number) => Promise<Measured> }[]
}

export interface ScalingSuite extends Suite {
  curves: Curve[]
}

export interface MeasuredLine {
  name: string
  rounds: number
  points: { size: number; seconds: Spread }[]
  /** What the work takes at size zero, and for each further one of the size: CPU seconds. */
  intercept: number
  slope: number
}

export interface MeasuredCurve extends Pick<Curve, 'name' | 'size' | 'oneOfSize'> {
  lines: MeasuredLine[]
}

/** Measures all lines of a curve at all sizes, in turns. */
export async function measureCurve(curve: Curve, rounds: number): Promise<MeasuredCurve> {
  const { name, size, oneOfSize, sizes } = curve
  const measured = curve.lines.map((line) => ({ ...line, values: sizes.map(() => [] as number[]) }))
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, at] of sizes.entries()) {
      for (const { measure, values } of measured) values[position]?.push((await measure(at)).value)
    }
  }
  const lines = measured.map((line): MeasuredLine => {
    const points = sizes.map((at, position) => ({ size: at, seconds: spreadOf(line.values[position] ?? []) }))
    return { name: line.name, rounds, points, ...straightLine(points) }
  })
  return { name, size, oneOfSize, lines }
}

/** The straight line through the medians (least squares). */
export function straightLine(points: MeasuredLine['points']): Pick<MeasuredLine, 'intercept' | 'slope'> {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(({ size }) => size)), mean(points.map(({ seconds }) => seconds.median))]
  const slope =
    mean(points.map(({ size, seconds }) => (size - x) * (seconds.median - y))) /
    mean(points.map(({ size }) => (size - x) ** 2))
  return { intercept: y - slope * x, slope }
}
