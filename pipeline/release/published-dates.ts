import { createHmac } from 'node:crypto'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, parseJson } from '../base/json.ts'
import { DisclosureSettings } from '../contract/disclosure.ts'
import { ReleaseName } from '../contract/manifest.ts'
import { RankingRow, Timestamp } from '../contract/ranking.ts'
import { UtcDate } from '../contract/utc-date.ts'
import type { SplitOther } from '../dataset/frozen.ts'
import { LOST_DISCLOSURE } from '../dataset/looser-disclosure.ts'

/** A date that was published, or that was taken out for good. */
export const PublishedDate = z.strictObject({
  date: UtcDate,
  /** The release that published it first. */
  release: ReleaseName,
  /** Null if it was published without a rule. */
  rule: DisclosureSettings.nullable(),
  /** How many cells that a ranking without the rule would name joined `other`. */
  joined_cells: z.int().nonnegative(),
  rows: z.array(RankingRow.omit({ date: true })),
  /** Undefined for a date that was taken out. */
  split: z.strictObject({ atoms: z.array(RankingRow.omit({ date: true })), hidden: z.array(z.string()) }).optional(),
  /**
   * Set when the date was withdrawn, or when a rule began or the list was lost and only earlier releases had it: it has no
   * rows then, and is never published again.
   */
  withdrawn_at: Timestamp.optional(),
})
export type PublishedDate = z.infer<typeof PublishedDate>

const Head = z.strictObject({
  version: z.literal(1),
  /** By source, what said whose usage it is, at the last build under a rule. */
  sources: z.record(z.string(), z.string()).optional(),
  seal: z.string(),
})
type SourceFacts = NonNullable<z.infer<typeof Head>['sources']>

/**
 * The dates that were published, once a disclosure rule is in force: they are never published again with other rows
 * (docs/decisions/0026-ranking-under-a-rule.md). `DATA_DIR/disclosure/dates.ndjson` is no cache. A seal under a private
 * key shows changes by hand.
 */
export class PublishedDates {
  readonly path: string
  readonly #key: string
  readonly #dates: Map<UtcDate, PublishedDate>
  #isWritten = true
  #isSealed = false
  #sources: SourceFacts | undefined

  private constructor(path: string, key: string, dates: readonly PublishedDate[]) {
    this.path = path
    this.#key = key
    this.#dates = new Map(dates.map((each) => [each.date, each]))
  }

  /** The sample has a file of its own, so that it never meets the dates of real releases. */
  static pathIn(dataDir: string, synthetic = false): string {
    return join(dataDir, 'disclosure', synthetic ? 'sample-dates.ndjson' : 'dates.ndjson')
  }

  static empty(path: string, key: string): PublishedDates {
    return new PublishedDates(path, key, [])
  }

  /**
   * Reads the file; empty without one. Throws `BuildError` if it was changed by hand, or its key was, unless that is
   * accepted: then the next `write` seals it again.
   */
  static async open(path: string, key: string, { isAccepted = false } = {}): Promise<PublishedDates> {
    const text = await readTextIfAny(path)
    if (text === undefined) return PublishedDates.empty(path, key)
    const [first = '', ...lines] = text.split('\n').slice(0, -1)
    const head = Head.safeParse(jsonIfAny(first)).data
    const isSealed = head?.seal === sealOf(lines, head?.sources, key)
    if (!isSealed && !isAccepted) {
      throw new BuildError(`${path} was changed, or its secret was; ${remedy(path)}`)
    }
    const dates = lines.map((line, position) => parseJson(PublishedDate, line, `${path}:${position + 2}`, BuildError))
    const opened = new PublishedDates(path, key, dates)
    opened.#isWritten = isSealed
    opened.#isSealed = isSealed
    opened.#sources = head?.sources
    return opened
  }

  /** What said of each source whose usage it is, at the last build under a rule; undefined if none says. */
  get sources(): SourceFacts | undefined {
    return this.#sources
  }

  keepSources(sources: SourceFacts): void {
    if (isDeepStrictEqual(sources, this.#sources)) return
    this.#sources = sources
    this.#isWritten = false
  }

  /** Whether the file is there, and nobody changed it. */
  get isSealed(): boolean {
    return this.#isSealed
  }

  /** In order of date. */
  get all(): PublishedDate[] {
    return [...this.#dates.values()].sort((a, b) => (a.date < b.date ? -1 : 1))
  }

  has(date: UtcDate): boolean {
    return this.#dates.has(date)
  }

  /** The same without the dates that a release, or a later one, published first. */
  before(release: ReleaseName): PublishedDates {
    const dates = this.all.filter((each) => each.release < release)
    return new PublishedDates(this.path, this.#key, dates)
  }

  /** Adds dates that are not known yet. A known date keeps its rows. */
  add(dates: readonly PublishedDate[]): void {
    const unknown = dates.filter(({ date }) => !this.#dates.has(date))
    if (unknown.length > 0) this.replace(unknown)
  }

  /** Adds how `other` is split to dates that do not say it. */
  split(splits: ReadonlyMap<UtcDate, SplitOther>): void {
    const known = this.all.filter(({ date, rows, split }) => split === undefined && rows.length > 0 && splits.has(date))
    if (known.length === 0) return
    this.replace(known.map((each) => ({ ...each, split: splits.get(each.date) })))
  }

  /** Replaces known dates, for a withdrawal. */
  replace(dates: readonly PublishedDate[]): void {
    for (const each of dates) this.#dates.set(each.date, each)
    this.#isWritten = false
  }

  /** Lets dates be published again, for a withdrawal that does so. */
  forget(dates: readonly UtcDate[]): void {
    for (const date of dates) this.#dates.delete(date)
    this.#isWritten = false
  }

  /** Writes the file anew, if dates have changed. Readers see the old or the new one, whole. */
  async write(files: Files): Promise<void> {
    if (this.#isWritten) return
    const lines = this.all.map((each) => JSON.stringify(each))
    const sources = this.#sources
    const head = { version: 1, ...(sources && { sources }), seal: sealOf(lines, sources, this.#key) } as const
    await files.makeFolder(dirname(this.path), true)
    await replaceFile(
      files,
      this.path,
      `${[JSON.stringify(head satisfies z.infer<typeof Head>), ...lines].join('\n')}\n`,
      { isPrivate: true },
    )
    this.#isWritten = true
  }
}

/** What to do where the list cannot be trusted. */
export function remedy(path: string): string {
  return (
    `restore the folder ${dirname(path)} from a backup. If that is lost for good, go on with what the list and the current ` +
    `release say, with: tokenboard build --accept ${LOST_DISCLOSURE}`
  )
}

function sealOf(lines: readonly string[], sources: SourceFacts | undefined, key: string): string {
  const sealed = sources === undefined ? lines : [JSON.stringify(sources), ...lines]
  return createHmac('sha256', key).update(sealed.join('\n')).digest('hex')
}
