import { hash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { namesIn, readIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { contentHash, writeJson } from '../base/text.ts'
import type { Coverage, Published } from '../contract/ledger.ts'
import type { ContentHash, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { COVERAGE_FILE, PERIOD_FORMATS } from '../contract/published-paths.ts'
import { RankingResponse, type Timestamp } from '../contract/ranking.ts'
import { type Period, periodsOf } from '../dataset/coverage.ts'
import { readParquet } from '../release/read-back.ts'
import { datesOf, type PeriodFormat, revisionPath } from './periods.ts'

interface Held {
  hash: ContentHash
  asOf?: Timestamp | undefined
}

export interface Made extends Period, Held {
  release: ReleaseName
  /** Undefined after a withdrawn release, whose revisions are not known. */
  revision: number | undefined
}

export interface Standing {
  index: ReleaseIndex
  /** Each as `daily/2026-11-19 sha256:…`. */
  holdings: ReadonlySet<string>
  made: readonly Made[]
}

interface Found extends Held {
  revision: number
}

/** Verifies the revisions of days and months. `notVerified` lists those removed with a withdrawn release. */
export async function verifyPeriods(
  dataset: string,
  coverage: Coverage,
  standing: Standing,
  database: Database,
): Promise<{ files: number; notVerified: string[] }> {
  const made = Map.groupBy(standing.made, placeOf)
  const notVerified: string[] = []
  let files = 0
  for (const period of periodsOf(coverage)) {
    const place = placeOf(period)
    const own = made.get(place) ?? []
    const found = await verifyRevisions(dataset, period, { ...standing, made: own }, database)
    verifyMade(join(dataset, place), own, found)
    const missing = missingNumbers(period, found)
    verifyMissing(join(dataset, place), period, missing, standing.index)
    notVerified.push(...missing.map((number) => `${place}/r${number}`))
    const pointers = period.content_hash === null ? 0 : 1
    files += (found.length + pointers) * PERIOD_FORMATS[period.folder].length
  }
  return { files, notVerified }
}

function placeOf({ folder, name }: Period): string {
  return `${folder}/${name}`
}

async function verifyRevisions(
  dataset: string,
  period: Published & Period,
  standing: Standing,
  database: Database,
): Promise<Found[]> {
  const present = new Set(await namesIn(join(dataset, placeOf(period))))
  const known = new Map(standing.made.map((each): [number | undefined, Held] => [each.revision, each]))
  const { revision: newest, content_hash, release } = period
  if (newest !== null && content_hash !== null) {
    known.set(newest, { hash: content_hash, asOf: asOfRelease(dataset, release, standing.index) })
  }
  const found: Found[] = []
  for (const revision of numbersTo(newest)) {
    const expected = known.get(revision)
    const isThere = PERIOD_FORMATS[period.folder].some((format) => present.has(`r${revision}.${format}`))
    if (!isThere && expected === undefined) continue
    found.push({ ...(await verifyRevision(dataset, { ...period, revision }, expected, standing, database)), revision })
  }
  return found
}

function asOfRelease(dataset: string, name: ReleaseName | null, { releases }: ReleaseIndex): Timestamp {
  const entry = releases.find(({ release }) => release === name)
  if (entry !== undefined) return entry.as_of
  throw new BuildError(`${join(dataset, COVERAGE_FILE)} names release ${name}, but no such release exists`)
}

function numbersTo(last: number | null): number[] {
  return Array.from({ length: last ?? 0 }, (_, position) => position + 1)
}

/** Every format must hold the same rows: the expected ones, or those of any remaining release. */
async function verifyRevision(
  dataset: string,
  revision: Period & { revision: number },
  expected: Held | undefined,
  standing: Standing,
  database: Database,
): Promise<Held> {
  let first: (Held & { path: string }) | undefined
  for (const format of PERIOD_FORMATS[revision.folder]) {
    const path = join(dataset, revisionPath(revision, format))
    const held = await readRevision(path, { format, name: revision.name }, database)
    verifyHeld(path, revision, { held, expected }, standing)
    first ??= { ...held, path }
    if (held.hash !== first.hash) throw new BuildError(`${path} holds other rows than ${basename(first.path)}`)
  }
  if (first === undefined) throw new Error('a revision has at least one format')
  return { hash: first.hash, asOf: first.asOf ?? expected?.asOf }
}

function verifyHeld(
  path: string,
  period: Period,
  { held: { hash, asOf }, expected }: { held: Held; expected: Held | undefined },
  { index, holdings }: Standing,
): void {
  const isRight = expected === undefined ? holdings.has(`${placeOf(period)} ${hash}`) : hash === expected.hash
  if (!isRight) {
    const why = expected
      ? `but they were published with ${expected.hash}`
      : 'which no release has that is not withdrawn'
    throw new BuildError(`${path} holds rows with the hash ${hash}, ${why}`)
  }
  if (asOf !== undefined && expected?.asOf !== undefined && asOf !== expected.asOf) {
    throw new BuildError(`${path} is not the API's answer for ${period.name} as of ${expected.asOf}`)
  }
  if (asOf !== undefined && !index.releases.some(({ as_of }) => as_of === asOf)) {
    throw new BuildError(`${path} is as of ${asOf}, when there was no release`)
  }
}

async function readRevision(
  path: string,
  { format, name }: { format: PeriodFormat; name: string },
  database: Database,
): Promise<Held> {
  const bytes = await readIfAny(path)
  if (bytes === undefined) throw new BuildError(`${path} is missing`)
  if (format === 'parquet') return { hash: contentHash(await readParquet(database, path)) }
  // The content hash is the hash of the CSV, so any changed byte shows.
  if (format === 'csv') return { hash: `sha256:${hash('sha256', bytes)}` }
  const { data, meta } = parseJson(RankingResponse, bytes.toString(), path, BuildError)
  const answer = writeJson(data, { as_of: meta.as_of, start_date: name, end_date: name, version: meta.version })
  if (!bytes.equals(answer)) throw new BuildError(`${path} is not the API's answer for ${name} as of ${meta.as_of}`)
  return { hash: contentHash(data), asOf: meta.as_of }
}

/** Releases made revisions in order, so search for each after the previous one. */
function verifyMade(place: string, made: readonly Made[], found: readonly Found[]): void {
  let last = 0
  for (const { release, hash, asOf, revision } of made) {
    const match = found.find((each) => {
      const isThat = revision === undefined ? each.revision > last : each.revision === revision
      const isThen = asOf === undefined || each.asOf === undefined || each.asOf === asOf
      return isThat && isThen && each.hash === hash
    })
    if (match === undefined) {
      const what = revision === undefined ? 'a revision' : `revision r${revision}`
      throw new BuildError(`${place} lacks ${what} with the rows of release ${release}`)
    }
    last = match.revision
  }
}

function missingNumbers({ revision }: Published, found: readonly Found[]): number[] {
  const present = new Set(found.map((each) => each.revision))
  return numbersTo(revision).filter((number) => !present.has(number))
}

/** A withdrawn release made at most one revision here, and its withdrawal one more for another release. */
function verifyMissing(place: string, period: Period, missing: readonly number[], { releases }: ReleaseIndex): void {
  if (missing.length === 0) return
  const { first_date, last_date } = datesOf(period)
  const withdrawn = releases.filter(({ status }) => status === 'withdrawn')
  const having = withdrawn.filter(({ start_date, end_date }) => start_date <= last_date && end_date >= first_date)
  if (having.length > 0 && missing.length <= having.length + withdrawn.length) return
  throw new BuildError(
    `${place} lacks ${missing.map((number) => `r${number}`).join(', ')}, more than withdrawn releases can have made`,
  )
}
