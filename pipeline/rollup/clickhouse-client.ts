import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client'
import type { ClickHouseLogin } from '../base/config.ts'
import { CliError, reasonOf } from '../base/errors.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import { explain, isPassing, isWithoutAnswer } from './clickhouse-errors.ts'
import { renderStatement } from './clickhouse-statement.ts'

const PAUSES = [500, 1000, 2000, 4000]
const PROGRESS_INTERVAL_MS = 1000
const KILL_TIMEOUT_MS = 5000

/**
 * For every query: fail if a shard does not respond (the default skips it silently), send errors instead of a partial
 * response, and forbid distributed tables in per-node queries.
 */
const SETTINGS: ClickHouseSettings = {
  skip_unavailable_shards: 0,
  wait_end_of_query: 1,
  distributed_product_mode: 'deny',
}

/** Turned off where known: they query other nodes, cut the result or serve a cached one. */
const OFF = ['prefer_global_in_and_join', 'distributed_group_by_no_merge', 'limit', 'offset', 'use_query_cache']

/** Limits of the user's profile. Modes such as `break` and `any` would return partial sums. */
const OVERFLOW_MODE = /_overflow_mode(_leaf)?$/

function settingsAmong(names: readonly string[]): ClickHouseSettings {
  const modes = names.filter((name) => OVERFLOW_MODE.test(name)).map((name) => [name, 'throw'])
  const off = names.filter((name) => OFF.includes(name)).map((name) => [name, 0])
  return { ...SETTINGS, ...Object.fromEntries([...modes, ...off]) }
}

export type Row = Record<string, string | string[]>

export interface ClickHouseOptions {
  choice: ClickHouseChoice
  login: ClickHouseLogin
  signal: AbortSignal
  /** Pauses before each retry after a temporary error, in milliseconds. */
  pauses?: readonly number[]
}

/** A ClickHouse connection for read-only queries, so that a failed query can be retried. */
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

  /** Throws `CliError` for an unreadable secret, `BuildError` if the server does not respond. */
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
      // The client would take a path in the URL for a database name.
      url: origin,
      pathname,
      database,
      username: login.user ?? 'default',
      password: password ?? '',
      application: 'tokenboard',
      request_timeout: timeout_seconds * 1000,
      // By default the client logs failed queries with their text and settings.
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

  async rows<Answer extends Row>(statement: string, onProgress: (share: number) => void = () => {}): Promise<Answer[]> {
    for (let attempt = 0; ; attempt += 1) {
      this.#signal.throwIfAborted()
      const query_id = randomUUID()
      try {
        return await this.#ask<Answer>(statement, query_id, onProgress)
      } catch (error) {
        if (isWithoutAnswer(error)) await this.#kill(query_id)
        this.#signal.throwIfAborted()
        const pause = this.#pauses[attempt]
        if (pause === undefined || !isPassing(error)) throw explain(error, this.#where)
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
      // Progress is best effort: the query itself reports real errors.
    }
  }

  /** Stops an abandoned query, which would otherwise keep running on every shard. */
  async #kill(query_id: string): Promise<void> {
    try {
      const query = renderStatement('clickhouse/kill', { query_id })
      await this.#client.command({ query, abort_signal: AbortSignal.timeout(KILL_TIMEOUT_MS) })
    } catch {
      // The server may be down or refuse the kill. The caller reports the original error.
    }
  }
}

/** An editor's final line break. Other white space may belong to the password. */
const LINE_ENDING = /\r?\n$/

async function readSecret(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}`)
  }
}
