/** What one measurement of one contestant gave: a rate or a duration, and whatever else is worth keeping. */
export interface Measured {
  value: number
  details?: Record<string, number>
}

/** Two ways to do the same work, measured in turns. */
export interface Comparison {
  name: string
  /** The number of the row in the requirements, where it has one. */
  row?: number
  unit: string
  higherIsBetter: boolean
  /** What `value of ours / value of the baseline` must be: at least, or at most where lower is better. */
  required?: number
  goal?: number
  ours: () => Promise<Measured>
  baseline: () => Promise<Measured>
  baselineName: string
  /** What details and facts may be at most, beside the ratio. */
  limits?: Record<string, number>
  /** Facts that hold for all rounds, such as sizes of answers. */
  facts?: () => Promise<Record<string, number | string>>
}

/** Comparisons that share what they are measured on; `close` ends every process that was started for them. */
export interface Suite {
  comparisons: Comparison[]
  skipped: string[]
  close(): Promise<void>
}

export interface Spread {
  median: number
  min: number
  max: number
}

export interface Result extends Pick<Comparison, 'name' | 'row' | 'unit' | 'baselineName' | 'required' | 'goal'> {
  rounds: number
  ours: Spread
  baseline: Spread
  /** Of the ratios of the rounds: what is measured one right after the other meets the same machine. */
  ratio: Spread
  isMet: boolean
  /** The limits that are exceeded, in words. */
  exceeded: string[]
  details: Record<string, Spread>
  facts: Record<string, number | string>
}

/** Runs a comparison: the baseline and ours take turns, and ours goes first every other round. */
export async function compare(comparison: Comparison, rounds: number): Promise<Result> {
  const { ours, baseline, higherIsBetter, limits = {}, facts: findFacts, ...described } = comparison
  // Not counted: in the first round both sides are cold.
  await baseline()
  await ours()
  const measured: { ours: Measured; baseline: Measured }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) measured.push({ baseline: await baseline(), ours: await ours() })
    else measured.push({ ours: await ours(), baseline: await baseline() })
  }
  const ratio = spreadOf(measured.map((round) => round.ours.value / round.baseline.value))
  const details = detailsOf(measured)
  const facts = (await findFacts?.()) ?? {}
  const exceeded = Object.entries(limits).flatMap(([name, most]) => {
    const value = details[name]?.median ?? Number(facts[name])
    return value <= most ? [] : [`${name} is ${value.toPrecision(3)}, at most ${most}`]
  })
  const { required } = described
  const isReached = required === undefined || (higherIsBetter ? ratio.median >= required : ratio.median <= required)
  return {
    ...described,
    rounds,
    ours: spreadOf(measured.map((round) => round.ours.value)),
    baseline: spreadOf(measured.map((round) => round.baseline.value)),
    ratio,
    isMet: isReached && exceeded.length === 0,
    exceeded,
    details,
    facts,
  }
}

/** The details of both sides, and the ratio of each. */
function detailsOf(measured: readonly { ours: Measured; baseline: Measured }[]): Record<string, Spread> {
  const names = Object.keys(measured[0]?.ours.details ?? {})
  const spreads = names.flatMap((name) => {
    const rounds = measured.map(({ ours, baseline }) => {
      return [ours.details?.[name] ?? Number.NaN, baseline.details?.[name] ?? Number.NaN] as const
    })
    return [
      [name, spreadOf(rounds.map(([ours]) => ours))],
      [`${name} of the baseline`, spreadOf(rounds.map(([, baseline]) => baseline))],
      [`${name}, ratio`, spreadOf(rounds.map(([ours, baseline]) => ours / baseline))],
    ]
  })
  return Object.fromEntries(spreads)
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1]
  return { median: (at(low) + at(high)) / 2, min: at(0), max: at(sorted.length - 1) }
}
