/** What one measurement of one contestant gave: a rate or a duration, and whatever else is worth keeping. */
export interface Measured {
  value: number
  details?: Record<string, number>
}

/** Two ways to do the same work, measured in turns. */
export interface Comparison {
  name: string
  /** The number of the row in the issue of requirements, where it has one. */
  row?: number
  unit: string
  /** Whether a larger value is a better one. */
  higherIsBetter: boolean
  /** What `value of ours / value of the baseline` has to be: at least, or at most where lower is better. */
  required?: number
  goal?: number
  ours: () => Promise<Measured>
  baseline: () => Promise<Measured>
  baselineName: string
  /** What details and facts may be at most, beside the ratio, for it to be met. */
  limits?: Record<string, number>
  /** Facts that hold for all rounds, such as sizes of answers. */
  facts?: () => Promise<Record<string, number | string>>
}

export interface Spread {
  median: number
  min: number
  max: number
}

export interface Result {
  name: string
  row: number | undefined
  unit: string
  rounds: number
  ours: Spread
  baseline: Spread
  baselineName: string
  /** Of the ratios of the rounds: what is measured one right after the other meets the same machine. */
  ratio: Spread
  required: number | undefined
  goal: number | undefined
  isMet: boolean
  /** The limits that are not held, in words. */
  exceeded: string[]
  details: Record<string, Spread>
  facts: Record<string, number | string>
}

/** Runs a comparison: the baseline and ours take turns, and every other round ours goes first. */
export async function compare(comparison: Comparison, rounds: number): Promise<Result> {
  const { ours, baseline, higherIsBetter, required } = comparison
  // Not counted: the first round finds both sides cold, and whichever is Node not compiled yet.
  await baseline()
  await ours()
  const measured: { ours: Measured; baseline: Measured }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) measured.push({ baseline: await baseline(), ours: await ours() })
    else measured.push({ ours: await ours(), baseline: await baseline() })
  }
  const ratio = spreadOf(measured.map((round) => round.ours.value / round.baseline.value))
  const details = detailsOf(measured)
  const facts = (await comparison.facts?.()) ?? {}
  const exceeded = exceededOf(comparison.limits ?? {}, (name) => details[name]?.median ?? Number(facts[name]))
  const isReached = required === undefined || (higherIsBetter ? ratio.median >= required : ratio.median <= required)
  return {
    name: comparison.name,
    row: comparison.row,
    unit: comparison.unit,
    rounds,
    ours: spreadOf(measured.map((round) => round.ours.value)),
    baseline: spreadOf(measured.map((round) => round.baseline.value)),
    baselineName: comparison.baselineName,
    ratio,
    required,
    goal: comparison.goal,
    isMet: isReached && exceeded.length === 0,
    exceeded,
    details,
    facts,
  }
}

function exceededOf(limits: Record<string, number>, of: (name: string) => number): string[] {
  return Object.entries(limits).flatMap(([name, most]) => {
    const value = of(name)
    return value <= most ? [] : [`${name} is ${value.toPrecision(3)}, at most ${most}`]
  })
}

/** The details of both sides, and the ratio of each. */
function detailsOf(measured: { ours: Measured; baseline: Measured }[]): Record<string, Spread> {
  const names = Object.keys(measured[0]?.ours.details ?? {})
  return Object.fromEntries(
    names.flatMap((name) => {
      const [ours, baseline] = (['ours', 'baseline'] as const).map((side) =>
        measured.map((round) => round[side].details?.[name] ?? Number.NaN),
      ) as [number[], number[]]
      return [
        [name, spreadOf(ours)],
        [`${name} of the baseline`, spreadOf(baseline)],
        [`${name}, ratio`, spreadOf(ours.map((value, round) => value / (baseline[round] ?? Number.NaN)))],
      ]
    }),
  )
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}
