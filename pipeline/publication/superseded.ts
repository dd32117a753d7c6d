import { basename, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import type { Coverage, Published } from '../contract/history.ts'
import type { ContentHash, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { type Period, periodsOf } from '../dataset/coverage.ts'
import { readRevision } from './revision-file.ts'
import { datesOf, type Form, revisionPath } from './revisions.ts'

/** A revision that must be there, because a release that stands made it or has its rows. */
export interface Needed extends Period {
  release: ReleaseName
  hash: ContentHash
  /** Undefined where the previous release was withdrawn: that may have made the revision. */
  asOf: Timestamp | undefined
  /** Undefined after a release that was withdrawn: how often it counted is known no more. */
  revision: number | undefined
}

/** What the releases that stand say of superseded revisions. */
export interface Standing {
  /** What they hold of days and months, each as `daily/2026-11-19 sha256:…`. */
  holdings: ReadonlySet<string>
  /** In the order in which they were made. */
  needed: readonly Needed[]
}

interface Found {
  revision: number
  hash: ContentHash
  /** Undefined of a month, whose files do not say it. */
  asOf: Timestamp | undefined
}

/**
 * Proves the superseded revisions of a history of which releases were withdrawn: each holds the rows of a release that
 * stands, and none that such a release made is missing. Returns their paths, and as `notVerified` the revisions that are
 * gone and that only a withdrawn release could prove.
 */
export async function proveSuperseded(
  dataset: string,
  index: ReleaseIndex,
  coverage: Coverage,
  standing: Standing,
  database: Database,
): Promise<{ paths: string[]; notVerified: string[] }> {
  const needed = Map.groupBy(standing.needed, nameOf)
  const paths: string[] = []
  const notVerified: string[] = []
  for (const period of periodsOf(coverage)) {
    const place = nameOf(period)
    const newest = newestOf(period, index)
    const superseded: Found[] = []
    for (const revision of await supersededNumbers(dataset, period)) {
      superseded.push(await proveRevision(dataset, { ...period, revision }, { index, ...standing }, database))
      paths.push(...PERIOD_FORMATS[period.folder].map((form) => revisionPath({ ...period, revision }, form)))
    }
    const found = [...superseded, ...newest]
    assertNeeded(join(dataset, place), needed.get(place) ?? [], found)
    const gone = goneNumbers(period, found)
    assertWithdrawn(join(dataset, place), period, gone, index)
    notVerified.push(...gone.map((number) => `${place}/r${number}`))
  }
  return { paths, notVerified }
}

function nameOf({ folder, name }: Period): string {
  return `${folder}/${name}`
}

/** The newest revision, which is proved by what the coverage says of it; none where its rows were taken away. */
function newestOf({ revision, content_hash, release }: Published, { releases }: ReleaseIndex): Found[] {
  if (revision === null || content_hash === null) return []
  return [{ revision, hash: content_hash, asOf: releases.find((entry) => entry.release === release)?.as_of }]
}

/** The numbers of superseded revisions of which a file is there in any format. */
async function supersededNumbers(dataset: string, period: Published & Period): Promise<number[]> {
  const present = new Set(await namesIn(join(dataset, nameOf(period))))
  const last = (period.revision ?? 0) - (period.content_hash === null ? 0 : 1)
  const numbers = Array.from({ length: last }, (_, position) => position + 1)
  return numbers.filter((number) => PERIOD_FORMATS[period.folder].some((form) => present.has(`r${number}.${form}`)))
}

/** Proves that every format of a revision holds the same rows, those of a release that stands. */
async function proveRevision(
  dataset: string,
  revision: Period & { revision: number },
  { index, holdings }: { index: ReleaseIndex; holdings: Standing['holdings'] },
  database: Database,
): Promise<Found> {
  const forms: readonly Form[] = PERIOD_FORMATS[revision.folder]
  let first: (Found & { path: string }) | undefined
  for (const form of forms) {
    const path = join(dataset, revisionPath(revision, form))
    const { hash, asOf } = await readRevision(path, { form, name: revision.name }, database)
    if (!holdings.has(`${nameOf(revision)} ${hash}`)) {
      throw new BuildError(`${path} holds rows with the hash ${hash}, which no release has that is not withdrawn`)
    }
    if (asOf !== undefined && !index.releases.some(({ as_of }) => as_of === asOf)) {
      throw new BuildError(`${path} is as of ${asOf}, when there was no release`)
    }
    first ??= { revision: revision.revision, hash, asOf, path }
    if (hash !== first.hash) throw new BuildError(`${path} holds other rows than ${basename(first.path)}`)
  }
  if (first === undefined) throw new Error('a revision has at least one format')
  const { path: _path, ...found } = first
  return found
}

/** The revisions that releases made come in their order, so each is looked for after the one before it. */
function assertNeeded(place: string, needed: readonly Needed[], found: readonly Found[]): void {
  let last = 0
  for (const { release, hash, asOf, revision } of needed) {
    const made = found.find((each) => {
      const isThat = revision === undefined ? each.revision > last : each.revision === revision
      const isThen = asOf === undefined || each.asOf === undefined || each.asOf === asOf
      return isThat && isThen && each.hash === hash
    })
    if (made === undefined) {
      const what = revision === undefined ? 'a revision' : `revision r${revision}`
      throw new BuildError(`${place} lacks ${what} with the rows of release ${release}`)
    }
    last = made.revision
  }
}

function goneNumbers({ revision }: Published, found: readonly Found[]): number[] {
  const present = new Set(found.map((each) => each.revision))
  return Array.from({ length: revision ?? 0 }, (_, position) => position + 1).filter((number) => !present.has(number))
}

/**
 * A revision is gone only with the withdrawn releases that had its rows. Each of them made one at most, and each
 * withdrawal made the rows of another release current once more, which may have been withdrawn later too.
 */
function assertWithdrawn(place: string, period: Period, gone: readonly number[], { releases }: ReleaseIndex): void {
  if (gone.length === 0) return
  const { first_date, last_date } = datesOf(period)
  const withdrawn = releases.filter(({ status }) => status === 'withdrawn')
  const having = withdrawn.filter(({ start_date, end_date }) => start_date <= last_date && end_date >= first_date)
  if (having.length > 0 && gone.length <= having.length + withdrawn.length) return
  throw new BuildError(
    `${place} lacks ${gone.map((number) => `r${number}`).join(', ')}, more than withdrawn releases can have made`,
  )
}
