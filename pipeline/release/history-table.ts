import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { type Files, isThere, readIfAny } from '../base/files.ts'
import { gzip } from '../base/gzip.ts'
import { parse } from '../base/json.ts'
import { type Manifest, ReleaseName } from '../contract/manifest.ts'
import type { HISTORY_FILES } from '../contract/published-paths.ts'
import { DATASET_VERSION } from '../contract/ranking.ts'
import { dataFile } from '../contract/release-files.ts'
import { tablesIn } from '../contract/tables.ts'
import { parquetKeys } from './documents/parquet-keys.ts'

/** The releases of a history. */
export interface HistoryReleases {
  /** Those that were not withdrawn, oldest first. */
  releases: readonly ReleaseName[]
  /** The `hash` of the newest of them in the index: it tells chains apart. */
  entry: string
}

const Footer = z.object({
  table: z.literal('history'),
  schema_version: z.literal(DATASET_VERSION),
  releases: z.string().transform((names) => names.split(' ').map((name) => ReleaseName.parse(name))),
  entry: z.string(),
})

/** The file is written anew with each release: best compression takes five times as long for 4 % fewer bytes. */
const GZIP_LEVEL = 6

/** The releases of a `history.parquet`; undefined if there is no such file. Throws `BuildError`. */
export async function readHistoryReleases(database: Database, path: string): Promise<HistoryReleases | undefined> {
  if (!(await isThere(path))) return undefined
  const readKeys = () => database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
  const keys = Object.fromEntries((await naming(path, 'Parquet', readKeys)).map(({ key, value }) => [key, value]))
  return parse(Footer, keys, `the footer of ${path}`, BuildError)
}

/** The footer of a `history.parquet`. `current` is the manifest of the newest release. */
export function historyKeys({ releases, entry }: HistoryReleases, current: Manifest): Record<string, string> {
  const { release: _release, as_of: _as_of, content_hash: _rows, ...keys } = parquetKeys(current)
  return { ...keys, table: 'history', releases: releases.join(' '), entry }
}

/** The history in the table `history_rows` of a database. Its rows follow from the releases, however it came about. */
export class HistoryTable {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  static async empty(database: Database): Promise<HistoryTable> {
    await database.run('history-table/create_empty')
    return new HistoryTable(database)
  }

  /** Throws `BuildError` for a damaged file. */
  static async read(database: Database, path: string): Promise<HistoryTable> {
    await naming(path, 'Parquet', () => database.run('history-table/read', { path }))
    return new HistoryTable(database)
  }

  /** Adds a release that is newer than all others, from its Parquet files. */
  async add(folder: string, manifest: Manifest): Promise<void> {
    const { release } = manifest
    await this.#database.run('history-table/create_release')
    for (const table of tablesIn(manifest)) {
      const path = join(folder, dataFile(table, 'parquet'))
      await naming(path, 'Parquet', () => this.#database.run('history-table/add_table', { path, table }))
    }
    await this.#database.run('history-table/add_release', { release })
  }

  /** Takes out all releases but these, oldest first. Needs none of their files. */
  async keep(releases: readonly ReleaseName[]): Promise<void> {
    await this.#database.run('history-table/keep_releases', { kept: releases })
  }

  /**
   * Writes both files and reads them back. `current` is the manifest of the newest release; `published` is a CSV of before,
   * which only saves time. Throws `BuildError`.
   */
  async write(
    places: Record<keyof typeof HISTORY_FILES, string>,
    releases: HistoryReleases,
    current: Manifest,
    { files, published }: { files: Files; published: string },
  ): Promise<void> {
    const { parquet, csv } = places
    await this.writeParquet(parquet, releases, current, files)
    await this.#database.run('history-table/write_csv', { path: csv })
    const known = await readIfAny(published)
    await files.write(csv, await gzip(await readFile(csv), { level: GZIP_LEVEL, known }))
    await this.#verifyWritten(places)
  }

  async #verifyWritten({ parquet, csv }: Record<keyof typeof HISTORY_FILES, string>): Promise<void> {
    const found = await this.#database.rows<{ rows: bigint; hashes: string }>('history-table/read_back', {
      parquet,
      csv,
    })
    if (found.length === 3 && new Set(found.map(({ rows, hashes }) => `${rows} ${hashes}`)).size === 1) return
    throw new BuildError(`${parquet} and ${csv} were not written as they should be; run the command again`)
  }
  async writeParquet(path: string, releases: HistoryReleases, current: Manifest, files: Files): Promise<void> {
    const metadata = historyKeys(releases, current)
    await this.#database.run('history-table/write_parquet', { path, metadata })
    await files.flush(path)
  }
}
