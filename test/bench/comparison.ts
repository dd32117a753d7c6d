import { type Spread, spreadOf } from './spread.ts'

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

/** Comparisons that share what they are measured on; `close` ends every process that was started for them. */
export interface Suite {
  comparisons: Comparison[]
  /** What cannot be measured here, and why. */
  skipped: string[]
  close(): Promise<void>
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
