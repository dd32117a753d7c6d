import { dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { namesIn, readTextIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { type ReleaseEntry, type ReleaseIndex, releasePath } from '../contract/manifest.ts'
import type { DataFile } from '../contract/release-files.ts'
import { TOMBSTONE_FILE, Tombstone, tombstoneOf } from '../contract/tombstone.ts'
import { standingReleases, withStatus } from '../release/index.ts'
import type { PublicFolder } from './public-folder.ts'
import { removeRevisionsOf } from './withdrawn.ts'

/** What tells the revisions that go with a release, so it goes last. */
const LAST_FILE: DataFile = 'rankings-daily.parquet'

/** The index in which a release is withdrawn. */
export function withTombstone(index: ReleaseIndex, { release, withdrawn_at, reason }: Tombstone): ReleaseIndex {
  const releases = index.releases.map((entry): ReleaseEntry => {
    return entry.release === release ? { ...entry, status: 'withdrawn', withdrawal: { withdrawn_at, reason } } : entry
  })
  return withStatus({ ...index, releases })
}

/** The index in which every release that has a tombstone is withdrawn. */
export async function markWithdrawn(publicDir: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const releases: ReleaseEntry[] = []
  for (const entry of index.releases) {
    const tombstone = await readTombstone(publicDir, entry)
    if (tombstone === undefined) releases.push(entry)
    else {
      const { withdrawn_at, reason } = tombstone
      releases.push({ ...entry, status: 'withdrawn', withdrawal: { withdrawn_at, reason } })
    }
  }
  return releases.some(({ status }) => status === 'withdrawn') ? withStatus({ ...index, releases }) : index
}

/** Removes what is left of withdrawn releases beside their tombstones, and the revisions that are in no other release. */
export async function removeWithdrawn(folder: PublicFolder, index: ReleaseIndex, database: Database): Promise<void> {
  const standing = standingReleases(index)
  for (const { release, withdrawal } of index.releases) {
    if (withdrawal === undefined) continue
    const path = join(folder.publicDir, releasePath(release))
    const names = (await namesIn(path)).filter((name) => name !== TOMBSTONE_FILE).sort()
    if (names.includes(LAST_FILE)) await removeRevisionsOf(folder, release, standing, database)
    for (const name of names.filter((each) => each !== LAST_FILE)) await folder.files.remove(join(path, name))
    if (names.includes(LAST_FILE)) await folder.files.remove(join(path, LAST_FILE))
  }
}

/** Proves that a withdrawn release has its tombstone and nothing else. Throws `BuildError`. */
export async function verifyTombstone(publicDir: string, entry: ReleaseEntry): Promise<void> {
  const path = join(publicDir, releasePath(entry.release), TOMBSTONE_FILE)
  const tombstone = await readTombstone(publicDir, entry)
  if (tombstone === undefined) {
    throw new BuildError(`${path} is missing, although releases/index.json says that ${entry.release} is withdrawn`)
  }
  const { withdrawn_at, reason } = tombstone
  if (entry.withdrawal?.withdrawn_at !== withdrawn_at || entry.withdrawal.reason !== reason) {
    throw new BuildError(`${path} does not say what releases/index.json says of the withdrawal`)
  }
  const names = await namesIn(dirname(path))
  const left = names.sort().find((name) => name !== TOMBSTONE_FILE)
  if (left === undefined) return
  throw new BuildError(`${join(path, '..', left)} is published, but its release was withdrawn; make build removes it`)
}

async function readTombstone(publicDir: string, entry: ReleaseEntry): Promise<Tombstone | undefined> {
  const path = join(publicDir, releasePath(entry.release), TOMBSTONE_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const tombstone = parseJson(Tombstone, text, path, BuildError)
  if (text === toJson(tombstoneOf(entry, tombstone))) return tombstone
  throw new BuildError(`${path} is not the tombstone of release ${entry.release} that the index lists`)
}
