import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { contentHash } from '../base/text.ts'
import type { ChangeRow, Coverage, Restatements } from '../contract/history.ts'
import type { DataVersion, Manifest, ReleaseEntry, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { applyChanges, CHANGES_FILE, changeLog, inverse, readChanges } from '../dataset/change-log.ts'
import { advance, fromDatasetStart, fromFirstDate, type Revision } from '../dataset/coverage.ts'
import { isSchemaChange, nextVersion } from '../dataset/data-version.ts'
import { restatementOf } from '../dataset/restatements.ts'
import { type Told, verifyLedger } from './verify-ledger.ts'
import { type Made, verifyPeriods } from './verify-periods.ts'

/** Replays the releases, oldest first, to know what must be published beside them. */
export class HistoryCheck {
  readonly #dataset: string
  readonly #index: ReleaseIndex
  readonly #hasGaps: boolean
  #before: { release: ReleaseName; rows: readonly RankingRow[]; manifest: Manifest } | undefined
  #coverage: Coverage | undefined
  readonly #told: Told['restatements'] = []
  readonly #holdings = new Set<string>()
  readonly #made: Made[] = []

  constructor(dataset: string, index: ReleaseIndex) {
    this.#dataset = dataset
    this.#index = index
    this.#hasGaps = index.releases.some(({ status }) => status === 'withdrawn')
  }

  /** Throws `BuildError` if the release misstates what it changed. */
  async follow(
    entry: ReleaseEntry,
    manifest: Manifest,
    rows: readonly RankingRow[],
    database: Database,
  ): Promise<void> {
    if (manifest.changes !== undefined) await this.#proveChanges(entry, manifest, rows, database)
    const { coverage, revisions } = advance(this.#coverage, { manifest, rows })
    const restatement = restatementOf(this.#coverage, coverage, manifest)
    const followsItsOwn = (manifest.changes?.previous ?? null) === (this.#before?.release ?? null)
    const lastDate = followsItsOwn ? (this.#coverage?.days.at(-1)?.date ?? '') : undefined
    this.#told.push({ manifest, restatement, lastDate })
    for (const { date, content_hash } of coverage.days) this.#holdings.add(`daily/${date} ${content_hash}`)
    for (const { month, content_hash } of coverage.months) this.#holdings.add(`monthly/${month} ${content_hash}`)
    this.#expect(manifest, revisions, followsItsOwn || !this.#hasGaps)
    this.#coverage = coverage
    this.#before = { release: manifest.release, rows, manifest }
  }

  #expect({ release, as_of }: Manifest, revisions: readonly Revision[], isKnownToMake: boolean): void {
    const isCounted = this.#index.releases.every((entry) => entry.release >= release || entry.status !== 'withdrawn')
    for (const { folder, name, revision, rows } of revisions) {
      this.#made.push({
        ...{ folder, name, release, hash: contentHash(rows) },
        // A withdrawn release may have made it earlier.
        asOf: isKnownToMake ? as_of : undefined,
        revision: isCounted ? revision : undefined,
      })
    }
  }

  async #proveChanges(
    { path, data_version }: ReleaseEntry,
    manifest: Manifest,
    rows: readonly RankingRow[],
    database: Database,
  ): Promise<void> {
    const file = join(this.#dataset, path, CHANGES_FILE)
    const changes = await readChanges(database, file)
    const listed = manifest.files.find((each) => each.path === CHANGES_FILE)
    if (listed?.rows !== undefined && listed.rows !== changes.length) {
      throw new BuildError(`${file} has ${changes.length} rows, but the manifest says ${listed.rows}`)
    }
    const previous = manifest.changes?.previous ?? null
    if (previous === (this.#before?.release ?? null)) {
      proveRows(file, this.#before, { release: manifest.release, rows }, changes)
      this.#proveFacts(manifest)
    } else {
      const { release, content_hash } = this.#withdrawn(previous, manifest)
      // The previous rows were removed; recover them from the changes and compare with the hash in the index.
      const before = { release, rows: inOneStep(file, rows, inverse(changes)) }
      if (contentHash(before.rows) !== content_hash) throw notLeading(file, release, manifest.release)
      proveRows(file, before, { release: manifest.release, rows }, changes)
    }
    this.#proveVersion(data_version, manifest, changes)
  }

  #proveVersion(listed: DataVersion | undefined, manifest: Manifest, changes: readonly ChangeRow[]): void {
    const { release, data_version, version_rule } = manifest
    const { facts = [], previous = null } = manifest.changes ?? {}
    const position = this.#index.releases.findIndex((entry) => entry.release === release)
    const earlier = this.#index.releases.slice(0, position)
    if (version_rule === undefined && earlier.some((entry) => entry.version_rule !== undefined)) {
      throw new BuildError(`${release} has no version_rule, but a release before it has one`)
    }
    const current = earlier.find((entry) => entry.release === previous)
    const version = nextVersion({ ...this.#index, releases: earlier }, current, { version_rule, facts, changes })
    if (data_version === version && listed === version) return
    throw new BuildError(
      `the data_version of ${release} is ${data_version ?? 'missing'} in its manifest and ` +
        `${listed ?? 'missing'} in the index, but by its changes it is ${version}`,
    )
  }

  /** A schema change raises the version, so a release may neither invent nor hide one. */
  #proveFacts({ release, schema, version, changes }: Manifest): void {
    if (this.#before === undefined || changes === undefined) return
    const before = this.#before.manifest
    const isOther = JSON.stringify(before.schema) !== JSON.stringify(schema) || before.version !== version
    if (isSchemaChange(changes.facts) === isOther) return
    throw new BuildError(`${release} says that its schema ${isOther ? 'is the same' : 'is another'}, but it is not`)
  }

  /** A release that does not follow the previous one must follow one withdrawn since. */
  #withdrawn(previous: ReleaseName | null, { release }: Manifest): ReleaseEntry {
    const entry = this.#index.releases.find((each) => each.release === previous)
    if (entry?.status === 'withdrawn' && entry.release < release) return entry
    throw new BuildError(
      `${release} says that it changes ${previous ?? 'nothing'}, but the release before it is ${this.#before?.release ?? 'none'}`,
    )
  }

  async finish(
    found: { coverage: Coverage; restatements: Restatements },
    database: Database,
  ): Promise<{ files: number; notVerified: string[] }> {
    if (this.#coverage === undefined) throw new Error('there is no release to follow')
    const coverage = this.#asFollowed(found.coverage)
    const told = { coverage: this.#coverage, restatements: this.#told }
    verifyLedger(this.#dataset, this.#index, { ...found, coverage }, told)
    const standing = { index: this.#index, holdings: this.#holdings, made: this.#made }
    return verifyPeriods(this.#dataset, coverage, standing, database)
  }

  /** Version 0.1.0 began coverage at 2025-01-01; later builds begin at the first date. */
  #asFollowed(published: Coverage): Coverage {
    if (this.#before?.manifest.version_rule !== undefined) return published
    const followed = fromFirstDate(published)
    return JSON.stringify(fromDatasetStart(followed)) === JSON.stringify(published) ? followed : published
  }
}

interface Rows {
  release: ReleaseName
  rows: readonly RankingRow[]
}

function proveRows(file: string, before: Rows | undefined, after: Rows, changes: readonly ChangeRow[]): void {
  const { release = 'nothing', rows = [] } = before ?? {}
  if (contentHash(inOneStep(file, rows, changes)) !== contentHash(after.rows)) {
    throw notLeading(file, release, after.release)
  }
  if (changes.length === changeLog(rows, after.rows).length) return
  throw new BuildError(`${file} lists rows that did not change between ${release} and ${after.release}`)
}

function notLeading(file: string, previous: string, release: ReleaseName): BuildError {
  return new BuildError(`${file} does not lead from ${previous} to the rows of ${release}`)
}

function inOneStep(file: string, before: readonly RankingRow[], changes: readonly ChangeRow[]): RankingRow[] {
  try {
    return applyChanges(before, changes)
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    throw new BuildError(`${file}: ${error.message}`)
  }
}
