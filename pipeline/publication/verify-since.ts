import { join } from 'node:path'
import { readChecksums } from '../base/checksums.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { hashFile, statsIfAny } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { EventChain } from '../contract/events.ts'
import { ReleaseIndex, type ReleaseName, type Withdrawal } from '../contract/manifest.ts'
import { EVENTS_PATH, INDEX_PATH, releaseOfPath, SIGNED_LIST } from '../contract/published-paths.ts'
import { isImmutable, wentWithRelease } from './signed-list.ts'

/** What is published now. */
interface Published {
  root: string
  index: ReleaseIndex
  events: EventChain | undefined
}

/**
 * Verifies that nothing in a list which a reader saved has changed, but by events: `chain.json`, `releases/index.json` or
 * `SHA256SUMS`. `path` names the list. Throws `CliError` for another file, `BuildError` for the first difference.
 */
export async function verifySince(text: string, path: string, published: Published): Promise<void> {
  const value = jsonIfAny(text)
  const chain = EventChain.safeParse(value)
  if (chain.success) return verifyEventsSince(chain.data, path, published)
  const index = ReleaseIndex.safeParse(value)
  if (index.success) return verifyIndexSince(index.data, path, published)
  const sums = readChecksums(text)
  const isList = sums.size > 0 && [...sums.values()].every((sha256) => /^[0-9a-f]{64}$/.test(sha256))
  if (isList) return verifyFilesSince(sums, path, published)
  throw new CliError(`${path} is no chain.json, releases/index.json or SHA256SUMS`)
}

function verifyEventsSince(saved: EventChain, path: string, { root, events }: Published): void {
  for (const [position, { kind, hash }] of saved.events.entries()) {
    if (events?.events[position]?.hash === hash) continue
    throw new BuildError(
      `event ${position + 1} (${kind}) of ${path} is another one, or missing, in ${join(root, EVENTS_PATH)}: this is an older copy, or the past was rewritten`,
    )
  }
}

function verifyIndexSince(saved: ReleaseIndex, path: string, { root, index, events }: Published): void {
  const now = new Map(index.releases.map((entry) => [entry.release, entry]))
  // A privacy withdrawal takes the place of an earlier one in the index, and the events tell of both.
  const isTold = (release: ReleaseName, { withdrawn_at, reason }: Withdrawal) =>
    events?.events.some(
      (event) =>
        event.kind === 'withdrawal' &&
        event.release === release &&
        event.at === withdrawn_at &&
        event.reason === reason,
    )
  for (const { release, hash, withdrawal } of saved.releases) {
    const entry = now.get(release)
    const isKept = withdrawal === undefined || isEqual(entry?.withdrawal, withdrawal) || isTold(release, withdrawal)
    if (entry?.hash === hash && isKept) continue
    throw new BuildError(
      `${release} of ${path} is another one, or missing, in ${join(root, INDEX_PATH)}: this is an older copy, or the past was rewritten`,
    )
  }
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Files of releases and revisions never change. They go with a withdrawn release, and data files when it is dropped. */
async function verifyFilesSince(
  saved: ReadonlyMap<string, string>,
  path: string,
  { root, index }: Published,
): Promise<void> {
  const hasWithdrawn = index.releases.some(({ status }) => status === 'withdrawn')
  // A revision may have gone with the only release that had it.
  const mayBeMissing = (file: string) =>
    releaseOfPath(file) === undefined ? hasWithdrawn : wentWithRelease(file, index)
  const immutable = [...saved].filter(([file]) => isImmutable(file))
  if (immutable.length === 0) {
    throw new CliError(`${path} lists no file of a release: save the ${SIGNED_LIST} at the top, not that of a release`)
  }
  const differing = await sideBySide(
    immutable,
    async ([file, sha256]) => {
      const place = join(root, file)
      if ((await statsIfAny(place)) === undefined) return mayBeMissing(file) ? [] : [`${place} is missing`]
      return (await hashFile(place)).sha256 === sha256 ? [] : [`${place} was changed`]
    },
    SMALL_FILES_AT_ONCE,
  )
  const [first] = differing.flat()
  if (first !== undefined) throw new BuildError(`${first} since ${path} was saved, and no event says why`)
}
