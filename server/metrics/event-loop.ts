import { monitorEventLoopDelay } from 'node:perf_hooks'
import { inMicros, type MetricFamily } from './registry.ts'

/** How often the delay is measured. A block that is shorter may be missed. */
const RESOLUTION_MS = 20
const WINDOW_MS = 60_000
const QUANTILES = [0.5, 0.9, 0.99, 1]

/** The part of Node's histogram that is used. Its values are nanoseconds between two looks. */
export interface DelayHistogram {
  readonly count: number
  readonly mean: number
  percentile(percent: number): number
  reset(): void
}

interface Summary {
  count: number
  sum: number
  quantiles: readonly number[]
}

/**
 * Delays of the event loop in seconds. The quantiles are of the last one to two windows and not since the last scrape:
 * two programs may scrape, and each has to see a block.
 */
export class EventLoopDelay {
  readonly #histogram: DelayHistogram
  #ended = { count: 0, sum: 0 }
  #previous: Summary | undefined

  constructor(histogram: DelayHistogram) {
    this.#histogram = histogram
  }

  /** Begins a new window. */
  rotate(): void {
    const current = this.#read()
    this.#previous = current
    this.#ended = { count: this.#ended.count + current.count, sum: this.#ended.sum + current.sum }
    this.#histogram.reset()
  }

  family(name: string, help: string): MetricFamily {
    const current = this.#read()
    const previous = this.#previous?.quantiles ?? []
    const quantiles = QUANTILES.map((quantile, index): [string, number] => [
      `${name}{quantile="${quantile}"}`,
      Math.max(current.quantiles[index] ?? 0, previous[index] ?? 0),
    ])
    const sum = this.#ended.sum + current.sum
    const count = this.#ended.count + current.count
    const samples: MetricFamily['samples'] = [...quantiles, [`${name}_sum`, inMicros(sum)], [`${name}_count`, count]]
    return { name, help, type: 'summary', samples }
  }

  #read(): Summary {
    const { count, mean } = this.#histogram
    if (count === 0) return { count, sum: 0, quantiles: [] }
    const quantiles = QUANTILES.map((quantile) => delayOf(this.#histogram.percentile(quantile * 100)))
    return { count, sum: count * delayOf(mean), quantiles }
  }
}

/** The histogram measures from look to look, so an idle loop has the resolution. */
function delayOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3)
}

/** Measures while the server listens. */
export function watchEventLoop(): { delay: EventLoopDelay; start(): void; stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const delay = new EventLoopDelay(histogram)
  let timer: NodeJS.Timeout | undefined
  return {
    delay,
    start() {
      histogram.enable()
      timer ??= setInterval(() => delay.rotate(), WINDOW_MS).unref()
    },
    stop() {
      histogram.disable()
      clearInterval(timer)
      timer = undefined
    },
  }
}
