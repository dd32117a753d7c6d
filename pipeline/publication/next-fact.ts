import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { hashFile } from '../base/files.ts'
import { ruleOf } from '../contract/disclosure.ts'
import {
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
  type Withdrawal,
} from '../contract/manifest.ts'
import { EVENTS_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import type { Retention } from '../contract/retention.ts'
import { advance } from '../dataset/coverage.ts'
import { firstDates } from '../dataset/first-dates.ts'
import { looserIn } from '../dataset/looser-disclosure.ts'
import { restatementOf } from '../dataset/restatements.ts'
import { coverageChange, type Fact, orphans } from '../ledger/fact.ts'
import { fold, type PublicLists } from '../ledger/fold.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { appendEvents, type EventDraft, keysInForce, missingEvents } from '../release/events.ts'
import { appendRelease, standingReleases } from '../release/index.ts'
import { type LoadedRelease, readManifest } from '../release/verify.ts'
import type { NextTree } from './next-tree.ts'
import type { PublicFolder } from './public-folder.ts'
import { toDrop } from './retention.ts'
import { keyEvents } from './signing.ts'

/** A release that is staged and verified, and what was read when it was. */
export interface Staged {
  path: string
  release: ReleaseName
  loaded: LoadedRelease
}

/** What a command withdraws. */
export interface Withdrawn {
  releases: readonly ReleaseName[]
  withdrawal: Withdrawal
  /** Whether salt and hashes go, too. */
  isErased: boolean
  /** A release that takes their place. */
  staged?: Staged | undefined
}

/** The fact of a staged release. */
export async function releaseFact(
  tree: NextTree,
  before: PublicLists,
  { staged, retention }: { staged: Staged; retention: Retention },
): Promise<Fact> {
  const { loaded } = staged
  const entry = await entryOf(tree.folder, staged, before.index)
  const coverage = advance(before.coverage, loaded)
  const isFirst = firstDates(coverage, loaded.manifest)
  const restatement = restatementOf(before.coverage, coverage, loaded.manifest, isFirst)
  const fact: Fact = {
    kind: 'release',
    at: entry.as_of,
    ...(loaded.manifest.synthetic && { synthetic: true }),
    entries: [entry],
    dropped: toDrop(before.index, [...standingReleases(before.index), staged.release], retention),
    coverage: coverageChange(before.coverage, coverage),
    restatements: restatement ? [restatement] : [],
  }
  return withEvents(tree, before, fact, staged)
}

/** The fact that releases are withdrawn, for privacy perhaps with a staged one that takes their place. */
export async function withdrawalFact(
  tree: NextTree,
  { now: before, facts }: Ledger,
  { releases, withdrawal, isErased, staged }: Withdrawn,
  database: Database,
): Promise<Fact> {
  const fact: Fact = {
    kind: 'withdrawal',
    at: withdrawal.withdrawn_at,
    ...(staged && { entries: [await entryOf(tree.folder, staged, before.index)] }),
    withdrawn: { releases, withdrawal, is_erased: isErased },
  }
  const standing = standingReleases(fold(before, [fact]).index)
  const changed = { ...fact, ...(await newHead(tree, before, { standing, staged }, database)) }
  return withEvents(tree, before, { ...changed, removed: orphans([...facts, changed], standing) }, staged)
}

/** What follows if another release becomes current. */
async function newHead(
  tree: NextTree,
  { coverage }: PublicLists,
  { standing, staged }: { standing: readonly ReleaseName[]; staged: Staged | undefined },
  database: Database,
): Promise<Pick<Fact, 'coverage' | 'restatements'>> {
  const current = coverage?.release ?? ''
  if (standing.includes(current)) return {}
  const older = standing.findLast((release) => release < current)
  // A restatement is measured against the newest release that stood before.
  const base = older === undefined ? undefined : advance(coverage, await tree.load(older, database))
  if (staged === undefined) return base === undefined ? {} : { coverage: coverageChange(coverage, base) }
  const { loaded } = staged
  const next = advance(coverage, loaded)
  const restatement = restatementOf(base, next, loaded.manifest, firstDates(next, loaded.manifest))
  return { coverage: coverageChange(coverage, next), restatements: restatement ? [restatement] : [] }
}

/** A fact with the events of what it says, and of keys that this command changes. */
export async function withEvents(tree: NextTree, before: PublicLists, fact: Fact, staged?: Staged): Promise<Fact> {
  const { signing } = tree.folder
  const { events } = before
  const { index } = fold(before, [fact])
  const isLooser = staged !== undefined && (await isLooserThanBefore(tree, index, staged))
  const missing = missingEvents(events, index).flatMap((draft): EventDraft[] => {
    if (!isLooser || draft.kind !== 'release') return [draft]
    return [draft, { kind: 'looser_disclosure', at: draft.at, release: draft.release }]
  })
  // A release that this command makes comes after its key, which it is signed by.
  const keys = keyEvents(keysInForce(events.events, EVENTS_PATH), signing)
  const added = appendEvents(events, [...keys, ...missing]).events.slice(events.events.length)
  keysInForce([...events.events, ...added], EVENTS_PATH)
  return { ...fact, events: added }
}

/** Whether a release is made under a looser disclosure rule than the one that stood before it. */
async function isLooserThanBefore(tree: NextTree, index: ReleaseIndex, { loaded }: Staged): Promise<boolean> {
  const previous = standingReleases(index).at(-2)
  if (previous === undefined) return false
  const { disclosure } = await readManifest(tree.pathOf(releasePath(previous)))
  return looserIn(disclosure, loaded.manifest.disclosure).length > 0
}

/** The index entry of a release in a folder. */
async function entryOf({ saltOf }: PublicFolder, { path, loaded }: Staged, index: ReleaseIndex): Promise<ReleaseEntry> {
  const { manifest } = loaded
  const { sha256 } = await hashFile(join(path, MANIFEST_FILE))
  const salt = ruleOf(manifest.disclosure) === undefined ? undefined : await saltOf(manifest.release)
  const entry = appendRelease(index, manifest, sha256, salt).releases.at(-1)
  if (entry === undefined) throw new Error('an index grows by an entry')
  return entry
}
