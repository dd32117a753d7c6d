import { join } from 'node:path'
import { toJson } from '../base/json.ts'
import type { EventChain } from '../contract/events.ts'
import { type ReleaseEntry, type ReleaseIndex, releasePath } from '../contract/manifest.ts'
import { EVENTS_PATH } from '../contract/published-paths.ts'
import { looserIn } from '../dataset/looser-disclosure.ts'
import {
  appendEvents,
  type EventDraft,
  keysInForce,
  missingEvents,
  NO_EVENTS,
  readEvents,
  verifyEvents,
} from '../release/events.ts'
import { readManifest } from '../release/verify.ts'
import type { NextTree } from './next-tree.ts'
import { keyEvents } from './signing.ts'

/** Stages the published events with those of what this switch changes, and returns them. */
export async function stageEvents(tree: NextTree, index: ReleaseIndex): Promise<EventChain> {
  const { signing } = tree.folder
  const published = (await readEvents(tree.rootOf(EVENTS_PATH))) ?? NO_EVENTS
  const keys = keyEvents(keysInForce(published.events, EVENTS_PATH), signing)
  const missing = await withLooserRules(tree, index, missingEvents(published, index))
  // A release that this command makes comes after its key, which it is signed by.
  const earlier = missing.filter(({ at }) => at < signing.at)
  const events = appendEvents(published, [...earlier, ...keys, ...missing.slice(earlier.length)])
  keysInForce(events.events, EVENTS_PATH)
  verifyEvents(events, index, join(tree.folder.publicDir, EVENTS_PATH))
  await tree.replace(EVENTS_PATH, toJson(events))
  return events
}

/** Adds an event after each release that was made under a looser disclosure rule than the release before it. */
async function withLooserRules(
  tree: NextTree,
  { releases }: ReleaseIndex,
  drafts: readonly EventDraft[],
): Promise<EventDraft[]> {
  const statementOf = async ({ release }: ReleaseEntry) =>
    (await readManifest(tree.pathOf(releasePath(release)))).disclosure
  const all: EventDraft[] = []
  for (const draft of drafts) {
    all.push(draft)
    const position = releases.findIndex(({ hash }) => draft.kind === 'release' && draft.entry === hash)
    const own = releases[position]
    const previous = releases.slice(0, Math.max(0, position)).findLast(({ status }) => status !== 'withdrawn')
    if (previous === undefined || own === undefined || own.status === 'withdrawn') continue
    const differences = looserIn(await statementOf(previous), await statementOf(own))
    if (differences.length > 0) all.push({ kind: 'looser_disclosure', at: draft.at, release: own.release })
  }
  return all
}
