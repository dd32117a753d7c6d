import { MOST_BODY_BYTES_EACH } from '../server/api/body-share.ts'
import { CONNECTION_LIMITS, MOST_BYTES_OF_HEAD, MOST_CONNECTIONS } from '../server/api/connections.ts'
import { MOST_CONTAINERS, MOST_KEYS } from '../server/api/json-body.ts'
import { MAX_BODY_BYTES } from '../server/api/routes/presets.ts'
import { STOP_DEADLINE_MS } from '../server/main.ts'
import { MOST_LOADING, MOST_LOADING_EACH } from '../server/published/older-releases.ts'
import { RETRY_BUDGET_MS } from '../server/store/retry.ts'

/** A limit of the server as docs/operations.md lists it. `test/server/limits.test.ts` reaches each and sees `answer`. */
export interface Limit {
  what: string
  limit: string
  /** What the client sees beyond it: a status, with `Retry-After` or without, or a closed connection. */
  answer: string
  note?: string
}

const MIB = 2 ** 20
const count = (number: number) => number.toLocaleString('en-US')
const seconds = (milliseconds: number) => `${milliseconds / 1000} s`

export const CLOSED = 'the connection is closed'
export const RETRIED = (status: number) => `${status} with \`Retry-After\``

export const LIMITS = {
  connections: {
    what: 'connections at once, per process',
    limit: `three quarters of the open files that the process may have (\`ulimit -n\`), at most ${count(MOST_CONNECTIONS)}`,
    answer: RETRIED(503),
    note: 'if requests are under way on all others; otherwise the connection that was idle longest is closed',
  },
  host: { what: '`Host` header', limit: 'one, with a host name or an address', answer: '400' },
  head: { what: 'request line and headers', limit: `${MOST_BYTES_OF_HEAD / 1024} KiB`, answer: '431' },
  body: { what: 'body', limit: `${MAX_BODY_BYTES / MIB} MiB`, answer: '413' },
  keys: { what: 'keys of a body, at all depths together', limit: count(MOST_KEYS), answer: '400' },
  containers: {
    what: 'lists and objects of a body, at all depths together',
    limit: count(MOST_CONTAINERS),
    answer: '400',
  },
  bodies: {
    what: 'bodies of one key under way at once',
    limit: `${MOST_BODY_BYTES_EACH / MIB} MiB: two of the largest`,
    answer: RETRIED(429),
  },
  older: {
    what: 'older releases (`as_of`) that wait to be read, if `history.csv.gz` does not have them',
    limit: `${MOST_LOADING}, and ${MOST_LOADING_EACH} of one key`,
    answer: RETRIED(429),
  },
  perMinute: {
    what: 'requests of a key per minute',
    limit: '`RATE_LIMIT_PER_MINUTE`, off by default',
    answer: RETRIED(429),
  },
  perDay: {
    what: 'requests of an account per day',
    limit: '`RATE_LIMIT_PER_DAY`, off by default',
    answer: RETRIED(429),
  },
  badKeys: {
    what: 'invalid keys of an address per minute',
    limit: '`RATE_LIMIT_BAD_KEYS_PER_MINUTE`, off by default',
    answer: RETRIED(429),
  },
  writes: { what: 'time that a write waits for its turn', limit: seconds(RETRY_BUDGET_MS), answer: RETRIED(409) },
  headTime: {
    what: 'time for the head of a request, from its first byte',
    limit: seconds(CONNECTION_LIMITS.headMs),
    answer: '408',
    note: 'or no answer if nothing was sent',
  },
  requestTime: {
    what: 'time for a request with its body',
    limit: seconds(CONNECTION_LIMITS.requestMs),
    answer: '408',
  },
  idleTime: {
    what: 'time between two requests on a connection',
    limit: seconds(CONNECTION_LIMITS.idleMs),
    answer: CLOSED,
  },
  stalledTime: {
    what: 'time without a byte in either direction',
    limit: seconds(CONNECTION_LIMITS.stalledMs),
    answer: CLOSED,
  },
  stopTime: {
    what: 'time to finish running requests after SIGTERM, SIGINT or SIGHUP',
    limit: seconds(STOP_DEADLINE_MS),
    answer: CLOSED,
    note: 'at once after a second SIGTERM',
  },
} satisfies Record<string, Limit>

const LIST = /(?<=<!-- limits -->\n).*?(?=<!-- end of limits -->)/s

/** docs/operations.md with the limits as the code has them. */
export function renderLimits(page: string): string {
  const lines = Object.values<Limit>(LIMITS).map(({ what, limit, answer, note }) => {
    return `- ${what}: ${limit} (${note === undefined ? answer : `${answer}, ${note}`})\n`
  })
  return page.replace(LIST, lines.join(''))
}
