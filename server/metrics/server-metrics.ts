import type { MetricFamily } from '../../pipeline/contract/prometheus-text.ts'
import { watchEventLoop } from './event-loop.ts'
import { Registry } from './registry.ts'

const PREFIX = 'tokenboard_'

/** Seconds, from an answer out of memory to a client that gives up. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The limits that refuse with 429. */
export const RATE_LIMITS = ['key', 'account', 'address', 'bodies', 'older_releases'] as const
export type RateLimit = (typeof RATE_LIMITS)[number]

/** The status of a request whose client left before the answer was sent. */
export const ABORTED = 'aborted'

/** What is read when the metrics are asked for. */
export interface Gauges {
  connections(): number
  requestsInFlight(): number
  olderReleasesWaiting(): number
  /** Undefined while no release is loaded. */
  release(): Promise<ReleaseGauges | undefined>
  isStoreUp(): Promise<boolean>
}

export interface ReleaseGauges {
  asOf: Date
  rows: number
  staleAfter: Date | undefined
}

export interface ServerMetrics {
  /** `route` must be a pattern, not a path: each one is a series for good. Without seconds, the request is only counted. */
  countRequest(route: string, method: string, status: number | typeof ABORTED, seconds?: number): void
  observeStore(seconds: number): void
  countStoreError(): void
  countRateLimited(limit: RateLimit): void
  watch(gauges: Gauges): void
  /** Measures the event loop from here on. */
  start(): void
  stop(): void
  collect(): Promise<MetricFamily[]>
}

/** The metrics of a server. docs/operations.md lists them. */
export function serverMetrics(): ServerMetrics {
  const registry = new Registry()
  const loop = watchEventLoop()
  const requests = registry.counter(`${PREFIX}http_requests_total`, 'Requests that were answered or given up.', [
    'route',
    'method',
    'status',
  ])
  const durations = registry.histogram(
    `${PREFIX}http_request_duration_seconds`,
    'Time from the head of a request to the end of its answer.',
    BOUNDS,
    ['route', 'method'],
  )
  const store = registry.histogram(`${PREFIX}store_duration_seconds`, 'Time of each statement of the store.', BOUNDS)
  const storeErrors = registry.counter(
    `${PREFIX}store_errors_total`,
    'Requests and readiness checks that the store did not answer.',
  )
  const limited = registry.counter(`${PREFIX}rate_limited_total`, 'Requests that were refused with 429.', ['limit'])
  for (const limit of RATE_LIMITS) limited.add(0, limit)
  registry.add(() =>
    loop.delay.family(`${PREFIX}event_loop_delay_seconds`, 'Delay of the event loop, of the last one to two minutes.'),
  )
  addProcess(registry)

  return {
    countRequest(route, method, status, seconds) {
      const known = METHODS.has(method) ? method : 'other'
      requests.add(1, route, known, String(status))
      if (seconds !== undefined) durations.observe(seconds, route, known)
    },
    observeStore: (seconds) => store.observe(seconds),
    countStoreError: () => storeErrors.add(1),
    countRateLimited: (limit) => limited.add(1, limit),
    watch: (gauges) => addGauges(registry, gauges),
    start: loop.start,
    stop: loop.stop,
    collect: () => registry.collect(),
  }
}

function addGauges(registry: Registry, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: Parameters<Registry['gauge']>[2]) =>
    registry.gauge(PREFIX + name, help, read)
  const seconds = (date: Date | undefined) => date && date.getTime() / 1000
  gauge(
    'http_requests_in_flight',
    'Requests that are being answered, the one for this text included.',
    gauges.requestsInFlight,
  )
  gauge('connections', 'Open connections.', gauges.connections)
  gauge('older_releases_waiting', 'Older releases that are being loaded or wait for it.', gauges.olderReleasesWaiting)
  gauge('release_timestamp_seconds', 'The as_of of the release that is served.', async () =>
    seconds((await gauges.release())?.asOf),
  )
  gauge('release_rows', 'Rows of the release that is served.', async () => (await gauges.release())?.rows)
  gauge(
    'release_stale_after_timestamp_seconds',
    'When the release that is served is late, as its catalog says.',
    async () => seconds((await gauges.release())?.staleAfter),
  )
  gauge('store_up', 'Whether the store answers: 1 or 0.', async () => ((await gauges.isStoreUp()) ? 1 : 0))
}

/** What Prometheus expects of every process, by the names that it gives them. */
function addProcess(registry: Registry): void {
  registry.gauge('process_resident_memory_bytes', 'Memory that the process has.', () => process.memoryUsage.rss())
  registry.add(() => {
    const { user, system } = process.cpuUsage()
    const name = 'process_cpu_seconds_total'
    const help = 'Processor time that was used.'
    return { name, help, type: 'counter', samples: [[name, (user + system) / 1e6]] }
  })
  registry.gauge('process_start_time_seconds', 'When the process began.', () => performance.timeOrigin / 1000)
}
