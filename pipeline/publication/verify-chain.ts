import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { readIfAny } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import { contentHash } from '../base/text.ts'
import { CHANGES_FILES, type TableChanges } from '../contract/change-log.ts'
import type { Coverage, Restatements } from '../contract/ledger.ts'
import {
  type DataVersion,
  isErased,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
} from '../contract/manifest.ts'
import { type Table, tablesIn } from '../contract/tables.ts'
import {
  applyChanges,
  inverse,
  readChanges,
  rowsIn,
  type TableRows,
  tableChanges,
  writeChanges,
} from '../dataset/change-log.ts'
import { schemaOf } from '../dataset/changes.ts'
import { advance, periodsOf, placeOf } from '../dataset/coverage.ts'
import { isSchemaChange, nextVersion } from '../dataset/data-version.ts'
import { firstDates } from '../dataset/first-dates.ts'
import { restatementOf } from '../dataset/restatements.ts'
import { coverageChange, madeBy } from '../ledger/fact.ts'
import { hashIn } from '../release/index.ts'
import type { LoadedRelease } from '../release/verify.ts'
import { type ExpectedRestatement, verifyLists } from './verify-lists.ts'
import { type ExpectedRevision, verifyPeriods } from './verify-periods.ts'

/** Replays the releases, oldest first, to know what must be published beside them. */
export class ChainCheck {
  readonly #dataset: string
  readonly #index: ReleaseIndex
  readonly #database: Database
  readonly #published: Coverage | undefined
  #previous: LoadedRelease | undefined
  #coverage: Coverage | undefined
  readonly #restatements: ExpectedRestatement[] = []
  readonly #holdings = new Set<string>()
  readonly #made: ExpectedRevision[] = []

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
  }

  /** Throws `BuildError` if the release misstates what it changed. */
  async follow(entry: ReleaseEntry, loaded: LoadedRelease): Promise<void> {
    const { manifest } = loaded
    const previous = this.#previous?.manifest.release ?? null
    const followsItsOwn = manifest.changes.previous === previous
    const before = followsItsOwn ? this.#previous : await this.#rowsBefore(loaded)
    const changes = await this.#verifyChanges(before, loaded)
    if (followsItsOwn) this.#verifyFacts(manifest)
    this.#verifyVersion(entry.data_version, manifest, changes)
    const coverage = advance(this.#coverage, loaded)
    const restatement = restatementOf(this.#coverage, coverage, manifest, firstDates(this.#published, manifest))
    const lastDate = followsItsOwn ? (this.#coverage?.days.at(-1)?.date ?? '') : undefined
    this.#restatements.push({ manifest, restatement, lastDate })
    for (const each of periodsOf(coverage)) this.#holdings.add(`${placeOf(each)} ${each.content_hash}`)
    this.#expect(manifest, coverage, followsItsOwn)
    this.#coverage = coverage
    this.#previous = loaded
  }

  /** The revisions that a release makes. After a withdrawal their numbers are not known, nor who made the rows first. */
  #expect({ release, as_of }: Manifest, coverage: Coverage, followsItsOwn: boolean): void {
    const { releases } = this.#index
    const position = releases.findIndex((entry) => entry.release === release)
    const isCounted = releases.slice(0, position).every(({ status }) => status !== 'withdrawn')
    const before = releases[position - 1]
    const isReplacement = before !== undefined && isErased(before)
    const asOf = (followsItsOwn || isCounted) && !isReplacement ? as_of : undefined
    const made = madeBy([{ kind: 'release', at: as_of, coverage: coverageChange(this.#coverage, coverage) }])
    for (const { folder, name, revision, hash } of made.filter((each) => each.release === release)) {
      this.#made.push({ folder, name, revision: isCounted ? revision : undefined, asOf, release, hash })
    }
  }

  /** The rows before a release that follows a withdrawn one: they were removed, and follow from its changes. */
  async #rowsBefore(release: LoadedRelease): Promise<TableRows> {
    const { release: name, changes, tables } = release.manifest
    const withdrawn = this.#withdrawn(changes.previous, name)
    const of = async (table: Table) => {
      const path = this.#changesPath(name, table)
      const read = await readChanges(this.#database, path, table)
      const rows = inOneStep(path, () => applyChanges(rowsIn(release, table), inverse(read)))
      const known = hashIn(withdrawn, table)
      if (known === undefined || contentHash(rows, table) === known) return rows
      throw notLeading(path, withdrawn.release, name)
    }
    const rows = await of('daily')
    const periods = tables && { weekly: await of('weekly'), monthly: await of('monthly') }
    return { rows, periods: periods as TableRows['periods'] }
  }

  /** Each file of changes must be the one that follows from both releases. */
  async #verifyChanges(before: TableRows | undefined, release: LoadedRelease): Promise<TableChanges> {
    const { manifest } = release
    const changes = tableChanges(before, release)
    for (const table of tablesIn(manifest)) {
      const path = this.#changesPath(manifest.release, table)
      const made = changes[table] ?? []
      const { rows } = manifest.files.find((file) => file.path === CHANGES_FILES[table]) ?? {}
      if ((await readIfAny(path))?.equals(writeChanges(made, table)) !== true) {
        throw notLeading(path, manifest.changes.previous ?? 'nothing', manifest.release)
      }
      if (rows === made.length) continue
      throw new BuildError(`${path} has ${counted(made.length, 'row')}, but the manifest says ${rows}`)
    }
    return changes
  }

  #changesPath(release: ReleaseName, table: Table): string {
    return join(this.#dataset, 'releases', release, CHANGES_FILES[table])
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
  #withdrawn(previous: ReleaseName | null, release: ReleaseName): ReleaseEntry {
    const entry = this.#index.releases.find((each) => each.release === previous)
    if (entry?.status === 'withdrawn' && entry.release < release) return entry
    const stands = this.#previous?.manifest.release ?? 'none'
    throw new BuildError(
      `${release} says that it changes ${previous ?? 'nothing'}, but the release before it is ${stands}`,
    )
  }

  async finish(found: {
    coverage: Coverage
    restatements: Restatements
  }): Promise<{ files: number; notVerified: string[] }> {
    if (this.#coverage === undefined || this.#previous === undefined) throw new Error('there is no release to follow')
    const { manifest } = this.#previous
    const expected = { manifest, coverage: this.#coverage, restatements: this.#restatements }
    verifyLists(this.#dataset, this.#index, found, expected)
    const standing = { index: this.#index, holdings: this.#holdings, made: this.#made }
    return verifyPeriods(this.#dataset, found.coverage, standing, this.#database)
  }
}

function notLeading(file: string, previous: string, release: ReleaseName): BuildError {
  return new BuildError(`${file} does not lead from ${previous} to the rows of ${release}`)
}

function inOneStep<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    throw new BuildError(`${file}: ${error.message}`)
  }
}
