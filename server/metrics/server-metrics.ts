import { watchEventLoop } from './event-loop.ts'
import { type Read, Registry } from './registry.ts'

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

export type ServerMetrics = ReturnType<typeof serverMetrics>

/** The metrics of a server. docs/operations.md lists them. */
export function serverMetrics() {
  const registry = new Registry()
  const loop = watchEventLoop()
  const counter = (name: string, help: string, labels?: string[]) => registry.counter(PREFIX + name, help, labels)
  const histogram = (name: string, help: string, labels?: string[]) =>
    registry.histogram(PREFIX + name, help, BOUNDS, labels)
  const gauge = (name: string, help: string, read: Read) => registry.gauge(PREFIX + name, help, read)
  const requests = counter('http_requests_total', 'Requests that were answered or given up.', [
    'route',
    'method',
    'status',
  ])
  const took = 'Time from the head of a request to the end of its answer.'
  const durations = histogram('http_request_duration_seconds', took, ['route', 'method'])
  const observeStore = histogram('store_duration_seconds', 'Time of each statement of the store.')
  const storeErrors = counter('store_errors_total', 'Requests and readiness checks that the store did not answer.')
  const limited = counter('rate_limited_total', 'Requests that were refused with 429.', ['limit'])
  for (const limit of RATE_LIMITS) limited(0, limit)
  const delay = 'Delay of the event loop, of the last one to two minutes.'
  registry.add(() => loop.delay.family(`${PREFIX}event_loop_delay_seconds`, delay))
  addProcess(registry)

  return {
    /** `route` must be a pattern, not a path: each one is a series for good. Without seconds, the request is only counted. */
    countRequest(route: string, method: string, status: number | typeof ABORTED, seconds?: number): void {
      const known = METHODS.has(method) ? method : 'other'
      requests(1, route, known, String(status))
      if (seconds !== undefined) durations(seconds, route, known)
    },
    observeStore: (seconds: number) => observeStore(seconds),
    countStoreError: () => storeErrors(1),
    countRateLimited: (limit: RateLimit) => limited(1, limit),
    watch(gauges: Gauges): void {
      const release = (name: string, help: string, read: (found: ReleaseGauges) => number | undefined) =>
        gauge(name, help, async () => {
          const found = await gauges.release()
          return found && read(found)
        })
      const inFlight = 'Requests that are being answered, the one for this text included.'
      const late = 'When the release that is served is late, as its catalog says.'
      const waiting = 'Older releases that are being loaded or wait for it.'
      gauge('http_requests_in_flight', inFlight, gauges.requestsInFlight)
      gauge('connections', 'Open connections.', gauges.connections)
      gauge('older_releases_waiting', waiting, gauges.olderReleasesWaiting)
      release(
        'release_timestamp_seconds',
        'The as_of of the release that is served.',
        ({ asOf }) => asOf.getTime() / 1000,
      )
      release('release_rows', 'Rows of the release that is served.', ({ rows }) => rows)
      release(
        'release_stale_after_timestamp_seconds',
        late,
        ({ staleAfter }) => staleAfter && staleAfter.getTime() / 1000,
      )
      gauge('store_up', 'Whether the store answers: 1 or 0.', async () => ((await gauges.isStoreUp()) ? 1 : 0))
    },
    /** Measures the event loop from here on. */
    start: loop.start,
    stop: loop.stop,
    collect: () => registry.collect(),
  }
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
