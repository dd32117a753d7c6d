import type { DatasetEvent } from '../contract/events.ts'
import type { Coverage, Restatement } from '../contract/ledger.ts'
import type { ContentHash, ReleaseEntry, ReleaseName, Withdrawal } from '../contract/manifest.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { type Period, periodsOf, placeOf } from '../dataset/coverage.ts'

/** What one command changed in the published data, in the form of the public files. A fact is never changed. */
export interface Fact {
  kind: 'release' | 'withdrawal' | 'drop' | 'keys' | 'public'
  at: Timestamp
  synthetic?: boolean
  /** Earlier facts no longer count. */
  starts_chain?: boolean
  /** New entries of the index. */
  entries?: readonly ReleaseEntry[]
  /** The releases that are withdrawn, also one that this fact adds. */
  withdrawn?: { releases: readonly ReleaseName[]; withdrawal: Withdrawal; is_erased: boolean }
  /** The releases whose data files go. */
  dropped?: readonly ReleaseName[]
  events?: readonly DatasetEvent[]
  /** Undefined if the same release stays current. */
  coverage?: CoverageChange | undefined
  restatements?: readonly Restatement[]
  /** Revisions that only withdrawn releases had, as paths without an ending: `daily/2026-11-19/r1`. */
  removed?: readonly string[]
}

export const LISTS = ['days', 'months', 'weekly', 'monthly'] as const
export type List = (typeof LISTS)[number]
export type CoverageEntry = NonNullable<Coverage[List]>[number]

/** The difference between two coverages: changed and removed entries. */
export interface CoverageChange extends Omit<Coverage, List> {
  lists: Partial<Record<List, { changed: readonly CoverageEntry[]; gone: readonly string[] }>>
}

/** The name of an entry within its list. */
export function nameOf(entry: CoverageEntry): string {
  return 'month' in entry ? entry.month : entry.date
}

export function coverageChange(before: Coverage | undefined, after: Coverage): CoverageChange {
  const { days, months, weekly, monthly, ...head } = after
  const own = { days, months, weekly, monthly }
  const changes = LISTS.flatMap((list) => {
    const entries: readonly CoverageEntry[] | undefined = own[list]
    if (entries === undefined) return []
    const known = new Map((before?.[list] ?? []).map((entry: CoverageEntry) => [nameOf(entry), JSON.stringify(entry)]))
    const changed = entries.filter((entry) => known.get(nameOf(entry)) !== JSON.stringify(entry))
    const names = new Set(entries.map(nameOf))
    return [[list, { changed, gone: [...known.keys()].filter((name) => !names.has(name)) }] as const]
  })
  return { ...head, lists: Object.fromEntries(changes) }
}

/** A revision of a day or month that a fact made. */
export interface MadeRevision extends Period {
  /** `daily/2026-11-19`, and `daily/2026-11-19/r1`. */
  place: string
  path: string
  revision: number
  hash: ContentHash
  release: ReleaseName
}

function periodsIn({ coverage }: Fact) {
  if (coverage === undefined) return []
  const { days, months } = coverage.lists
  const changed = { days: days?.changed ?? [], months: months?.changed ?? [] } as Pick<Coverage, 'days' | 'months'>
  return periodsOf(changed).map((each) => ({ ...each, place: placeOf(each) }))
}

/** The revisions that facts made, each once. */
export function madeBy(facts: readonly Fact[]): MadeRevision[] {
  const made = facts.flatMap(periodsIn).flatMap((each): [string, MadeRevision][] => {
    const { folder, name, place, revision, content_hash: hash, release } = each
    if (revision === null || hash === null || release === null) return []
    const path = `${place}/r${revision}`
    return [[path, { folder, name, place, path, revision, hash, release }]]
  })
  return [...new Map(made).values()]
}

export function removedBy(facts: readonly Fact[]): Set<string> {
  return new Set(facts.flatMap(({ removed = [] }) => removed))
}

/** The revisions that none of some releases has, as paths without an ending, but for those that were removed. */
export function orphans(facts: readonly Fact[], standing: readonly ReleaseName[]): string[] {
  const now = new Map<string, ContentHash | null>()
  const held = new Set<string>()
  for (const fact of facts) {
    for (const { place, content_hash } of periodsIn(fact)) now.set(place, content_hash)
    if (!standing.includes(fact.coverage?.release ?? '')) continue
    for (const [place, hash] of now) held.add(`${place} ${hash}`)
  }
  const removed = removedBy(facts)
  const left = madeBy(facts).filter(({ path, place, hash }) => !removed.has(path) && !held.has(`${place} ${hash}`))
  return left.map(({ path }) => path)
}

/** The facts of the newest chain. */
export function lastChain(facts: readonly Fact[]): readonly Fact[] {
  const start = facts.findLastIndex(({ starts_chain }) => starts_chain)
  return facts.slice(Math.max(0, start))
}
