/** How something is measured: beside another way to do it, or at several sizes. */

/** What several rounds gave. */
interface Spread {
  median: number
  min: number
  max: number
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1]
  return { median: (at(low) + at(high)) / 2, min: at(0), max: at(sorted.length - 1) }
}

/** Such as `5.24 (5.10–5.61)`. */
export function showSpread({ median, min, max }: Spread): string {
  return min === max ? digits(median) : `${digits(median)} (${digits(min)}–${digits(max)})`
}

/** Three digits: more would be noise. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}

/** What one measurement of one contestant gave, such as CPU seconds, and whatever else is worth keeping. */
export interface Measured {
  value: number
  details?: Record<string, number>
}

/** Work that is measured, in turns with another way to do it where there is one. */
export interface Comparison {
  name: string
  unit: string
  higherIsBetter: boolean
  /** What the bar is about: `value of ours / value of the baseline` unless it says `value`. */
  barOf?: 'ratio' | 'value'
  /** The bar: at least, or at most where lower is better. */
  required?: number
  goal?: number
  ours: () => Promise<Measured>
  baseline?: () => Promise<Measured>
  baselineName?: string
  /** What details and facts may be at most, beside the bar. */
  limits?: Record<string, number>
  /** Facts that hold for all rounds, such as sizes of answers. */
  facts?: () => Promise<Record<string, number | string>>
}

/** What shares what it is measured on; `close` ends every process that was started for it. */
export interface Suite {
  comparisons?: Comparison[]
  curves?: Curve[]
  /** What cannot be measured here, and why. */
  skipped?: string[]
  close?(): Promise<void>
}

type Described = 'name' | 'unit' | 'higherIsBetter' | 'barOf' | 'required' | 'goal' | 'baselineName'

export interface Result extends Pick<Comparison, Described> {
  rounds: number
  ours: Spread
  baseline?: Spread
  /** Of the ratios of the rounds: what is measured one right after the other meets the same machine. */
  ratio?: Spread
  /** The limits that are exceeded, in words. */
  exceeded: string[]
  details: Record<string, Spread>
  baselineDetails: Record<string, Spread>
  facts: Record<string, number | string>
}

interface Round {
  ours: Measured
  baseline?: Measured | undefined
}

/** Runs a comparison: the baseline and ours take turns, and ours goes first every other round. */
export async function compare(comparison: Comparison, rounds: number): Promise<Result> {
  const { ours, baseline, limits = {}, facts: findFacts, ...described } = comparison
  // Not counted: in the first round both sides are cold.
  await baseline?.()
  await ours()
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) measured.push({ baseline: await baseline?.(), ours: await ours() })
    else measured.push({ ours: await ours(), baseline: await baseline?.() })
  }
  const details = detailsOf(measured.map((round) => round.ours))
  const facts = (await findFacts?.()) ?? {}
  const exceeded = Object.entries(limits).flatMap(([name, most]) => {
    const value = details[name]?.median ?? Number(facts[name])
    return value <= most ? [] : [`${name} is ${value.toPrecision(3)}, at most ${most}`]
  })
  const own = { ...described, rounds, ours: spreadOf(measured.map((round) => round.ours.value)) }
  const others = measured.flatMap((round) => round.baseline ?? [])
  if (others.length === 0) return { ...own, exceeded, details, baselineDetails: {}, facts }
  return {
    ...own,
    baseline: spreadOf(others.map(({ value }) => value)),
    ratio: spreadOf(measured.map((round) => round.ours.value / (round.baseline?.value ?? Number.NaN))),
    ...{ exceeded, details, baselineDetails: detailsOf(others), facts },
  }
}

/** Whether a result meets its bar and its limits, or its goal; undefined where it has none. */
export function verdictOf(result: Result): 'no' | 'yes' | 'goal' | undefined {
  const { higherIsBetter, barOf, required, goal, ours, ratio, exceeded } = result
  const measured = (barOf === 'value' ? ours : ratio)?.median ?? Number.NaN
  const reaches = (bar: number) => (higherIsBetter ? measured >= bar : measured <= bar)
  if (required === undefined && exceeded.length === 0) return undefined
  if (exceeded.length > 0 || (required !== undefined && !reaches(required))) return 'no'
  return goal !== undefined && reaches(goal) ? 'goal' : 'yes'
}

function detailsOf(measured: readonly Measured[]): Record<string, Spread> {
  const names = Object.keys(measured[0]?.details ?? {})
  return Object.fromEntries(
    names.map((name) => [name, spreadOf(measured.map(({ details }) => details?.[name] ?? Number.NaN))]),
  )
}

/** The same work at several sizes. */
export interface Curve {
  name: string
  /** One of the size, such as `million records`. */
  oneOfSize: string
  sizes: readonly number[]
  lines: readonly { name: string; measure: (size: number) => Promise<Measured> }[]
}

export interface MeasuredLine {
  name: string
  rounds: number
  points: { size: number; seconds: Spread }[]
  /** What the work takes at size zero, and for each further one of the size: CPU seconds. */
  intercept: number
  slope: number
}

export interface MeasuredCurve extends Pick<Curve, 'name' | 'oneOfSize'> {
  lines: MeasuredLine[]
}

/** Measures all lines of a curve at all sizes, in turns. */
export async function measureCurve(curve: Curve, rounds: number): Promise<MeasuredCurve> {
  const { name, oneOfSize, sizes } = curve
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
  return { name, oneOfSize, lines }
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
