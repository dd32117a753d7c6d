import type { MetricFamily } from '../../pipeline/contract/prometheus-text.ts'

/** A metric of one process or of several. */
export interface Family extends MetricFamily {
  /** How the gauges of several processes become one. All other metrics are summed. */
  across: Across
}

export type Across = 'sum' | 'max' | 'min'

const COMBINE: Record<Across, (a: number, b: number) => number> = {
  sum: (a, b) => inMicros(a + b),
  max: Math.max,
  min: Math.min,
}

/**
 * Without what is below a millionth. Sums of such numbers are exact, in whatever order: a sum that is less by the last bit
 * looks like a counter that began again.
 */
export function inMicros(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6
}

/** A quantile cannot be summed. The largest is that of the process that does worst. */
function ruleOf({ type, across }: Family, line: string): Across {
  if (type === 'gauge') return across
  return line.includes('{quantile=') ? 'max' : 'sum'
}

/** The metrics of several processes as one. */
export function merge(snapshots: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, { family: Family; values: Map<string, number> }>()
  for (const family of snapshots.flat()) {
    const known = merged.get(family.name) ?? { family, values: new Map<string, number>() }
    merged.set(family.name, known)
    for (const [line, value] of family.samples) {
      const other = known.values.get(line)
      known.values.set(line, other === undefined ? value : COMBINE[ruleOf(family, line)](other, value))
    }
  }
  return [...merged.values()].map(({ family, values }) => ({ ...family, samples: [...values] }))
}

/** What stays of a process that ended: all that is counted. */
export function lasting(families: readonly Family[]): Family[] {
  return families
    .filter(({ type }) => type !== 'gauge')
    .map((family) => ({ ...family, samples: family.samples.filter(([line]) => ruleOf(family, line) === 'sum') }))
}
