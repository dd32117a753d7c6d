import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, isThere, namesIn, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { contentHash, writeJson } from '../base/text.ts'
import type { Coverage, Published } from '../contract/ledger.ts'
import type { ContentHash, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { RankingResponse, type Timestamp } from '../contract/ranking.ts'
import { type Period, periodsOf, placeOf } from '../dataset/coverage.ts'
import { hashParquet } from '../release/read-back.ts'
import { type PeriodFormat, revisionPath } from './periods.ts'

/** The rows of a revision, and the instant that its JSON names. */
interface Held {
  hash: ContentHash
  asOf?: Timestamp | undefined
}

/** A revision that a release that stands makes. Once a release was withdrawn, number and instant are not known. */
export interface ExpectedRevision extends Period, Held {
  release: ReleaseName
  revision: number | undefined
}

export interface Standing {
  index: ReleaseIndex
  /** What releases have, as `daily/2026-11-19 sha256:…`. */
  holdings: ReadonlySet<string>
  made: readonly ExpectedRevision[]
}

/**
 * Verifies the revisions of days and months. Which ones a withdrawn release made is unknown. So the newest must be that of the
 * coverage, each other one must have the rows of a release that stands, and each of these releases must have its rows in one.
 * `notVerified` lists the numbers that are gone.
 */
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
    const lost = own.find((each) => ![...found.values()].some((held) => isSame(held, each)))
    if (lost !== undefined) {
      throw new BuildError(`${join(dataset, place)} lacks a revision with the rows of release ${lost.release}`)
    }
    notVerified.push(...numbersTo(period).flatMap((each) => (found.has(each) ? [] : [`${place}/r${each}`])))
    const pointers = period.content_hash === null ? 0 : 1
    files += (found.size + pointers) * PERIOD_FORMATS[period.folder].length
  }
  return { files, notVerified }
}

/** Whether two have the same rows, and the same instant if both name one. */
function isSame(one: Held, other: Held): boolean {
  return one.hash === other.hash && (one.asOf ?? other.asOf) === (other.asOf ?? one.asOf)
}

function numbersTo({ revision }: Published): number[] {
  return Array.from({ length: revision ?? 0 }, (_, position) => position + 1)
}

/** What each revision that is there holds. */
async function verifyRevisions(
  dataset: string,
  period: Published & Period,
  { index, holdings, made }: Standing,
  database: Database,
): Promise<Map<number, Held>> {
  const place = placeOf(period)
  const instants = new Map(index.releases.map(({ release, as_of }) => [release, as_of]))
  const expected = new Map<number, Held>()
  for (const each of made) if (each.revision !== undefined) expected.set(each.revision, each)
  if (period.revision !== null && period.content_hash !== null) {
    expected.set(period.revision, { hash: period.content_hash, asOf: instants.get(period.release ?? '') })
  }
  const check = (path: string, { hash, asOf }: Held, right: Held | undefined) => {
    if (right === undefined ? !holdings.has(`${place} ${hash}`) : hash !== right.hash) {
      const why = right ? `but they were published with ${right.hash}` : 'which no release that stands has'
      throw new BuildError(`${path} holds rows with the hash ${hash}, ${why}`)
    }
    const isMade = right === undefined ? [...instants.values()].includes(asOf ?? '') : asOf === right.asOf
    if (asOf !== undefined && !isMade) {
      throw new BuildError(`${path} is as of ${asOf}, but no release of that instant made it`)
    }
  }
  const present = new Set(await namesIn(join(dataset, place)))
  const found = new Map<number, Held>()
  for (const revision of numbersTo(period)) {
    const right = expected.get(revision)
    const isThere = PERIOD_FORMATS[period.folder].some((format) => present.has(`r${revision}.${format}`))
    if (!isThere && right === undefined) continue
    found.set(
      revision,
      await verifyRevision(dataset, { ...period, revision }, (path, held) => check(path, held, right), database),
    )
  }
  return found
}

/** Every format must hold the same rows. */
async function verifyRevision(
  dataset: string,
  revision: Period & { revision: number },
  check: (path: string, held: Held) => void,
  database: Database,
): Promise<Held> {
  const all: Held[] = []
  for (const format of PERIOD_FORMATS[revision.folder]) {
    const path = join(dataset, revisionPath(revision, format))
    const held = await readRevision(path, { format, name: revision.name }, database)
    check(path, held)
    all.push(held)
    if (held.hash !== all[0]?.hash) throw new BuildError(`${path} holds other rows than the other file of the month`)
  }
  return all[0] as Held
}

/** What a file of a revision holds. Throws `BuildError` if it is missing, or not in its published form. */
export async function readRevision(
  path: string,
  { format, name }: { format: PeriodFormat; name: string },
  database: Database,
): Promise<Held> {
  if (!(await isThere(path))) throw new BuildError(`${path} is missing`)
  if (format === 'parquet') return { hash: (await hashParquet(database, path, 'daily')).hash }
  // The content hash is the hash of the CSV, so any changed byte shows.
  if (format === 'csv') return { hash: `sha256:${(await hashFile(path)).sha256}` }
  const text = (await readTextIfAny(path)) ?? ''
  const { data, meta } = parseJson(RankingResponse, text, path, BuildError)
  const answer = writeJson(data, { as_of: meta.as_of, start_date: name, end_date: name, version: meta.version })
  if (text === answer.toString()) return { hash: contentHash(data), asOf: meta.as_of }
  throw new BuildError(`${path} is not the API's answer for ${name} as of ${meta.as_of}`)
}
