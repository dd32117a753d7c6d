import { hash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { namesIn, readTextIfAny } from '../base/files.ts'
import { jsonIfAny, parseJson } from '../base/json.ts'
import { contentHash } from '../base/text.ts'
import { hasOtherForms, otherForms } from '../contract/forms.ts'
import {
  type ContentHash,
  DATASET_PATH,
  hashesOf,
  isErased,
  type LatestPointer,
  type Manifest,
  type ReleaseEntry,
  ReleaseIndex,
  type ReleaseName,
  type Withdrawal,
} from '../contract/manifest.ts'
import { INDEX_FILE } from '../contract/published-paths.ts'
import { toTimestamp } from '../contract/ranking.ts'
import type { Table } from '../contract/tables.ts'

export const EMPTY_INDEX: ReleaseIndex = { dataset: 'rankings-daily', releases: [] }

export function publishedFolders(publicDir: string): string[] {
  return ['', DATASET_PATH, dirname(join(DATASET_PATH, INDEX_FILE))].map((folder) => join(publicDir, folder))
}

/** Reads the history of releases; empty if nothing was published. Throws `BuildError` if its chain is broken. */
export async function readIndex(publicDir: string): Promise<ReleaseIndex> {
  const path = join(publicDir, DATASET_PATH, INDEX_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return EMPTY_INDEX
  const index = parseJson(ReleaseIndex, text, path, BuildError)
  const broken = brokenAt(index)
  if (broken === undefined) return index
  const older = await olderVersion(publicDir)
  throw new BuildError(
    `${path}: ${older === undefined ? `the chain of releases is broken at ${broken}; an entry was changed or removed` : otherForms(older)}`,
  )
}

const Pointer = z.object({ path: z.string() })
const Made = z.object({ generator: z.object({ version: z.string() }) })

/** The earlier version with other forms that made the current release; undefined if none did. */
export async function olderVersion(publicDir: string): Promise<string | undefined> {
  const folder = join(publicDir, DATASET_PATH)
  const pointer = Pointer.safeParse(jsonIfAny((await readTextIfAny(join(folder, 'latest.json'))) ?? '')).data
  if (pointer === undefined) return undefined
  const manifest = await readTextIfAny(join(folder, pointer.path, 'manifest.json'))
  const version = Made.safeParse(jsonIfAny(manifest ?? '')).data?.generator.version
  return version !== undefined && hasOtherForms(version) ? version : undefined
}

/** What lies below `releases/` and is not in the index. */
export async function unlistedReleases(publicDir: string, { releases }: ReleaseIndex): Promise<string[]> {
  const names = await namesIn(dirname(join(publicDir, DATASET_PATH, INDEX_FILE)))
  const known = new Set([basename(INDEX_FILE), ...releases.map(({ release }) => release)])
  return names.filter((name) => !known.has(name)).sort()
}

/** `salt` is that of a release under a disclosure rule; see `saltOf`. */
export function appendRelease(
  index: ReleaseIndex,
  manifest: Manifest,
  manifestSha256: string,
  salt?: string,
): ReleaseIndex {
  const previous = index.releases.at(-1)?.hash ?? null
  const facts = factsOf(manifest, { manifest_sha256: manifestSha256, salt, previous })
  return withStatus({ ...index, releases: [...index.releases, { ...facts, hash: entryHash(facts) }] })
}

/** True if an entry agrees with the manifest. The entry's own hash does not prove that. */
export function isEntryOf(entry: ReleaseEntry, manifest: Manifest, manifestSha256: string): boolean {
  const { hash: _, ...facts } = hashedFields(entry)
  const { salt, previous } = facts
  return (
    JSON.stringify(facts) === JSON.stringify(factsOf(manifest, { manifest_sha256: manifestSha256, salt, previous }))
  )
}

/** The newest release that was not withdrawn. */
export function currentEntry(index: ReleaseIndex): ReleaseEntry | undefined {
  return index.releases.findLast(({ status }) => status !== 'withdrawn')
}

/** The entries of releases that were not withdrawn, oldest first. */
export function standingEntries(index: ReleaseIndex): ReleaseEntry[] {
  return index.releases.filter(({ status }) => status !== 'withdrawn')
}

/** The releases that were not withdrawn, oldest first. */
export function standingReleases(index: ReleaseIndex): ReleaseName[] {
  return standingEntries(index).map(({ release }) => release)
}

/** An entry of a release that was withdrawn. If it is erased, it loses salt and hashes. */
export function withdrawnEntry(entry: ReleaseEntry, withdrawal: Withdrawal, isErased: boolean): ReleaseEntry {
  const { content_hash: _rows, manifest_sha256: _manifest, tables: _tables, salt: _salt, ...rest } = entry
  return { ...(isErased ? rest : entry), status: 'withdrawn', withdrawal }
}

/** An entry that may have no status yet. */
type Unsettled = Omit<ReleaseEntry, 'status'> & Partial<Pick<ReleaseEntry, 'status'>>

/** Sets the status of each entry: the newest that was not withdrawn is current. */
export function withStatus(index: Omit<ReleaseIndex, 'releases'> & { releases: readonly Unsettled[] }): ReleaseIndex {
  let successor: ReleaseEntry | undefined
  const newestFirst = index.releases.toReversed().map((entry): ReleaseEntry => {
    const { status, withdrawal, dropped } = entry
    const facts = hashedFields(entry)
    if (status === 'withdrawn') return { ...facts, status, ...(withdrawal && { withdrawal }) }
    const changed: ReleaseEntry =
      successor === undefined
        ? { ...facts, status: 'current' }
        : { ...facts, status: 'superseded', superseded_by: successor.release, ...(dropped && { dropped }) }
    successor = changed
    return changed
  })
  return { ...index, releases: newestFirst.reverse() }
}

export function toPointer(entry: ReleaseEntry): LatestPointer {
  const { release, as_of, start_date, end_date, rows, path } = entry
  return { release, as_of, start_date, end_date, rows, content_hash: hashesOf(entry).content_hash, path }
}

/**
 * The hash that the index gives a table of a release; that of no rows if the release does not have the table. Undefined if a
 * privacy withdrawal removed it.
 */
export function hashIn(entry: ReleaseEntry, table: Table): ContentHash | undefined {
  if (isErased(entry)) return undefined
  return table === 'daily' ? entry.content_hash : (entry.tables?.[table] ?? contentHash([], table))
}

type Facts = Omit<ReleaseEntry, 'hash' | 'status' | 'superseded_by' | 'withdrawal' | 'dropped'>

/** What never changes of an entry: its hash, and the fields that it covers. */
function hashedFields(entry: Unsettled): Facts & Pick<ReleaseEntry, 'hash'> {
  const { status: _status, superseded_by: _successor, withdrawal: _why, dropped: _dropped, ...facts } = entry
  return facts
}

function factsOf(
  manifest: Manifest,
  { manifest_sha256, salt, previous }: Pick<Facts, 'manifest_sha256' | 'salt' | 'previous'>,
): Facts {
  const { release, as_of, start_date, end_date, rows, content_hash, data_version, changes } = manifest
  const { weekly, monthly } = manifest.tables ?? {}
  return {
    release,
    as_of,
    start_date,
    end_date,
    rows,
    content_hash,
    path: `releases/${release}/`,
    manifest_sha256,
    data_version,
    changed: changes.facts,
    ...(weekly && monthly && { tables: { weekly: weekly.content_hash, monthly: monthly.content_hash } }),
    salt,
    previous,
  }
}

/** SHA-256 of the entry as compact JSON, without its hash and later additions. */
function entryHash(facts: Facts): string {
  return hash('sha256', JSON.stringify(facts))
}

/** The first release whose entry does not follow from the one before; undefined if all do. */
function brokenAt(index: ReleaseIndex): ReleaseName | undefined {
  let previous: string | null = null
  for (const entry of index.releases) {
    const { hash, ...facts } = hashedFields(entry)
    // What was hashed is not there any more: the next entry's `previous` still binds the hash.
    const isRight = isErased(entry) || entryHash(facts) === hash
    if (facts.previous !== previous || !isRight) return facts.release
    previous = hash
  }
  return undefined
}

/** Throws `BuildError` if a release is newer than the instant. */
export function checkNotBefore(asOf: Date, index: ReleaseIndex): void {
  const latest = index.releases.at(-1)
  if (latest === undefined || toTimestamp(asOf) >= latest.as_of) return
  throw new BuildError(
    `AS_OF ${toTimestamp(asOf)} is before that of the newest release, ${latest.as_of}; give a later one, or check the clock`,
  )
}
