import { join } from 'node:path'
import { CHECKSUMS_FILE, verifyChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { hashFile, readTextIfAny } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { isFolder } from '../base/move.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { withCoded } from '../contract/codings.ts'
import { ruleOf } from '../contract/disclosure.ts'
import type { EventChain } from '../contract/events.ts'
import {
  DATASET_PATH,
  isErased,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { DOIS_PATH, INDEX_PATH, POINTER_PATH, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import type { Retention } from '../contract/retention.ts'
import type { Tombstone } from '../contract/tombstone.ts'
import type { Chain } from '../release/chain.ts'
import { doisOf } from '../release/dois.ts'
import {
  appendRelease,
  currentEntry,
  EMPTY_INDEX,
  readIndex,
  standingReleases,
  unlistedReleases,
  withStatus,
} from '../release/index.ts'
import { readRestatements } from '../release/ledger.ts'
import { type LoadedRelease, readManifest } from '../release/verify.ts'
import { renderEmbeddingsModels } from '../site/api.ts'
import { stageCoding } from './codings.ts'
import { followReleases } from './follow.ts'
import { followHistory } from './follow-history.ts'
import { beginNewChain, readNewChain, replaceChain, resumeNewChain } from './new-chain.ts'
import { NextTree } from './next-tree.ts'
import { renderChanged } from './pages.ts'
import { abandonStaging, closeStaging, isSwitching, type PublicFolder, STAGING_FOLDER } from './public-folder.ts'
import { type Entry, publication } from './publication.ts'
import { currentDataFiles } from './restore-files.ts'
import { removeDropped, withDropped } from './retention.ts'
import { removeSignatures, stageSignatures } from './signatures.ts'
import { checkSigning, describeUnusedKeys } from './signing.ts'
import { stageEvents } from './stage-events.ts'
import { markWithdrawn, removeWithdrawn, verifyWithdrawn, withTombstone, withTombstones } from './tombstone.ts'
import { beginWithdrawal, eraseInputs, type PrivacyWithdrawal, resumeWithdrawal } from './withdrawal.ts'

/**
 * Makes the public folder consistent after a build or withdrawal that stopped at any point. Returns the index, and
 * whether this completed a switch to a new chain.
 *
 * - A release counts once its folder is in place. If the index does not list it, this adds it and updates everything
 *   that follows from it. A folder without checksums is removed.
 * - A withdrawal counts once its tombstone is in place. This updates everything that follows from the other releases,
 *   and removes the files of the withdrawn one.
 * - A privacy withdrawal counts once its replacement is in place, or at once if it has none.
 * - A switch to a new chain is completed if the first release of that chain is in place, and undone otherwise.
 */
export async function recover(
  folder: PublicFolder,
  database: Database,
): Promise<{ index: ReleaseIndex; completed: boolean }> {
  const { publicDir, files } = folder
  const keys = await checkSigning(publicDir, folder.signing)
  for (const message of describeUnusedKeys(keys, folder.signing)) folder.report({ kind: 'notice', message })
  if (await isSwitching(publicDir)) await removeSignatures(folder)
  const chain = await readNewChain(publicDir)
  const tree = chain && (await resumeNewChain(folder, chain))
  const begun = await resumeWithdrawal(folder)
  if (tree === undefined && begun === undefined) await closeStaging(publicDir, files)
  const found =
    tree && chain
      ? await grow(folder, join(publicDir, releasePath(chain.release)), EMPTY_INDEX)
      : await findIndex(folder)
  const index = begun === undefined ? found : withoutReleases(found, begun)
  if (begun !== undefined) await eraseInputs(folder, index)
  await follow(tree ?? new NextTree(folder), index, database)
  return { index, completed: tree !== undefined }
}

/** The index, with what a stopped build or withdrawal put in place but not into the index. */
async function findIndex(folder: PublicFolder): Promise<ReleaseIndex> {
  const { publicDir } = folder
  const index = await readIndex(publicDir)
  const name = await unlisted(publicDir, index)
  return markWithdrawn(publicDir, name === undefined ? index : await adopt(folder, name, index))
}

/**
 * Returns the current release. Throws `BuildError` if a build or a withdrawal was stopped, because the public folder
 * may then be half old and half new.
 */
export async function verifyComplete(publicDir: string): Promise<ReleaseEntry> {
  const index = await readIndex(publicDir)
  const current = currentEntry(index)
  const marked = await markWithdrawn(publicDir, index)
  const isMarked = index.releases.every(({ status }, position) => status === marked.releases[position]?.status)
  if (current === undefined || !isMarked || (await isFolder(join(publicDir, STAGING_FOLDER)))) {
    throw new BuildError(`${publicDir} was left by a build that was stopped; make build completes it`)
  }
  for (const entry of index.releases) if (entry.status === 'withdrawn') await verifyWithdrawn(publicDir, entry)
  return current
}

/**
 * The release that a stopped build put in place but not into the index. There is at most one, it is newer than all
 * others, and `latest.json` does not name it yet. Throws `BuildError` for any other release that is not in the index:
 * it was published, so the index is wrong.
 */
async function unlisted(publicDir: string, index: ReleaseIndex): Promise<ReleaseName | undefined> {
  const unknown = await unlistedReleases(publicDir, index)
  const latest = await readTextIfAny(join(publicDir, POINTER_PATH))
  const isNext = (name: string) => name > (index.releases.at(-1)?.release ?? '') && !latest?.includes(name)
  if (unknown.length <= 1 && unknown.every(isNext)) return unknown[0]
  throw new BuildError(
    `${join(publicDir, INDEX_PATH)} does not list ${unknown.join(', ')}, found in ${join(publicDir, DATASET_PATH)}; ` +
      'releases are never removed: restore the index from a backup, or remove by hand what does not belong there',
  )
}

/** Adds a release to the index. If its folder has no checksums, removes the folder and leaves the index as it is. */
async function adopt(folder: PublicFolder, name: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const { publicDir, files } = folder
  const path = join(publicDir, releasePath(name))
  // The checksums are written last, before the folder is renamed.
  if ((await readTextIfAny(join(path, CHECKSUMS_FILE))) === undefined) {
    await files.remove(path)
    return index
  }
  await verifyChecksums(path, {
    remedy: `; ${name} was not published yet: remove it, and the next build makes it again`,
  })
  return grow(folder, path, index)
}

async function grow({ saltOf }: PublicFolder, path: string, index: ReleaseIndex): Promise<ReleaseIndex> {
  const { sha256 } = await hashFile(join(path, MANIFEST_FILE))
  const manifest = await readManifest(path)
  const hasRule = ruleOf(manifest.disclosure) !== undefined
  return appendRelease(index, manifest, sha256, hasRule ? await saltOf(manifest.release) : undefined)
}

/** A release that is staged and verified, and what was read when it was. */
export interface Staged {
  path: string
  release: ReleaseName
  loaded: LoadedRelease
}

/** Publishes a staged and verified release: stages everything that follows from it, then makes one switch to both. */
export async function publish(
  folder: PublicFolder,
  staged: Staged,
  { index, replaced, retention }: Chain & { retention: Retention },
  database: Database,
  signal: AbortSignal,
): Promise<ReleaseIndex> {
  const { release } = staged
  const isNewChain = replaced.length > 0
  const tree = new NextTree(folder, { isNewChain })
  tree.adopt(releasePath(release), staged.loaded)
  const grown = withDropped(await grow(folder, staged.path, index), retention)
  if (isNewChain) await replaceChain(tree, release, replaced)
  await follow(tree, grown, database, async () => {
    signal.throwIfAborted()
    if (isNewChain) await beginNewChain(folder, grown, replaced)
  })
  return grown
}

/** Drops what the setting does not keep any more, in a switch of its own. */
export async function publishDropped(
  folder: PublicFolder,
  { index, retention }: { index: ReleaseIndex; retention: Retention },
  database: Database,
  signal: AbortSignal,
): Promise<void> {
  try {
    await follow(new NextTree(folder), withDropped(index, retention), database, async () => signal.throwIfAborted())
  } finally {
    await abandonStaging(folder.publicDir, folder.files)
  }
}

/** Publishes a tombstone and everything that follows from it in one switch. The first rename withdraws the release. */
export async function publishTombstone(
  folder: PublicFolder,
  index: ReleaseIndex,
  tombstone: Tombstone,
  database: Database,
): Promise<void> {
  await follow(new NextTree(folder), withTombstone(index, tombstone), database)
}

/**
 * Takes releases out for privacy, and puts a staged and verified release in their place if one is given, in one switch.
 * Calls `begin` before the first rename.
 */
export async function publishWithdrawal(
  folder: PublicFolder,
  index: ReleaseIndex,
  { releases, withdrawal, staged }: Pick<PrivacyWithdrawal, 'releases' | 'withdrawal'> & { staged: Staged | undefined },
  database: Database,
  begin: () => Promise<void>,
): Promise<ReleaseIndex> {
  const tree = new NextTree(folder)
  if (staged !== undefined) tree.adopt(releasePath(staged.release), staged.loaded)
  const grown = staged === undefined ? index : await grow(folder, staged.path, index)
  const begun = { releases, withdrawal, replacement: staged === undefined ? null : await identify(staged) }
  const next = withoutReleases(grown, begun)
  await follow(tree, next, database, async () => {
    await begin()
    await beginWithdrawal(folder, begun)
  })
  return next
}

async function identify({ path, release }: Staged): Promise<PrivacyWithdrawal['replacement']> {
  return { release, manifest_sha256: (await hashFile(join(path, MANIFEST_FILE))).sha256 }
}

function withoutReleases(index: ReleaseIndex, { releases, withdrawal }: PrivacyWithdrawal): ReleaseIndex {
  return withTombstones(index, releases, { withdrawal, isErased: true })
}

/** Stages everything that follows from the releases and switches to it. Calls `begin` before the first rename. */
async function follow(
  tree: NextTree,
  index: ReleaseIndex,
  database: Database,
  begin: () => Promise<void> = async () => {},
): Promise<void> {
  const { notePages, events } = await stage(tree, withStatus(index), database)
  await removeWithdrawn(tree, index, database)
  await removeDropped(tree, index, database)
  const noteFiles = events === undefined ? async () => {} : await stageSignatures(tree, index, events)
  await tree.flush()
  await begin()
  await tree.commit()
  await notePages()
  await noteFiles()
  await closeStaging(tree.folder.publicDir, tree.folder.files)
}

/**
 * Stages the entries that differ. Returns the events, and a function that notes which pages exist; call it when they are
 * in place.
 */
async function stage(
  tree: NextTree,
  index: ReleaseIndex,
  database: Database,
): Promise<{ notePages: () => Promise<void>; events: EventChain | undefined }> {
  const current = currentEntry(index)
  if (current === undefined) return { notePages: async () => {}, events: undefined }
  const path = tree.pathOf(releasePath(current.release))
  const manifest = await readManifest(path)
  await currentDataFiles(tree, manifest, database)
  await eraseRestatements(tree, index)
  const coverage = await followReleases(tree, standingReleases(index), database)
  if (coverage === undefined) throw new Error('there is no coverage of the releases')
  const restatements = await readRestatements(tree.rootOf(RESTATEMENTS_PATH))
  await followHistory(tree, index, manifest, database)
  const dois = await doisOf(tree.folder.dataDir, index)
  if (dois === undefined) for (const each of withCoded(DOIS_PATH)) await tree.remove(each)
  const events = await stageEvents(tree, index)
  const known = { manifest, index, coverage, restatements: restatements.restatements, dois }
  const { pages, ranking, note } = await renderChanged(tree, known, database)
  const api = [ranking, await renderEmbeddingsModels(tree.folder.dataDir)]
  const manifests = new Map([[current.release, manifest]])
  const entries = publication({ index, manifests, coverage, restatements, api, pages, dois, events })
  await sideBySide(entries, (entry) => stageEntry(tree, entry), SMALL_FILES_AT_ONCE)
  return { notePages: note, events }
}

/** Removes what releases that were taken out for privacy restated: it has the numbers of dates. */
async function eraseRestatements(tree: NextTree, { releases }: ReleaseIndex): Promise<void> {
  const erased = new Set(releases.filter(isErased).map(({ release }) => release))
  if (erased.size === 0) return
  const { restatements, ...rest } = await readRestatements(tree.rootOf(RESTATEMENTS_PATH))
  const kept = restatements.filter(({ release }) => !erased.has(release))
  if (kept.length < restatements.length) await tree.replace(RESTATEMENTS_PATH, toJson({ ...rest, restatements: kept }))
}

async function stageEntry(tree: NextTree, { path, text, target }: Entry): Promise<void> {
  if (target !== undefined) await tree.link(path, target)
  else if (text !== undefined) {
    const made = text()
    // A file of several megabytes is not copied.
    const content = typeof made === 'string' ? Buffer.from(made) : made
    await tree.replace(path, content)
    await stageCoding(tree, path, content)
  }
}
