import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { isMissing } from '../base/files.ts'
import { contentHash } from '../base/text.ts'
import type { ChangeRow, Coverage, Restatements } from '../contract/history.ts'
import type {
  ContentHash,
  DataVersion,
  Manifest,
  ReleaseEntry,
  ReleaseIndex,
  ReleaseName,
} from '../contract/manifest.ts'
import { COVERAGE_FILE, PERIOD_FORMATS, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import type { RankingRow, Timestamp } from '../contract/ranking.ts'
import { applyChanges, CHANGES_FILE, changeLog, inverse, readChanges } from '../dataset/change-log.ts'
import { advance, fromDatasetStart, fromFirstDate, type Period, periodsOf, type Revision } from '../dataset/coverage.ts'
import { isSchemaChange, nextVersion } from '../dataset/data-version.ts'
import { restatementOf, withRestatement } from '../dataset/restatements.ts'
import { proveWithGaps, type Told } from './gaps.ts'
import { readRevision } from './revision-file.ts'
import { type Form, pointerPath, revisionPath } from './revisions.ts'
import { type Needed, proveSuperseded } from './superseded.ts'

/** A revision that has to be there, and what it has to hold. */
interface Expected extends Period {
  revision: number
  hash: ContentHash
  asOf: Timestamp
}

/**
 * Follows the releases once more while they are verified, oldest first, and so knows what has to be published beside
 * them: what each one changed, its version, every revision, coverage and restatements.
 */
export class HistoryCheck {
  readonly #dataset: string
  readonly #index: ReleaseIndex
  #before: { release: ReleaseName; rows: readonly RankingRow[]; manifest: Manifest } | undefined
  #coverage: Coverage | undefined
  #restatements: Restatements = { dataset: 'rankings-daily', restatements: [] }
  readonly #revisions: Expected[] = []
  readonly #told: Told['restatements'] = []
  readonly #holdings = new Set<string>()
  readonly #needed: Needed[] = []

  constructor(dataset: string, index: ReleaseIndex) {
    this.#dataset = dataset
    this.#index = index
  }

  /** Proves that a release says rightly what it changed, and takes its rows as the next ones. */
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
    this.#restatements = withRestatement(this.#restatements, restatement)
    this.#expect(manifest, revisions, followsItsOwn)
    this.#coverage = coverage
    this.#before = { release: manifest.release, rows, manifest }
  }

  #expect({ release, as_of }: Manifest, revisions: readonly Revision[], followsItsOwn: boolean): void {
    const isCounted = this.#index.releases.every((entry) => entry.release >= release || entry.status !== 'withdrawn')
    for (const { folder, name, revision, rows } of revisions) {
      const hash = contentHash(rows)
      this.#revisions.push({ folder, name, revision, hash, asOf: as_of })
      const asOf = followsItsOwn ? as_of : undefined
      this.#needed.push({ folder, name, release, hash, asOf, revision: isCounted ? revision : undefined })
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
      // Its rows are gone, but the changes lead back to them, and the index still has their hash.
      const before = { release, rows: inOneStep(file, rows, inverse(changes)) }
      if (contentHash(before.rows) !== content_hash) throw notLeading(file, release, manifest.release)
      proveRows(file, before, { release: manifest.release, rows }, changes)
    }
    this.#proveVersion(data_version, manifest, changes)
  }

  /** The index has what is needed of a previous release that was withdrawn too. */
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

  /** A change of the schema raises the version, so a release may neither invent nor hide one. */
  #proveFacts({ release, schema, version, changes }: Manifest): void {
    if (this.#before === undefined || changes === undefined) return
    const before = this.#before.manifest
    const isOther = JSON.stringify(before.schema) !== JSON.stringify(schema) || before.version !== version
    if (isSchemaChange(changes.facts) === isOther) return
    throw new BuildError(`${release} says that its schema ${isOther ? 'is the same' : 'is another'}, but it is not`)
  }

  /** A release that does not follow the one before it followed one that was withdrawn since. */
  #withdrawn(previous: ReleaseName | null, { release }: Manifest): ReleaseEntry {
    const entry = this.#index.releases.find((each) => each.release === previous)
    if (entry?.status === 'withdrawn' && entry.release < release) return entry
    throw new BuildError(
      `${release} says that it changes ${previous ?? 'nothing'}, but the release before it is ${this.#before?.release ?? 'none'}`,
    )
  }

  /** Proves everything that is published beside the releases. Returns how many files that are, and what cannot be proved. */
  async finish(
    found: { coverage: Coverage; restatements: Restatements },
    database: Database,
  ): Promise<{ files: number; notVerified: string[] }> {
    const published = { ...found, coverage: this.#asFollowed(found.coverage) }
    const hasGaps = this.#index.releases.some(({ status }) => status === 'withdrawn')
    const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
    if (hasGaps) {
      const told = { coverage: this.#coverage, restatements: this.#told }
      proveWithGaps(this.#dataset, this.#index, published, told)
    } else {
      this.#proveCoverage(published.coverage)
      if (!same(published.restatements, this.#restatements)) {
        throw new BuildError(
          `${join(this.#dataset, RESTATEMENTS_FILE)} is not what the releases tell${firstOf(published.restatements, this.#restatements)}`,
        )
      }
    }
    return this.#proveRevisions(
      hasGaps ? newestOf(published.coverage, this.#index) : this.#revisions,
      published.coverage,
      hasGaps,
      database,
    )
  }

  /** Version 0.1.0 began each coverage at 2025-01-01, and the next build begins it at the first date. */
  #asFollowed(published: Coverage): Coverage {
    if (this.#before?.manifest.version_rule !== undefined) return published
    const followed = fromFirstDate(published)
    return JSON.stringify(fromDatasetStart(followed)) === JSON.stringify(published) ? followed : published
  }

  #proveCoverage(published: Coverage): void {
    const path = join(this.#dataset, COVERAGE_FILE)
    const expected = this.#coverage
    if (expected === undefined) return
    const rowsOf = (coverage: Coverage) => [
      ...coverage.days.map((day) => ({ name: day.date, text: JSON.stringify(day) })),
      ...coverage.months.map((month) => ({ name: month.month, text: JSON.stringify(month) })),
    ]
    const found = new Map(rowsOf(published).map(({ name, text }) => [name, text]))
    const wrong = rowsOf(expected).find(({ name, text }) => found.get(name) !== text)
    if (wrong !== undefined) {
      throw new BuildError(
        `${path} says of ${wrong.name} ${found.get(wrong.name) ?? 'nothing'}, but the releases say ${wrong.text}`,
      )
    }
    if (JSON.stringify(published) !== JSON.stringify(expected)) {
      throw new BuildError(`${path} is not of release ${expected.release}, or has rows that no release has`)
    }
  }

  async #proveRevisions(
    revisions: readonly Expected[],
    coverage: Coverage,
    hasGaps: boolean,
    database: Database,
  ): Promise<{ files: number; notVerified: string[] }> {
    const files = new Set<string>()
    const prove = async (path: string, form: Form, expected: Expected) => {
      files.add(path)
      await proveFile(join(this.#dataset, path), form, expected, database)
    }
    const newest = new Map(
      newestOf(coverage, this.#index).map((expected) => [`${expected.folder}/${expected.name}`, expected]),
    )
    for (const expected of revisions) {
      const isNewest = newest.get(`${expected.folder}/${expected.name}`)?.revision === expected.revision
      for (const form of PERIOD_FORMATS[expected.folder]) {
        const path = revisionPath(expected, form)
        await prove(path, form, expected)
        if (!isNewest) continue
        const pointer = pointerPath(expected, form)
        files.add(pointer)
        await proveSame(join(this.#dataset, pointer), join(this.#dataset, path))
      }
    }
    const standing = { holdings: this.#holdings, needed: this.#needed }
    const { paths, notVerified } = hasGaps
      ? await proveSuperseded(this.#dataset, this.#index, coverage, standing, database)
      : { paths: [], notVerified: [] }
    for (const path of paths) files.add(path)
    await this.#proveNothingElse(files)
    return { files: files.size, notVerified }
  }

  async #proveNothingElse(files: ReadonlySet<string>): Promise<void> {
    for (const folder of ['daily', 'monthly']) {
      const entries = await readdir(join(this.#dataset, folder), { withFileTypes: true, recursive: true })
      for (const entry of entries.filter((each) => !each.isDirectory())) {
        const path = join(entry.parentPath, entry.name)
        if (!files.has(path.slice(this.#dataset.length + 1))) {
          throw new BuildError(`${path} is published, but no release has made it`)
        }
      }
    }
  }
}

interface Rows {
  release: ReleaseName
  rows: readonly RankingRow[]
}

/** Proves that the changes lead from the rows of one release to those of the next, and list no row that did not change. */
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

/** The newest revision of each day and month, as the coverage has them. */
function newestOf(coverage: Coverage, index: ReleaseIndex): Expected[] {
  const asOf = new Map(index.releases.map(({ release, as_of }) => [release, as_of]))
  return periodsOf(coverage).flatMap(({ folder, name, revision, content_hash, release }) =>
    revision === null || content_hash === null || release === null
      ? []
      : { folder, name, revision, hash: content_hash, asOf: asOf.get(release) ?? '' },
  )
}

/** Proves one form of a revision by reading its rows. */
async function proveFile(path: string, form: Form, expected: Expected, database: Database): Promise<void> {
  const { hash, asOf = expected.asOf } = await readRevision(path, { form, name: expected.name }, database)
  if (hash !== expected.hash) {
    throw new BuildError(`${path} holds rows with the hash ${hash}, but they were published with ${expected.hash}`)
  }
  if (asOf !== expected.asOf) {
    throw new BuildError(`${path} is not the API's answer for ${expected.name} as of ${expected.asOf}`)
  }
}

async function proveSame(pointer: string, revision: string): Promise<void> {
  const [found, expected] = await Promise.all([read(pointer), read(revision)])
  if (!found.equals(expected)) throw new BuildError(`${pointer} is not its newest revision, ${revision}`)
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error)) throw new BuildError(`${path} is missing`)
    throw error
  }
}

function firstOf(found: Restatements, expected: Restatements): string {
  const ids = new Map(found.restatements.map((restatement) => [restatement.id, JSON.stringify(restatement)]))
  const wrong = expected.restatements.find((restatement) => ids.get(restatement.id) !== JSON.stringify(restatement))
  return wrong === undefined ? ': it lists one too many' : `: ${wrong.id} is not as it was`
}
