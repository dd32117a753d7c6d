import { BuildError, CliError, reasonOf } from '../base/errors.ts'

/** What a ClickHouse error means. */
interface Meaning {
  /** ClickHouse's own name of the code. */
  name: string
  /** A node that is down or busy: the same query may succeed later. */
  isPassing?: true
  advice?: Advice
}

/** What to do about it. `isUsage`: a setting is wrong. */
interface Advice {
  isUsage: boolean
  text: string
}

const OTHER = { isUsage: false, text: 'nothing was published' }
const SLOW = { isUsage: false, text: 'raise engine.clickhouse.timeout_seconds; nothing was published' }
const LOGIN = { isUsage: true, text: 'set CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, or CLICKHOUSE_PASSWORD_FILE' }
const CLUSTER = {
  isUsage: true,
  text: 'set "cluster" to a cluster of its configuration, or remove it if one server has all records',
}
const AWAY = {
  isUsage: false,
  text: 'a shard does not respond, and its records would be missing; nothing was published',
}
const FORBIDDEN = {
  isUsage: true,
  text: 'the user must be allowed to read the view and to change settings (readonly = 2)',
}
const DATABASE = { isUsage: true, text: 'set "database" to the database of the view' }
const VIEW = { isUsage: true, text: 'the view must exist on every node; docs/operations.md shows it' }

/** By code, as they have been since 18.16. Any other code ends the build with ClickHouse's own words. */
const ERRORS: Readonly<Record<string, Meaning>> = {
  3: { name: 'UNEXPECTED_END_OF_FILE', isPassing: true },
  32: { name: 'ATTEMPT_TO_READ_AFTER_EOF', isPassing: true },
  60: { name: 'UNKNOWN_TABLE', advice: VIEW },
  81: { name: 'UNKNOWN_DATABASE', advice: DATABASE },
  164: { name: 'READONLY', advice: FORBIDDEN },
  170: { name: 'BAD_GET', advice: CLUSTER },
  192: { name: 'UNKNOWN_USER', advice: LOGIN },
  193: { name: 'WRONG_PASSWORD', advice: LOGIN },
  194: { name: 'REQUIRED_PASSWORD', advice: LOGIN },
  202: { name: 'TOO_MANY_SIMULTANEOUS_QUERIES', isPassing: true },
  209: { name: 'SOCKET_TIMEOUT', isPassing: true, advice: AWAY },
  210: { name: 'NETWORK_ERROR', isPassing: true, advice: AWAY },
  236: { name: 'ABORTED', isPassing: true },
  279: { name: 'ALL_CONNECTION_TRIES_FAILED', isPassing: true, advice: AWAY },
  425: { name: 'SYSTEM_ERROR', isPassing: true },
  452: { name: 'SETTING_CONSTRAINT_VIOLATION', advice: FORBIDDEN },
  497: { name: 'ACCESS_DENIED', advice: FORBIDDEN },
  516: { name: 'AUTHENTICATION_FAILED', advice: LOGIN },
  701: { name: 'CLUSTER_DOESNT_EXIST', advice: CLUSTER },
  999: { name: 'KEEPER_EXCEPTION', isPassing: true },
}

/** Where older servers write the code: the client finds it for newer ones alone. */
const CODE = /^Code: (\d+)/

/** What 18.16 says around its own words. */
const AROUND = /^Code: \d+, e\.displayText\(\) = (.*), e\.what\(\).*$/

/** What the client says of a query that took too long. */
const TIMEOUT = 'Timeout error.'

/** Whether the connection failed, so that nobody knows whether the query still runs. */
export function isWithoutAnswer(error: unknown): boolean {
  return codeOf(error) === undefined
}

/** Whether the same query may succeed later. Timeouts are not retried: they would happen again. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined ? !isTimeout(error) : ERRORS[code]?.isPassing === true
}

const LONGEST_REASON = 500

/** What ClickHouse says, with advice. */
export function explain(error: unknown, where: string): Error {
  const reason = reasonOf(error).replace(AROUND, '$1')
  const { isUsage, text } = isTimeout(error) ? SLOW : (ERRORS[codeOf(error) ?? '']?.advice ?? OTHER)
  const ErrorOfAdvice = isUsage ? CliError : BuildError
  return new ErrorOfAdvice(`ClickHouse at ${where}: ${reason.slice(0, LONGEST_REASON)}; ${text}`)
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^\d+$/.test(code) ? code : CODE.exec(reasonOf(error))?.[1]
}

function isTimeout(error: unknown): boolean {
  return reasonOf(error) === TIMEOUT
}
