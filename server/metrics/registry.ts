/** A metric in the text format of Prometheus, version 0.0.4. */
export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** Series, such as `name{label="value"}`, with their values. */
  samples: (readonly [series: string, value: number])[]
}

type Labels = readonly string[]
type Samples = MetricFamily['samples']

/** What a gauge reads when it is asked; undefined if there is no value now. */
export type Read = () => number | undefined | Promise<number | undefined>

/** Adds to a counter, or gives a value to a histogram, of the series with these label values. */
export type Count = (amount: number, ...values: string[]) => void

/** Without what is below a millionth: a sum that is less by its last bit looks like a counter that began again. */
export function inMicros(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6
}

/** The metrics of this process. */
export class Registry {
  readonly #collectors: (() => MetricFamily | Promise<MetricFamily>)[] = []

  /** Counts for each set of label values. Without labels it begins with 0. */
  counter(name: string, help: string, labels: Labels = []): Count {
    const series = seriesBy(labels, (own): [string, number] => [seriesOf(name, own), 0])
    this.add(() => ({
      name,
      help,
      type: 'counter',
      samples: Array.from(series.all(), ([line, value]) => [line, value]),
    }))
    return (amount, ...values) => {
      series.find(values)[1] += amount
    }
  }

  /** Counts values at or below each bound, and sums them, for each set of label values. */
  histogram(name: string, help: string, bounds: readonly number[], labels: Labels = []): Count {
    // One count for each bound, and one for what is above them all.
    const series = seriesBy(labels, (own) => ({ own, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 }))
    const samplesOf = ({ own, counts, sum }: ReturnType<typeof series.find>): Samples => {
      let total = 0
      const buckets = counts.map((count, index): [string, number] => {
        total += count
        return [seriesOf(`${name}_bucket`, { ...own, le: String(bounds[index] ?? '+Inf') }), total]
      })
      return [...buckets, [seriesOf(`${name}_sum`, own), inMicros(sum)], [seriesOf(`${name}_count`, own), total]]
    }
    this.add(() => ({ name, help, type: 'histogram', samples: [...series.all()].flatMap(samplesOf) }))
    return (value, ...values) => {
      const found = series.find(values)
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? 0)) index++
      found.counts[index] = (found.counts[index] ?? 0) + 1
      found.sum += value
    }
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

/** A series for each set of label values, made when it is first asked for; without labels at once. */
function seriesBy<T>(labels: Labels, make: (own: Record<string, string>) => T) {
  const known = new Map<string, T>()
  const find = (values: Labels): T => {
    const key = values.join('\n')
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])))
    known.set(key, made)
    return made
  }
  if (labels.length === 0) find([])
  return { find, all: () => known.values() }
}

export const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The families in this order, each with its help and type. One without samples is left out. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(renderFamily)
    .join('')
}

function renderFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(([series, value]) => `${series} ${renderValue(value)}\n`)
  return `# HELP ${name} ${help.replaceAll(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value.replaceAll(/[\\\n"]/g, escaped)}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}

function renderValue(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
