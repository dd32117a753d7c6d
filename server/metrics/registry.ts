import { type MetricFamily, seriesOf } from '../../pipeline/contract/prometheus-text.ts'

type Labels = readonly string[]

/** What a gauge reads when it is asked; undefined if there is no value now. */
type Read = () => number | undefined | Promise<number | undefined>

/** Without what is below a millionth: a sum that is less by its last bit looks like a counter that began again. */
export function inMicros(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6
}

/** The metrics of this process. */
export class Registry {
  readonly #collectors: (() => MetricFamily | Promise<MetricFamily>)[] = []

  counter(name: string, help: string, labels: Labels = []): Counter {
    const counter = new Counter(name, labels)
    this.add(() => ({ name, help, type: 'counter', samples: counter.samples() }))
    return counter
  }

  histogram(name: string, help: string, bounds: readonly number[], labels: Labels = []): Histogram {
    const histogram = new Histogram(name, bounds, labels)
    this.add(() => ({ name, help, type: 'histogram', samples: histogram.samples() }))
    return histogram
  }

  gauge(name: string, help: string, read: Read): void {
    this.add(async () => {
      const value = await read()
      return { name, help, type: 'gauge', samples: value === undefined ? [] : [[name, value]] }
    })
  }

  add(collect: () => MetricFamily | Promise<MetricFamily>): void {
    this.#collectors.push(collect)
  }

  /** Without what cannot be read now, such as the memory when no more files can be opened: the rest is needed then. */
  async collect(): Promise<MetricFamily[]> {
    const results = await Promise.allSettled(this.#collectors.map(async (collect) => await collect()))
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }
}

/** Counts for each set of label values. Without labels it begins with 0. */
export class Counter {
  readonly #name: string
  readonly #labels: Labels
  readonly #values = new Map<string, { line: string; value: number }>()

  constructor(name: string, labels: Labels) {
    this.#name = name
    this.#labels = labels
    if (labels.length === 0) this.add(0)
  }

  add(amount: number, ...values: string[]): void {
    const key = values.join('\n')
    const known = this.#values.get(key)
    if (known !== undefined) known.value += amount
    else this.#values.set(key, { line: seriesOf(this.#name, withValues(this.#labels, values)), value: amount })
  }

  samples(): MetricFamily['samples'] {
    return [...this.#values.values()].map(({ line, value }) => [line, value])
  }
}

interface Series {
  values: readonly string[]
  /** One for each bound, and one for what is above them all. */
  counts: number[]
  sum: number
}

/** Counts values at or below each bound, and sums them, for each set of label values. */
export class Histogram {
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #labels: Labels
  readonly #series = new Map<string, Series>()

  constructor(name: string, bounds: readonly number[], labels: Labels) {
    this.#name = name
    this.#bounds = bounds
    this.#labels = labels
    if (labels.length === 0) this.#find([])
  }

  observe(value: number, ...values: string[]): void {
    const series = this.#find(values)
    let index = 0
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? 0)) index++
    series.counts[index] = (series.counts[index] ?? 0) + 1
    series.sum += value
  }

  #find(values: readonly string[]): Series {
    const key = values.join('\n')
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const series = { values, counts: Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
    this.#series.set(key, series)
    return series
  }

  samples(): MetricFamily['samples'] {
    return [...this.#series.values()].flatMap((series) => this.#lines(series))
  }

  #lines({ values, counts, sum }: Series): MetricFamily['samples'] {
    const own = withValues(this.#labels, values)
    let total = 0
    const buckets = counts.map((count, index): [string, number] => {
      total += count
      const bound = this.#bounds[index]
      const le = bound === undefined ? '+Inf' : String(bound)
      return [seriesOf(`${this.#name}_bucket`, { ...own, le }), total]
    })
    return [
      ...buckets,
      [seriesOf(`${this.#name}_sum`, own), inMicros(sum)],
      [seriesOf(`${this.#name}_count`, own), total],
    ]
  }
}

function withValues(labels: Labels, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}
