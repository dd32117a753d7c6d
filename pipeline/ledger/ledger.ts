import { hash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { type Files, namesIn, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { PRIVACY, type ReleaseEntry } from '../contract/manifest.ts'
import { withdrawnEntry } from '../release/index.ts'
import {
  type CoverageChange,
  type CoverageEntry,
  type Fact,
  LISTS,
  type List,
  lastChain,
  nameOf,
  removedBy,
} from './fact.ts'
import { fold, type PublicLists, UNPUBLISHED } from './fold.ts'

/** The version of the form of facts. */
const FORM = 1

/**
 * What was published, as facts in `DATA_DIR/ledger`: one file for each, which is never changed. Only a withdrawal for privacy
 * writes them again, without what it erases, as the next generation of the folder. Every fact has the hash of the file before
 * it, so a lost or changed one shows.
 */
export class Ledger {
  readonly folder: string
  readonly #files: Files
  #generation: number
  #facts: Fact[] = []
  #hash: string | null = null
  #startsChain = false
  now: PublicLists = UNPUBLISHED

  private constructor(folder: string, generation: number, files: Files) {
    this.folder = folder
    this.#generation = generation
    this.#files = files
  }

  /** Throws `BuildError` if a fact is lost or was changed. */
  static async open(dataDir: string, files: Files): Promise<Ledger> {
    const folder = join(dataDir, 'ledger')
    const ledger = new Ledger(folder, Math.max(1, ...(await generationsIn(folder))), files)
    for (const name of (await namesIn(ledger.#place)).filter((each) => /^\d{6}\.json$/.test(each)).sort()) {
      const path = join(ledger.#place, name)
      const text = (await readTextIfAny(path)) ?? ''
      const { form, previous, ...fact } = (jsonIfAny(text) ?? {}) as Partial<Kept> & Fact
      if (form !== FORM || previous !== ledger.#hash || name !== ledger.#nextName) {
        throw new BuildError(
          `${path} does not follow from the fact before it: one was lost or changed; restore ${folder} from a backup`,
        )
      }
      ledger.#facts.push(fact)
      ledger.#hash = hash('sha256', text)
    }
    ledger.now = fold(UNPUBLISHED, ledger.#facts)
    return ledger
  }

  get isEmpty(): boolean {
    return this.#facts.length === 0
  }

  /** Whether the newest chain is the sample's. */
  get isSynthetic(): boolean {
    return this.facts.some(({ synthetic }) => synthetic)
  }

  /** Has the next fact begin a chain: earlier facts no longer count. */
  startChain(): void {
    this.#startsChain = !this.isEmpty
    this.now = UNPUBLISHED
  }

  /** The facts of the chain that is published. */
  get facts(): readonly Fact[] {
    return this.#startsChain ? [] : lastChain(this.#facts)
  }

  /** The last fact that is not of keys alone: a stopped command may have to publish what follows from it. */
  get last(): Fact | undefined {
    return this.#facts.findLast(({ kind }) => kind !== 'keys')
  }

  /** The hashes of all index entries, also those of chains that ended. */
  get entries(): ReadonlyMap<string, string> {
    return new Map(this.#facts.flatMap(({ entries = [] }) => entries.map(({ hash: own, release }) => [own, release])))
  }

  /** From here on, the fact is true: the next command publishes what follows from it, if this one is stopped. */
  async append(given: Fact): Promise<void> {
    const fact = this.#startsChain ? { ...given, starts_chain: true } : given
    if (fact.withdrawn?.is_erased === true) {
      await this.replace([...withoutErased(this.#facts, fact, fold(this.now, [fact])), fact])
    } else {
      await this.#files.makeFolder(this.folder, true)
      await this.#files.makeFolder(this.#place, true)
      await replaceFile(this.#files, join(this.#place, this.#nextName), this.#add(fact), { isPrivate: true })
      // A power cut must not lose a new folder and keep what follows from its first fact.
      if (this.#facts.length === 1)
        for (const each of [this.folder, dirname(this.folder)]) await this.#files.flush(each)
      this.now = fold(this.now, [fact])
    }
    this.#startsChain = false
  }

  /** Writes the next generation, which takes the place of the current one by one rename. */
  async replace(facts: readonly Fact[]): Promise<void> {
    if (!this.isEmpty) this.#generation += 1
    const next = `${this.#place}.next`
    this.#facts = []
    this.#hash = null
    await this.#files.remove(next)
    await this.#files.makeFolder(this.folder, true)
    await this.#files.makeFolder(next, true)
    for (const fact of facts) await this.#files.write(join(next, this.#nextName), this.#add(fact), true)
    await this.#files.flush(next)
    await this.#files.rename(next, this.#place)
    await this.#files.flush(dirname(this.folder))
    await this.tidy()
    this.now = fold(UNPUBLISHED, this.#facts)
  }

  /** Removes what a stopped withdrawal left. */
  async tidy(): Promise<void> {
    for (const name of await namesIn(this.folder)) {
      if (name !== `generation-${this.#generation}`) await this.#files.remove(join(this.folder, name))
    }
  }

  /** Adds a fact, and returns the text of its file. */
  #add(fact: Fact): string {
    const text = `${JSON.stringify({ form: FORM, previous: this.#hash, ...fact } satisfies Kept & Fact)}\n`
    this.#hash = hash('sha256', text)
    this.#facts.push(fact)
    return text
  }

  get #place(): string {
    return join(this.folder, `generation-${this.#generation}`)
  }

  get #nextName(): string {
    return `${String(this.#facts.length + 1).padStart(6, '0')}.json`
  }
}

/** What a file has beside its fact: the form, and the SHA-256 of the file before it. */
interface Kept {
  form: number
  previous: string | null
}

async function generationsIn(folder: string): Promise<number[]> {
  return (await namesIn(folder)).flatMap((name) => (/^generation-\d+$/.test(name) ? Number(name.slice(11)) : []))
}

/**
 * The facts before a withdrawal for privacy, without hashes and numbers that only the withdrawn releases had. Of chains that
 * ended, the names and hashes of releases stay.
 */
function withoutErased(all: readonly Fact[], last: Fact, { index, coverage, restatements }: PublicLists): Fact[] {
  const facts = lastChain(all)
  const names = new Set(last.withdrawn?.releases)
  const erased = new Map(index.releases.map((entry) => [entry.hash, entry]))
  const removed = removedBy([...facts, last])
  const ranked = new Set([coverage?.weekly, coverage?.monthly].flatMap((list) => list?.map(textOf) ?? []))
  const kept = new Set(restatements.restatements.map(({ id }) => id))
  const isKept = (list: List, entry: CoverageEntry) => {
    if (!('revision' in entry)) return ranked.has(textOf(entry))
    return !removed.has(`${list === 'days' ? 'daily' : 'monthly'}/${nameOf(entry)}/r${entry.revision}`)
  }
  const blanked = (change: CoverageChange): CoverageChange => {
    const lists = LISTS.flatMap((list) => {
      const { changed, gone } = change.lists[list] ?? {}
      if (changed === undefined || gone === undefined) return []
      return [[list, { gone, changed: changed.map((entry) => (isKept(list, entry) ? entry : blank(entry))) }] as const]
    })
    return { ...change, lists: Object.fromEntries(lists) }
  }
  const ended = all.slice(0, all.length - facts.length).map(({ kind, at, starts_chain, entries = [] }): Fact => {
    const blankOf = (entry: ReleaseEntry) => withdrawnEntry(entry, { withdrawn_at: last.at, reason: PRIVACY }, true)
    return { kind, at, ...(starts_chain && { starts_chain }), entries: entries.map(blankOf) }
  })
  const own = facts.map(({ entries, coverage: change, restatements: stated, ...fact }) => ({
    ...fact,
    ...(entries && {
      entries: entries.map((entry) => (names.has(entry.release) ? (erased.get(entry.hash) ?? entry) : entry)),
    }),
    ...(change && { coverage: blanked(change) }),
    ...(stated && { restatements: stated.filter(({ id }) => kept.has(id)) }),
  }))
  return [...ended, ...own]
}

const textOf = (entry: CoverageEntry) => JSON.stringify(entry)

/** What is left of an entry that no release has any more: its name and revision. */
function blank(entry: CoverageEntry): CoverageEntry {
  return { ...entry, rows: 0, total_tokens: '0', content_hash: null } as CoverageEntry
}
