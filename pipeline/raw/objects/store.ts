import { Database, type DatabaseOptions } from '../../base/database.ts'
import { isDuckDbError, meaningOf } from '../../base/duckdb-errors.ts'
import { BuildError, CliError, isInterrupt, reasonOf } from '../../base/errors.ts'
import { listingPatterns, type StoredObject } from './object.ts'

export type StoreOptions = Omit<DatabaseOptions, 'path'>

export class NotInstalledError extends CliError {}

/**
 * A service with buckets, queried through DuckDB's httpfs, which reads credentials, region and endpoint from the
 * environment (docs/operations.md). Call one method at a time.
 */
export class ObjectStore {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /** Throws `NotInstalledError` if httpfs is missing, `BuildError` if it cannot be loaded. */
  static async open(options: StoreOptions): Promise<ObjectStore> {
    const database = await Database.open({ ...options, path: ':memory:' })
    try {
      await load(database)
      const endpoints = await database.rows('objects/endpoint')
      if (endpoints.length > 0) await database.run('objects/address_by_path')
    } catch (error) {
      database.close()
      throw error
    }
    return new ObjectStore(database)
  }

  /** The objects that an entry of `files` names, and perhaps more. */
  async list(entry: string): Promise<StoredObject[]> {
    type Row = { url: string; bytes: bigint; modified_ms: bigint }
    const patterns = listingPatterns(entry)
    await this.#database.run('objects/set_literal', { is_literal: false })
    const rows = await this.#ask(entry, 'listed', async () => {
      try {
        return await this.#database.rows<Row>('objects/list', { patterns })
      } catch (error) {
        if (isDuckDbError(error, 'badKey')) await this.#checkQuestionMarks(patterns)
        throw error
      }
    })
    return rows.map(({ url, bytes, modified_ms }) => ({ url, bytes: Number(bytes), modifiedMs: Number(modified_ms) }))
  }

  /** Downloads an object to `path`. It is in memory twice meanwhile. */
  async fetch(url: string, path: string): Promise<void> {
    await this.#database.run('objects/set_literal', { is_literal: true })
    await this.#ask(url, 'fetched', () => this.#database.run('objects/fetch', { url, path }))
  }

  /** DuckDB lists nothing if any key has a question mark, and does not name the key. */
  async #checkQuestionMarks(patterns: readonly string[]): Promise<void> {
    for (const pattern of patterns) {
      const names = await this.#database.rows<{ url: string }>('objects/names', { pattern })
      const name = names.find(({ url }) => url.includes('?'))
      if (name === undefined) continue
      throw new BuildError(`${name.url} ${meaningOf('badKey')}; rename it`)
    }
  }

  close(): void {
    this.#database.close()
  }

  async #ask<Answer>(what: string, done: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask()
    } catch (error) {
      if (isInterrupt(error)) throw error
      throw new BuildError(`${what} cannot be ${done}: ${reasonOfService(error)}`, { cause: error })
    }
  }
}

async function load(database: Database): Promise<void> {
  try {
    await database.run('objects/load')
  } catch (error) {
    if (isDuckDbError(error, 'notInstalled')) throw new NotInstalledError(meaningOf('notInstalled'))
    throw new BuildError(`DuckDB's httpfs cannot be loaded; remove it and install it again: ${reasonOf(error)}`)
  }
}

function reasonOfService(error: unknown): string {
  const [reason = '', ...others] = (error instanceof Error ? error.message : String(error)).split('\n')
  const answer = others.find((line) => /^[A-Z][A-Za-z]+: ./.test(line))
  const advice = isDuckDbError(error, 'refused') ? meaningOf('refused') : undefined
  return [reason, answer, advice].filter((part) => part !== undefined).join('; ')
}
