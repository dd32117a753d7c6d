import { createHmac } from 'node:crypto'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { DisclosureSettings } from '../contract/disclosure.ts'
import { ReleaseName } from '../contract/manifest.ts'
import { RankingRow, Timestamp } from '../contract/ranking.ts'
import { UtcDate } from '../contract/utc-date.ts'

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
  /** Set when the date was withdrawn: it has no rows then, and is never published again. */
  withdrawn_at: Timestamp.optional(),
})
export type PublishedDate = z.infer<typeof PublishedDate>

const Head = z.strictObject({ version: z.literal(1), synthetic: z.boolean(), seal: z.string() })

/**
 * The dates that were published, once a disclosure rule is in force: they are never published again with other rows
 * (DISCLOSURE.md § Dates are published once). `DATA_DIR/disclosure/dates.ndjson` is no cache. A seal under a private key
 * shows changes by hand.
 */
export class PublishedDates {
  readonly path: string
  readonly synthetic: boolean
  readonly #key: string
  readonly #dates: Map<UtcDate, PublishedDate>

  private constructor(
    path: string,
    { key, synthetic, dates }: { key: string; synthetic: boolean; dates: readonly PublishedDate[] },
  ) {
    this.path = path
    this.synthetic = synthetic
    this.#key = key
    this.#dates = new Map(dates.map((each) => [each.date, each]))
  }

  static pathIn(dataDir: string): string {
    return join(dataDir, 'disclosure/dates.ndjson')
  }

  /** Reads the file; empty without one. Throws `BuildError` if it was changed by hand, or its key was. */
  static async open(path: string, { key, synthetic }: { key: string; synthetic: boolean }): Promise<PublishedDates> {
    const text = await readTextIfAny(path)
    if (text === undefined) return new PublishedDates(path, { key, synthetic, dates: [] })
    const [first = '', ...lines] = text.split('\n').slice(0, -1)
    const head = parseJson(Head, first, path, BuildError)
    if (head.seal !== sealOf(lines, key)) {
      throw new BuildError(`${path} was changed, or its secret was; restore the folder ${dirname(path)} from a backup`)
    }
    const dates = lines.map((line, position) => parseJson(PublishedDate, line, `${path}:${position + 2}`, BuildError))
    return new PublishedDates(path, { key, synthetic: head.synthetic, dates })
  }

  /** In order of date. */
  get all(): PublishedDate[] {
    return [...this.#dates.values()].sort((a, b) => (a.date < b.date ? -1 : 1))
  }

  get isEmpty(): boolean {
    return this.#dates.size === 0
  }

  /** The same without the dates that a release, or a later one, published first. */
  before(release: ReleaseName): PublishedDates {
    const { path, synthetic } = this
    return new PublishedDates(path, {
      key: this.#key,
      synthetic,
      dates: this.all.filter((each) => each.release < release),
    })
  }

  /** Adds dates that are not known yet. A known date keeps its rows. */
  add(dates: readonly PublishedDate[]): void {
    for (const each of dates) if (!this.#dates.has(each.date)) this.#dates.set(each.date, each)
  }

  /** Replaces known dates, for a withdrawal. */
  replace(dates: readonly PublishedDate[]): void {
    for (const each of dates) this.#dates.set(each.date, each)
  }

  /** Lets dates be published again, for a withdrawal that does so. */
  forget(dates: readonly UtcDate[]): void {
    for (const date of dates) this.#dates.delete(date)
  }

  /** Writes the file anew. Readers see the old or the new one, whole. */
  async write(files: Files): Promise<void> {
    const lines = this.all.map((each) => JSON.stringify(each))
    const head = { version: 1, synthetic: this.synthetic, seal: sealOf(lines, this.#key) } as const
    await files.makeFolder(dirname(this.path))
    await replaceFile(
      files,
      this.path,
      `${[JSON.stringify(head satisfies z.infer<typeof Head>), ...lines].join('\n')}\n`,
    )
  }
}

function sealOf(lines: readonly string[], key: string): string {
  return createHmac('sha256', key).update(lines.join('\n')).digest('hex')
}
