import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { toJson } from '../base/json.ts'
import { isFolder } from '../base/move.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { withCoded } from '../contract/codings.ts'
import { type ReleaseEntry, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { COVERAGE_PATH, DOIS_PATH, INDEX_PATH } from '../contract/published-paths.ts'
import type { Retention } from '../contract/retention.ts'
import type { Fact } from '../ledger/fact.ts'
import { fold, type PublicLists } from '../ledger/fold.ts'
import { Ledger } from '../ledger/ledger.ts'
import { doisOf } from '../release/dois.ts'
import { currentEntry, readIndex, unlistedReleases } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import { renderEmbeddingsModels } from '../site/api.ts'
import { stageCoding } from './codings.ts'
import { followHistory } from './follow-history.ts'
import { replaceChain } from './new-chain.ts'
import { releaseFact, type Staged, type Withdrawn, withdrawalFact, withEvents } from './next-fact.ts'
import { NextTree } from './next-tree.ts'
import { renderChanged } from './pages.ts'
import { abandonStaging, closeStaging, isSwitching, type PublicFolder, STAGING_FOLDER } from './public-folder.ts'
import { type Entry, publication } from './publication.ts'
import { currentDataFiles, placeOfCurrent, resumeStaging } from './restore-files.ts'
import { removeDropped } from './retention.ts'
import { removeRevision, stageRevisions } from './revisions.ts'
import { removeSignatures, stageSignatures } from './signatures.ts'
import { checkSigning, describeUnusedKeys } from './signing.ts'
import { eraseInputs, removeWithdrawn, verifyWithdrawn } from './tombstone.ts'

/**
 * Brings the public folder in line with the ledger, also after a command that was stopped. The release of the last fact is
 * complete, in place or in the staging folder. Returns the ledger, and whether this completed a new chain. Throws `BuildError`.
 */
export async function recover(folder: PublicFolder, database: Database, { newChain = false } = {}) {
  const { publicDir, signing, report } = folder
  const { ledger, keys, found } = await openChecked(folder, newChain)
  for (const message of describeUnusedKeys(keys, signing)) report({ kind: 'notice', message })
  await ledger.tidy()
  const { last } = ledger
  if (last === undefined || ledger.facts.length === 0) {
    await closeStaging(publicDir, folder.files)
    return { ledger, completed: false }
  }
  const [first] = found.releases
  const isNewChain = first !== undefined && first.hash !== ledger.now.index.releases[0]?.hash
  const wasStopped = await isSwitching(publicDir)
  if (wasStopped) await removeSignatures(folder)
  const tree = new NextTree(folder, { isNewChain })
  await resumeStaging(tree, ledger.now)
  const changed = await withEvents(tree, ledger.now, { kind: 'keys', at: signing.at })
  const next = changed.events?.length ? changed : undefined
  await follow(tree, ledger, { last, next, isStopped: wasStopped }, database)
  return { ledger, completed: last.starts_chain === true && (wasStopped || isNewChain) }
}

/** The ledger for a command that changes nothing. Throws `BuildError` if a stopped command is not completed. */
export async function openLedger(folder: PublicFolder, { newChain = false } = {}): Promise<Ledger> {
  const { ledger, found } = await openChecked(folder, newChain)
  if (toJson(found) === toJson(ledger.now.index) && !(await isSwitching(folder.publicDir))) return ledger
  throw stopped(folder.publicDir)
}

/**
 * The ledger, the keys in force and the published index. Where nothing is published any more, a new chain begins, if that is
 * asked for. Throws `BuildError` if ledger and public folder do not belong together.
 */
async function openChecked({ publicDir, dataDir, files, signing }: PublicFolder, newChain: boolean) {
  const ledger = await Ledger.open(dataDir, files)
  const found = await readIndex(publicDir)
  const known = ledger.entries
  const unknown = found.releases.find(({ hash }) => !known.has(hash))
  if (unknown !== undefined) {
    const without = ledger.isEmpty ? 'without one, ' : `without one, move ${ledger.folder} elsewhere and `
    throw new BuildError(
      `${join(publicDir, INDEX_PATH)} has release ${unknown.release}, which ${ledger.folder} does not know: restore that ` +
        `folder from the newest backup; ${without}tokenboard build --from-public makes it from what is published`,
    )
  }
  const keys = await checkSigning(publicDir, ledger.now.events, signing)
  const isGone = found.releases.length === 0 && (await placeOfCurrent(publicDir, ledger.now)) === undefined
  if (isGone && !ledger.isEmpty) {
    const [left] = await unlistedReleases(publicDir, found)
    if (left !== undefined || !(newChain || ledger.isSynthetic)) {
      throw new BuildError(
        `${publicDir} does not have what was published, ${currentEntry(ledger.now.index)?.release} and what belongs to it: ` +
          'name the folder that has it as PUBLIC_DIR, or restore it from a backup. To start anew in an empty folder: ' +
          'tokenboard build --new-chain',
      )
    }
    ledger.startChain()
  }
  return { ledger, keys, found }
}

/**
 * Returns the current release. Throws `BuildError` if a command was stopped, because the public folder may then be half old
 * and half new.
 */
export async function verifyComplete(publicDir: string): Promise<ReleaseEntry> {
  const index = await readIndex(publicDir)
  const current = currentEntry(index)
  if (current === undefined || (await isFolder(join(publicDir, STAGING_FOLDER)))) throw stopped(publicDir)
  for (const entry of index.releases) if (entry.status === 'withdrawn') await verifyWithdrawn(publicDir, entry)
  return current
}

function stopped(publicDir: string): BuildError {
  return new BuildError(`${publicDir} was left by a build that was stopped; make build completes it`)
}

/** Publishes a staged and verified release: stages everything that follows from it, then makes one switch to both. */
export async function publish(
  folder: PublicFolder,
  staged: Staged,
  { ledger, startsChain, retention }: { ledger: Ledger; startsChain: boolean; retention: Retention },
  database: Database,
  signal: AbortSignal,
): Promise<void> {
  if (startsChain) ledger.startChain()
  const tree = new NextTree(folder, { isNewChain: startsChain })
  tree.adopt(releasePath(staged.release), staged.loaded)
  const next = await releaseFact(tree, ledger.now, { staged, retention })
  await follow(tree, ledger, { last: next, next, begin: async () => signal.throwIfAborted() }, database)
}

/** Drops what the setting does not keep any more, in a switch of its own. */
export async function publishDropped(
  folder: PublicFolder,
  { ledger, dropped }: { ledger: Ledger; dropped: readonly ReleaseName[] },
  database: Database,
  signal: AbortSignal,
): Promise<void> {
  try {
    const next: Fact = { kind: 'drop', at: folder.signing.at, dropped }
    const begin = async () => signal.throwIfAborted()
    await follow(new NextTree(folder), ledger, { last: next, next, begin }, database)
  } finally {
    await abandonStaging(folder.publicDir, folder.files)
  }
}

/**
 * Withdraws releases with everything that follows, and puts a staged and verified release in their place if one is given, in
 * one switch. Calls `begin` before anything is withdrawn.
 */
export async function publishWithdrawal(
  folder: PublicFolder,
  ledger: Ledger,
  asked: Withdrawn,
  database: Database,
  begin: () => Promise<void>,
): Promise<void> {
  const tree = new NextTree(folder)
  if (asked.staged !== undefined) tree.adopt(releasePath(asked.staged.release), asked.staged.loaded)
  const next = await withdrawalFact(tree, ledger, asked, database)
  await follow(tree, ledger, { last: next, next, begin }, database)
}

/** The facts that a switch follows from. */
interface Following {
  /** The one that a stopped command may have left, or the one to append. */
  last: Fact
  /** Appended as the last step before the switch. */
  next: Fact | undefined
  /** Whether a command was stopped after its fact was appended. */
  isStopped?: boolean
  /** Called before anything changes. */
  begin?: () => Promise<void>
}

/** Stages everything that follows from the facts, appends the next one, and switches. */
async function follow(
  tree: NextTree,
  ledger: Ledger,
  { last, next, isStopped = false, begin = async () => {} }: Following,
  database: Database,
): Promise<void> {
  const facts = [...ledger.facts, ...(next ? [next] : [])]
  const now = next === undefined ? ledger.now : fold(ledger.now, [next])
  const { index, events } = now
  if (tree.isNewChain) await replaceChain(tree, currentEntry(index)?.release ?? '')
  await removeEnded(tree, index, ledger)
  const notePages = await stage(tree, { facts, last, now }, database)
  for (const path of last.removed ?? []) await removeRevision(tree, path)
  await removeWithdrawn(tree, index)
  await removeDropped(tree, index, database)
  const noteFiles = await stageSignatures(tree, index, events)
  await tree.flush()
  await begin()
  await tree.begin()
  if (next !== undefined) await ledger.append(next)
  await tree.commit()
  await notePages()
  await noteFiles()
  if ((isStopped || last === next) && last.withdrawn?.is_erased) await eraseInputs(tree.folder, last.withdrawn.releases)
  await closeStaging(tree.folder.publicDir, tree.folder.files)
}

/** Stages the entries that differ. Returns a function that notes which pages exist; call it when they are in place. */
async function stage(
  tree: NextTree,
  { facts, last, now }: { facts: readonly Fact[]; last: Fact; now: PublicLists },
  database: Database,
): Promise<() => Promise<void>> {
  const { index, coverage, events, restatements } = now
  const current = currentEntry(index)
  if (current === undefined || coverage === undefined) throw new Error('a ledger with facts has a current release')
  const manifest = await readManifest(tree.pathOf(releasePath(current.release)))
  await currentDataFiles(tree, manifest, database)
  if ((await tree.read(COVERAGE_PATH)) !== toJson(coverage))
    await stageRevisions(tree, { facts, last }, { index, coverage }, database)
  await followHistory(tree, index, manifest, database)
  const dois = await doisOf(tree.folder.dataDir, index)
  if (dois === undefined) for (const each of withCoded(DOIS_PATH)) await tree.remove(each)
  const known = { manifest, index, coverage, restatements: restatements.restatements, dois }
  const { pages, ranking, note } = await renderChanged(tree, known, database)
  const api = [ranking, await renderEmbeddingsModels(tree.folder.dataDir)]
  const manifests = new Map([[current.release, manifest]])
  const entries = publication({ index, manifests, coverage, restatements, api, pages, dois, events })
  await sideBySide(entries, (entry) => stageEntry(tree, entry), SMALL_FILES_AT_ONCE)
  return note
}

/** Removes releases of chains that ended. Throws `BuildError` for a folder that the ledger does not list. */
async function removeEnded(tree: NextTree, index: ReleaseIndex, ledger: Ledger): Promise<void> {
  const { publicDir } = tree.folder
  const ended = new Set(ledger.entries.values())
  for (const name of await unlistedReleases(publicDir, index)) {
    if (!ended.has(name)) {
      throw new BuildError(`${join(publicDir, releasePath(name))} belongs to no release: remove it by hand`)
    }
    await tree.remove(releasePath(name), 'leftovers')
  }
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
