import { bandOf, type DisclosureSettings, type Protection, type RuleStatement } from '../contract/disclosure.ts'
import type { DisclosureFile } from '../contract/disclosure-file.ts'
import type { ManifestDraft, ReleaseName } from '../contract/manifest.ts'
import type { Ranking, RuledRanking } from '../dataset/rank.ts'
import type { Sources } from '../raw/sources.ts'
import { heldSince, toPeriods } from './disclosure-file.ts'
import type { PublishedDate, PublishedDates } from './published-dates.ts'

/** What is published under a rule, with the dates that are published first. */
export interface Disclosed {
  statement: RuleStatement
  /** Published dates, in order. */
  dates: readonly PublishedDate[]
  ruled: RuledRanking
}

/** Describes a ranking under a rule. Undefined without a rule. */
export function disclose(
  { setting, dates: known }: { setting: Sources['disclosure']; dates: PublishedDates | undefined },
  protection: Protection,
  { rows, ruled, splits }: Pick<Ranking, 'rows' | 'ruled' | 'splits'>,
  release: ReleaseName,
): Disclosed | undefined {
  if (setting === undefined || setting === 'none' || ruled === undefined) return undefined
  const before = new Map(known?.all.map((each) => [each.date, each]))
  const dates = [...Map.groupBy(rows, ({ date }) => date)].map(([date, own]): PublishedDate => {
    const joined_cells = ruled.joined_cells.get(date) ?? 0
    const split = splits.get(date)
    const rows = own.map(({ date: _, ...row }) => row)
    return before.get(date) ?? { date, release, rule: setting, joined_cells, rows, split }
  })
  const since = heldSince(toPeriods(dates), setting)
  return { statement: { rule: setting, since, ...protection }, dates, ruled }
}

/** What a rule did, for the summary of a build. Private. */
export interface DisclosureSummary {
  rule: DisclosureSettings
  protects: Protection['protects']
  /** Published dates that keep the rows that they had before any rule. */
  dates_before_rule: number
  /** Dates that this release publishes first, and how many of their models joined `other` because of the rule. */
  new_dates: number
  joined_cells: number
  dates_not_published: number
  /** Published dates whose usage is another one today, which is not published. */
  late_dates: number
}

export function disclosureSummary(
  { statement: { rule, protects }, dates, ruled }: Disclosed,
  release: ReleaseName,
): DisclosureSummary {
  const own = dates.filter((each) => each.release === release && each.rule !== null)
  return {
    rule,
    protects,
    dates_before_rule: dates.filter((each) => each.rule === null).length,
    new_dates: own.length,
    joined_cells: own.reduce((sum, { joined_cells }) => sum + joined_cells, 0),
    dates_not_published: ruled.not_published.length,
    late_dates: ruled.late.length,
  }
}

/** The report for the maintainer alone: what joined `other`, what is not published, and what came late, by date. */
export function disclosureDetail({ statement, dates, ruled: { not_published, late } }: Disclosed): unknown {
  const joined = dates.filter(({ joined_cells }) => joined_cells > 0)
  return {
    ...statement,
    joined_cells: joined.map(({ date, joined_cells }) => ({ date, cells: joined_cells })),
    not_published,
    late,
  }
}

/** Why a rule leaves nothing to publish, and what to do. Undefined if there is no usage. */
export function nothingSafe(ruled: RuledRanking | undefined): string | undefined {
  if (ruled === undefined || ruled.not_published.length === 0) return undefined
  return (
    `no number up to ${ruled.last_date} is safe under the rule of "disclosure", so nothing was published; ` +
    '`tokenboard disclosure` (make disclosure) shows how far the numbers are from it'
  )
}

/** `disclosure.json` of a release under a rule. */
export function disclosureFile(draft: ManifestDraft, { statement, dates, ruled }: Disclosed): DisclosureFile {
  const { dataset, release, as_of, synthetic } = draft
  return {
    dataset,
    release,
    as_of,
    synthetic,
    ...statement,
    periods: toPeriods(dates),
    joined_cells: bandOf(dates.reduce((sum, { joined_cells }) => sum + joined_cells, 0)),
    dates_not_published: bandOf(ruled.not_published.length),
  }
}
