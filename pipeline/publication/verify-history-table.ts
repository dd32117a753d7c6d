import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { GENERATOR } from '../base/version.ts'
import type { Manifest, ReleaseEntry, ReleaseIndex } from '../contract/manifest.ts'
import { releasePath } from '../contract/manifest.ts'
import { HISTORY_PATHS } from '../contract/published-paths.ts'
import { HistoryTable, readHistoryReleases } from '../release/history-table.ts'
import { standingEntries } from '../release/index.ts'
import { missing } from './compare.ts'
import { proveInHistory } from './retention.ts'

/** Follows the releases, oldest first, and compares the published history with what follows from them. */
export class HistoryTableCheck {
  readonly #root: string
  readonly #database: Database
  readonly #table: HistoryTable

  private constructor(root: string, database: Database, table: HistoryTable) {
    this.#root = root
    this.#database = database
    this.#table = table
  }

  /**
   * Undefined if there is no history because no build of this version has run. Throws `BuildError` if a release needs it or
   * its list of releases is not that of the index.
   */
  static async open(
    root: string,
    { index, current }: { index: ReleaseIndex; current: Manifest },
    database: Database,
  ): Promise<HistoryTableCheck | undefined> {
    const path = join(root, HISTORY_PATHS.parquet)
    const standing = standingEntries(index)
    const found = await readHistoryReleases(database, path)
    if (found === undefined) {
      const isNeeded = current.generator.version === GENERATOR.version || standing.some(({ dropped }) => dropped)
      if (isNeeded) throw missing(path)
      return undefined
    }
    const isSame = found.releases.join() === standing.map(({ release }) => release).join()
    if (!isSame || found.entry !== standing.at(-1)?.hash) {
      throw new BuildError(`${path} is not the history of the releases that the index lists; make build restores it`)
    }
    return new HistoryTableCheck(root, database, await HistoryTable.empty(database))
  }

  /** Throws `BuildError` if the release was dropped and the history does not have its rows. */
  async follow(entry: ReleaseEntry, manifest: Manifest): Promise<void> {
    const path = join(this.#root, HISTORY_PATHS.parquet)
    const folder = join(this.#root, releasePath(entry.release))
    if (!entry.dropped) return this.#table.add(folder, manifest)
    await proveInHistory(this.#database, path, entry)
    await this.#table.addDropped(path, entry.release)
  }

  /** Throws `BuildError` if one of the files has other rows than the releases. */
  async finish(): Promise<void> {
    const csv = join(this.#root, HISTORY_PATHS.csv)
    if (!(await isThere(csv))) throw missing(csv)
    await this.#table.verify({ parquet: join(this.#root, HISTORY_PATHS.parquet), csv })
  }
}
