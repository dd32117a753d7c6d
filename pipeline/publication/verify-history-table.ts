import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import type { Manifest, ReleaseEntry, ReleaseIndex } from '../contract/manifest.ts'
import { releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { type HistoryReleases, HistoryTable, readHistoryReleases } from '../release/history-table.ts'
import { standingEntries } from '../release/index.ts'
import { missing } from './compare.ts'
import { needsHistory } from './publication.ts'
import { proveInHistory } from './retention.ts'

/** Follows the releases, oldest first, and compares the published history with what follows from them. */
export class HistoryTableCheck {
  readonly #root: string
  readonly #index: ReleaseIndex
  /** The releases that the published history names. */
  readonly #found: HistoryReleases
  readonly #database: Database
  readonly #table: HistoryTable

  private constructor(
    root: string,
    { index, found }: { index: ReleaseIndex; found: HistoryReleases },
    database: Database,
    table: HistoryTable,
  ) {
    this.#root = root
    this.#index = index
    this.#found = found
    this.#database = database
    this.#table = table
  }

  /**
   * Undefined if there is no history because no build of this version has run. Throws `BuildError` if a release needs it.
   */
  static async open(
    root: string,
    { index, current }: { index: ReleaseIndex; current: Manifest },
    database: Database,
  ): Promise<HistoryTableCheck | undefined> {
    const path = join(root, HISTORY_PATHS.parquet)
    const found = await readHistoryReleases(database, path)
    if (found === undefined) {
      if (needsHistory(index, current)) throw missing(path)
      return undefined
    }
    return new HistoryTableCheck(root, { index, found }, database, await HistoryTable.empty(database))
  }

  /** Throws `BuildError` if the release was dropped and the history does not have its rows. */
  async follow(entry: ReleaseEntry, manifest: Manifest): Promise<void> {
    const path = join(this.#root, HISTORY_PATHS.parquet)
    const folder = join(this.#root, releasePath(entry.release))
    if (!entry.dropped) return this.#table.add(folder, manifest)
    await proveInHistory(this.#database, path, entry)
    await this.#table.addDropped(path, entry.release)
  }

  /** Throws `BuildError` if the files are of other releases than the index lists, or have other rows than these. */
  async finish(): Promise<void> {
    const parquet = join(this.#root, HISTORY_PATHS.parquet)
    const standing = standingEntries(this.#index)
    const { releases, entry } = this.#found
    if (releases.join() !== standing.map(({ release }) => release).join() || entry !== standing.at(-1)?.hash) {
      throw new BuildError(`${parquet} is not the history of the releases that the index lists; make build restores it`)
    }
    const csv = join(this.#root, HISTORY_PATHS.csv)
    if (!(await isThere(csv))) throw missing(csv)
    await this.#table.verify({ parquet, csv })
  }
}
