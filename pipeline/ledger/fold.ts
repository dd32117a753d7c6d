import type { DatasetEvent, EventChain } from '../contract/events.ts'
import type { Coverage, Restatement, Restatements } from '../contract/ledger.ts'
import type { ReleaseEntry, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { NO_EVENTS } from '../release/events.ts'
import { EMPTY_INDEX, withdrawnEntry, withStatus } from '../release/index.ts'
import { NO_RESTATEMENTS } from '../release/ledger.ts'
import { type CoverageChange, type CoverageEntry, type Fact, LISTS, lastChain, nameOf } from './fact.ts'

/** The public lists that follow from facts. */
export interface PublicLists {
  index: ReleaseIndex
  events: EventChain
  /** Undefined without any release. */
  coverage: Coverage | undefined
  restatements: Restatements
}

export const UNPUBLISHED: PublicLists = {
  index: EMPTY_INDEX,
  events: NO_EVENTS,
  coverage: undefined,
  restatements: NO_RESTATEMENTS,
}

/** What is published after more facts. */
export function fold(published: PublicLists, facts: readonly Fact[]): PublicLists {
  const chain = lastChain(facts)
  const lists = new Lists(chain[0]?.starts_chain ? UNPUBLISHED : published)
  for (const fact of chain) lists.add(fact)
  return lists.published()
}

class Lists {
  readonly #releases: Map<ReleaseName, ReleaseEntry>
  readonly #events: DatasetEvent[]
  readonly #restatements: Map<ReleaseName, Restatement>
  readonly #covered = new Map<string, Map<string, CoverageEntry>>()
  #head: Omit<CoverageChange, 'lists'> | undefined

  constructor({ index, events, coverage, restatements }: PublicLists) {
    this.#releases = new Map(index.releases.map((entry) => [entry.release, entry]))
    this.#events = [...events.events]
    this.#restatements = new Map(restatements.restatements.map((each) => [each.release, each]))
    if (coverage === undefined) return
    const { days, months, weekly, monthly, ...head } = coverage
    this.#head = head
    for (const list of LISTS) {
      const entries: readonly CoverageEntry[] | undefined = coverage[list]
      if (entries !== undefined) this.#covered.set(list, new Map(entries.map((entry) => [nameOf(entry), entry])))
    }
  }

  add({ entries = [], withdrawn, dropped = [], events = [], coverage, restatements = [] }: Fact): void {
    for (const entry of entries) this.#releases.set(entry.release, entry)
    for (const name of withdrawn?.releases ?? []) {
      const entry = this.#releases.get(name)
      if (entry === undefined || withdrawn === undefined) continue
      this.#releases.set(name, withdrawnEntry(entry, withdrawn.withdrawal, withdrawn.is_erased))
      // What it restated has the numbers of dates.
      if (withdrawn.is_erased) this.#restatements.delete(name)
    }
    if (withdrawn !== undefined) this.#restoreCurrent()
    for (const name of dropped) {
      const entry = this.#releases.get(name)
      if (entry !== undefined) this.#releases.set(name, { ...entry, dropped: true })
    }
    this.#events.push(...events)
    for (const restatement of restatements) this.#restatements.set(restatement.release, restatement)
    if (coverage !== undefined) this.#cover(coverage)
  }

  /** A dropped release that becomes current gets its data files back. */
  #restoreCurrent(): void {
    const current = [...this.#releases.values()].findLast(({ status }) => status !== 'withdrawn')
    if (current === undefined) return
    const { dropped: _, ...entry } = current
    this.#releases.set(current.release, entry)
  }

  #cover({ lists, ...head }: CoverageChange): void {
    this.#head = head
    for (const list of LISTS) {
      const change = lists[list]
      const entries = this.#covered.get(list) ?? new Map<string, CoverageEntry>()
      if (change === undefined) this.#covered.delete(list)
      else this.#covered.set(list, entries)
      for (const name of change?.gone ?? []) entries.delete(name)
      for (const entry of change?.changed ?? []) entries.set(nameOf(entry), entry)
    }
  }

  published(): PublicLists {
    const sorted = [...this.#covered].map(([list, entries]) => [
      list,
      [...entries].sort(byName).map(([, each]) => each),
    ])
    return {
      index: withStatus({ ...EMPTY_INDEX, releases: [...this.#releases.values()] }),
      events: { ...NO_EVENTS, events: this.#events },
      coverage: this.#head && ({ ...this.#head, ...Object.fromEntries(sorted) } as Coverage),
      restatements: { ...NO_RESTATEMENTS, restatements: [...this.#restatements.values()] },
    }
  }
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
