import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { contentHash } from '../base/text.ts'
import { CHANGES_FILES, type ChangeRow, changeLog, type TableChanges } from '../contract/change-log.ts'
import type { Coverage, Restatements } from '../contract/ledger.ts'
import {
  type DataVersion,
  isErased,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
} from '../contract/manifest.ts'
import type { Table, TableRow } from '../contract/tables.ts'
import { applyChanges, inverse, readChanges, rowsIn } from '../dataset/change-log.ts'
import { schemaOf } from '../dataset/changes.ts'
import { advance, periodsOf, type Revision } from '../dataset/coverage.ts'
import { isSchemaChange, nextVersion } from '../dataset/data-version.ts'
import { firstDates } from '../dataset/first-dates.ts'
import { restatementOf } from '../dataset/restatements.ts'
import { hashIn } from '../release/index.ts'
import type { LoadedRelease } from '../release/verify.ts'
import { type ExpectedRestatement, verifyLedger } from './verify-ledger.ts'
import { type Made, verifyPeriods } from './verify-periods.ts'

/** Replays the releases, oldest first, to know what must be published beside them. */
export class ChainCheck {
  readonly #dataset: string
  readonly #index: ReleaseIndex
  readonly #database: Database
  readonly #published: Coverage | undefined
  readonly #hasGaps: boolean
  #previous: LoadedRelease | undefined
  #coverage: Coverage | undefined
  readonly #restatements: ExpectedRestatement[] = []
  readonly #holdings = new Set<string>()
  readonly #made: Made[] = []

  /** `coverage` is the published one: it counts revisions of withdrawn releases, too. */
  constructor(
    dataset: string,
    { index, coverage }: { index: ReleaseIndex; coverage: Coverage | undefined },
    database: Database,
  ) {
    this.#published = coverage
    this.#dataset = dataset
    this.#index = index
    this.#database = database
    this.#hasGaps = index.releases.some(({ status }) => status === 'withdrawn')
  }

  /** Throws `BuildError` if the release misstates what it changed. */
  async follow(entry: ReleaseEntry, release: LoadedRelease): Promise<void> {
    const { manifest } = release
    if (manifest.changes !== undefined) await this.#verifyChanges(entry, release)
    const { coverage, revisions } = advance(this.#coverage, release)
    const restatement = restatementOf(this.#coverage, coverage, manifest, firstDates(this.#published, manifest))
    const followsItsOwn = manifest.changes.previous === this.#previousName
    const lastDate = followsItsOwn ? (this.#coverage?.days.at(-1)?.date ?? '') : undefined
    this.#restatements.push({ manifest, restatement, lastDate })
    for (const { folder, name, content_hash } of periodsOf(coverage)) {
      this.#holdings.add(`${folder}/${name} ${content_hash}`)
    }
    this.#expect(manifest, revisions, followsItsOwn || !this.#hasGaps)
    this.#coverage = coverage
    this.#previous = release
  }

  get #previousName(): ReleaseName | null {
    return this.#previous?.manifest.release ?? null
  }

  #expect({ release, as_of }: Manifest, revisions: readonly Revision[], isKnownToMake: boolean): void {
    const isCounted = this.#index.releases.every((entry) => entry.release >= release || entry.status !== 'withdrawn')
    for (const { folder, name, revision, rows } of revisions) {
      this.#made.push({
        ...{ folder, name, release, hash: contentHash(rows) },
        // A withdrawn release may have made it earlier.
        asOf: isKnownToMake && !this.#isReplacement(release) ? as_of : undefined,
        revision: isCounted ? revision : undefined,
      })
    }
  }

  /** Whether a privacy withdrawal made the release, from rows that it did not publish again. */
  #isReplacement(release: ReleaseName): boolean {
    const { releases } = this.#index
    const before = releases[releases.findIndex((entry) => entry.release === release) - 1]
    return before !== undefined && isErased(before)
  }

  async #verifyChanges(entry: ReleaseEntry, release: LoadedRelease): Promise<void> {
    const { manifest } = release
    const changes = {
      daily: await this.#verifyTable('daily', entry, release),
      ...(manifest.tables && {
        weekly: await this.#verifyTable('weekly', entry, release),
        monthly: await this.#verifyTable('monthly', entry, release),
      }),
    }
    if (manifest.changes.previous === this.#previousName) this.#verifyFacts(manifest)
    this.#verifyVersion(entry.data_version, manifest, changes)
  }

  /** Verifies the changes of one table, and returns them. */
  async #verifyTable(table: Table, { path }: ReleaseEntry, loaded: LoadedRelease): Promise<ChangeRow[]> {
    const { manifest } = loaded
    const file = join(this.#dataset, path, CHANGES_FILES[table])
    const changes = await readChanges(this.#database, file, table)
    const listed = manifest.files.find((each) => each.path === CHANGES_FILES[table])
    if (listed?.rows !== undefined && listed.rows !== changes.length) {
      throw new BuildError(`${file} has ${counted(changes.length, 'row')}, but the manifest says ${listed.rows}`)
    }
    const own = { release: manifest.release, rows: rowsIn(loaded, table) }
    const named = manifest.changes.previous
    if (named === this.#previousName) {
      const previous = { release: named ?? 'nothing', rows: rowsIn(this.#previous, table) }
      verifyRows({ file, table }, previous, own, changes)
    } else {
      const withdrawn = this.#withdrawn(named, manifest)
      // The previous rows were removed; recover them from the changes and compare with the hash in the index.
      const previous = { release: withdrawn.release, rows: inOneStep(file, own.rows, inverse(changes)) }
      const known = hashIn(withdrawn, table)
      if (known !== undefined && contentHash(previous.rows, table) !== known)
        throw notLeading(file, previous.release, own.release)
      verifyRows({ file, table }, previous, own, changes)
    }
    return changes
  }

  #verifyVersion(listed: DataVersion, manifest: Manifest, changes: TableChanges): void {
    const { release, data_version } = manifest
    const { facts, previous } = manifest.changes
    const position = this.#index.releases.findIndex((entry) => entry.release === release)
    const earlier = this.#index.releases.slice(0, position)
    const current = earlier.find((entry) => entry.release === previous)
    const version = nextVersion({ ...this.#index, releases: earlier }, current, {
      facts,
      changes,
      isFirst: firstDates(this.#published, manifest),
    })
    if (data_version === version && listed === version) return
    throw new BuildError(
      `the data_version of ${release} is ${data_version} in its manifest and ` +
        `${listed} in the index, but by its changes it is ${version}`,
    )
  }

  /** A schema change raises the version, so a release may neither invent nor hide one. */
  #verifyFacts(manifest: Manifest): void {
    const { release, version, changes } = manifest
    if (this.#previous === undefined) return
    const previous = this.#previous.manifest
    const isOther = schemaOf(previous) !== schemaOf(manifest) || previous.version !== version
    if (isSchemaChange(changes.facts) === isOther) return
    throw new BuildError(`${release} says that its schema ${isOther ? 'is the same' : 'is another'}, but it is not`)
  }

  /** A release that does not follow the previous one must follow one withdrawn since. */
  #withdrawn(previous: ReleaseName | null, { release }: Manifest): ReleaseEntry {
    const entry = this.#index.releases.find((each) => each.release === previous)
    if (entry?.status === 'withdrawn' && entry.release < release) return entry
    throw new BuildError(
      `${release} says that it changes ${previous ?? 'nothing'}, but the release before it is ${this.#previousName ?? 'none'}`,
    )
  }

  async finish(found: {
    coverage: Coverage
    restatements: Restatements
  }): Promise<{ files: number; notVerified: string[] }> {
    if (this.#coverage === undefined || this.#previous === undefined) throw new Error('there is no release to follow')
    const { manifest } = this.#previous
    const expected = { manifest, coverage: this.#coverage, restatements: this.#restatements }
    verifyLedger(this.#dataset, this.#index, found, expected)
    const standing = { index: this.#index, holdings: this.#holdings, made: this.#made }
    return verifyPeriods(this.#dataset, found.coverage, standing, this.#database)
  }
}

interface Rows {
  release: ReleaseName
  rows: readonly TableRow[]
}

function verifyRows(
  { file, table }: { file: string; table: Table },
  previous: Rows,
  { release, rows }: Rows,
  changes: readonly ChangeRow[],
): void {
  if (contentHash(inOneStep(file, previous.rows, changes), table) !== contentHash(rows, table)) {
    throw notLeading(file, previous.release, release)
  }
  if (changes.length === changeLog(previous.rows, rows).length) return
  throw new BuildError(`${file} lists rows that did not change between ${previous.release} and ${release}`)
}

function notLeading(file: string, previous: string, release: ReleaseName): BuildError {
  return new BuildError(`${file} does not lead from ${previous} to the rows of ${release}`)
}

function inOneStep(file: string, previous: readonly TableRow[], changes: readonly ChangeRow[]): TableRow[] {
  try {
    return applyChanges(previous, changes)
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    throw new BuildError(`${file}: ${error.message}`)
  }
}
