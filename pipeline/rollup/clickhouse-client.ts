import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import type { ClickHouseLogin } from '../base/config.ts'
import { BuildError, reasonOf, UsageError } from '../base/errors.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import { renderStatement } from './clickhouse-statement.ts'

const PAUSES = [500, 1000, 2000, 4000]
const PROGRESS_INTERVAL_MS = 1000
const KILL_TIMEOUT_MS = 5000

/**
 * Sent with every query. Without the first a shard that does not answer is left out without a word; without the second
 * an error comes in the middle of an answer; the third refuses a table of all nodes inside of a question to each node.
 */
const SETTINGS: ClickHouseSettings = {
  skip_unavailable_shards: 0,
  wait_end_of_query: 1,
  distributed_product_mode: 'deny',
}

/** Sent where the server knows them: they would have another node answer, cut the answer, or give a former one. */
const OFF = ['prefer_global_in_and_join', 'distributed_group_by_no_merge', 'limit', 'offset', 'use_query_cache']

/** What is done at a limit of the user's profile: some of the sums, where this is `break` or `any`. */
const OVERFLOW_MODE = /_overflow_mode(_leaf)?$/

function settingsAmong(names: readonly string[]): ClickHouseSettings {
  const modes = names.filter((name) => OVERFLOW_MODE.test(name)).map((name) => [name, 'throw'])
  const off = names.filter((name) => OFF.includes(name)).map((name) => [name, 0])
  return { ...SETTINGS, ...Object.fromEntries([...modes, ...off]) }
}

/** Codes of ClickHouse for what passes: a node that is away or busy. Anything else would fail again. */
const PASSING = new Set(['3', '32', '202', '209', '210', '236', '279', '425', '999'])

/** A row of an answer: every value is text, or a list of texts. */
export type Row = Record<string, string | string[]>

export interface ClickHouseOptions {
  choice: ClickHouseChoice
  login: ClickHouseLogin
  signal: AbortSignal
  /** How long after each failure that passes a question is asked again, in milliseconds; after the last one never. */
  pauses?: readonly number[]
}

/** A ClickHouse that is asked. Questions change nothing there, so that one that failed can be asked again. */
export class ClickHouse {
  readonly #client: ClickHouseClient
  readonly #where: string
  readonly #signal: AbortSignal
  readonly #pauses: readonly number[]
  #settings = SETTINGS

  private constructor(client: ClickHouseClient, { choice, signal, pauses = PAUSES }: ClickHouseOptions) {
    this.#client = client
    this.#where = new URL(choice.url).host
    this.#signal = signal
    this.#pauses = pauses
  }

  /** Throws `UsageError` for a file of a password or certificate that cannot be read, `BuildError` where nobody answers. */
  static async open(options: ClickHouseOptions): Promise<ClickHouse> {
    const { choice, login } = options
    const { url, database, ca, cert, key, timeout_seconds } = choice
    const { origin, pathname } = new URL(url)
    const password =
      login.passwordFile === undefined
        ? login.password
        : `${await readSecret(login.passwordFile)}`.replace(LINE_ENDING, '')
    const [ca_cert, ownCert, ownKey] = await Promise.all([ca, cert, key].map((path) => path && readSecret(path)))
    const own = ownCert && ownKey ? { cert: ownCert, key: ownKey } : {}
    const client = createClient({
      // A path in the url would be taken for the name of a database.
      url: origin,
      pathname,
      database,
      username: login.user ?? 'default',
      password: password ?? '',
      application: 'tokenboard',
      request_timeout: timeout_seconds * 1000,
      // A query that failed is logged with its text and settings otherwise.
      log: { level: ClickHouseLogLevel.OFF },
      ...(ca_cert && { tls: { ca_cert, ...own } }),
    })
    const clickhouse = new ClickHouse(client, options)
    try {
      const known = await clickhouse.rows<{ name: string }>(renderStatement('clickhouse/settings', {}))
      clickhouse.#settings = settingsAmong(known.map(({ name }) => name))
      return clickhouse
    } catch (error) {
      await clickhouse.close()
      throw error
    }
  }

  /** The whole answer to a question, asked again while it fails for something that passes. */
  async rows<Answer extends Row>(statement: string, onProgress: (share: number) => void = () => {}): Promise<Answer[]> {
    for (let attempt = 0; ; attempt += 1) {
      this.#signal.throwIfAborted()
      const query_id = randomUUID()
      try {
        return await this.#ask<Answer>(statement, query_id, onProgress)
      } catch (error) {
        if (codeOf(error) === undefined) await this.#kill(query_id)
        this.#signal.throwIfAborted()
        const pause = this.#pauses[attempt]
        if (pause === undefined || !isPassing(error)) throw inPlainWords(error, this.#where)
        await delay(pause, undefined, { signal: this.#signal })
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #ask<Answer>(query: string, query_id: string, onProgress: (share: number) => void): Promise<Answer[]> {
    let isReporting = false
    const reportOnce = async () => {
      if (isReporting) return
      isReporting = true
      await this.#reportProgress(query_id, onProgress)
      isReporting = false
    }
    const timer = setInterval(() => void reportOnce(), PROGRESS_INTERVAL_MS)
    try {
      const settings = { query_id, abort_signal: this.#signal, clickhouse_settings: this.#settings }
      const answer = await this.#client.query({ query, format: 'JSONEachRow', ...settings })
      return await answer.json<Answer>()
    } finally {
      clearInterval(timer)
    }
  }

  async #reportProgress(query_id: string, onProgress: (share: number) => void): Promise<void> {
    try {
      const query = renderStatement('clickhouse/progress', { query_id })
      const answer = await this.#client.query({ query, format: 'JSONEachRow', abort_signal: this.#signal })
      const [row] = await answer.json<{ read_rows: string; total_rows: string }>()
      if (row !== undefined && Number(row.total_rows) > 0)
        onProgress(Math.min(1, Number(row.read_rows) / Number(row.total_rows)))
    } catch {
      // How far a query is is no reason to end it: whatever is wrong the query itself will say.
    }
  }

  /** A query whose answer nobody waits for runs on, on every shard, until it is told to stop. */
  async #kill(query_id: string): Promise<void> {
    try {
      const query = renderStatement('clickhouse/kill', { query_id })
      await this.#client.command({ query, abort_signal: AbortSignal.timeout(KILL_TIMEOUT_MS) })
    } catch {
      // The server may be gone, or not let this user do so: the reason to stop is told, and this is none.
    }
  }
}

/** An editor puts one behind the only line of a file; what stands before it may be a blank of the password. */
const LINE_ENDING = /\r?\n$/

async function readSecret(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

/** The code that ClickHouse gives an error; its client knows the form of newer servers alone. None where the connection failed. */
function codeOf(error: unknown): string | undefined {
  return error instanceof ClickHouseError ? error.code : /^Code: (\d+)/.exec(reasonOf(error))?.[1]
}

function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined ? !isTimeout(error) : PASSING.has(code)
}

/** The answer took longer than it may: asked again, it would so again. */
function isTimeout(error: unknown): boolean {
  return reasonOf(error) === 'Timeout error.'
}

const LONGEST_REASON = 500

/** What ClickHouse says, with what to do about it. */
function inPlainWords(error: unknown, where: string): Error {
  const reason = reasonOf(error).replace(/^Code: \d+, e\.displayText\(\) = (.*), e\.what\(\).*$/, '$1')
  const { isUsage, text } = isTimeout(error) ? SLOW : (ADVICE[codeOf(error) ?? ''] ?? OTHER)
  const ErrorOfAdvice = isUsage ? UsageError : BuildError
  return new ErrorOfAdvice(`ClickHouse at ${where}: ${reason.slice(0, LONGEST_REASON)}; ${text}`)
}

const OTHER = { isUsage: false, text: 'nothing was published' }
const SLOW = { isUsage: false, text: 'give engine.clickhouse.timeout_seconds more; nothing was published' }
const LOGIN = { isUsage: true, text: 'set CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, or CLICKHOUSE_PASSWORD_FILE' }
const AWAY = {
  isUsage: false,
  text: 'a shard does not answer, and without it the sums would be too small: nothing was published',
}
const FORBIDDEN = {
  isUsage: true,
  text: 'the user must be allowed to read the view and to change settings (readonly = 2)',
}

const ADVICE: Record<string, { isUsage: boolean; text: string }> = {
  '192': LOGIN,
  '193': LOGIN,
  '194': LOGIN,
  '516': LOGIN,
  '164': FORBIDDEN,
  '497': FORBIDDEN,
  '452': FORBIDDEN,
  '81': { isUsage: true, text: 'name the database of the view as "database"' },
  '170': { isUsage: true, text: 'name a cluster of its configuration as "cluster", or none where one server has all' },
  '701': { isUsage: true, text: 'name a cluster of its configuration as "cluster", or none where one server has all' },
  '60': { isUsage: true, text: 'the view must be there on every node; docs/scaling.md has its form' },
  '279': AWAY,
  '209': AWAY,
  '210': AWAY,
}
