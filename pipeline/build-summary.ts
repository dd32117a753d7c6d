import type { DataVersion, ManifestDraft, ReleaseName } from './contract/manifest.ts'
import { type RankingRow, sumTokens, type Timestamp } from './contract/ranking.ts'
import type { RestatementReason } from './contract/reason.ts'
import type { UtcDate } from './contract/utc-date.ts'
import type { Changes } from './dataset/changes.ts'
import { toWarning, type Warning } from './dataset/checks.ts'
import type { PublishedShare } from './dataset/published-share.ts'
import type { SourceWithoutIds } from './dataset/quality.ts'
import type { RecordCounts } from './dataset/records.ts'
import type { Restated } from './dataset/restated.ts'
import type { ReleaseDraft } from './publication/release-draft.ts'
import type { PublishedFacts } from './publication/size.ts'
import { type DisclosureSummary, disclosureSummary } from './release/disclosed.ts'
import type { MeasuredRisk } from './rollup/disclosure-report.ts'

/**
 * What a build did, or would do. For `unchanged` the facts are those of the release that stays current. Only a dry run
 * sets `changes`, and it sets no facts of the public folder.
 */
export interface BuildSummary extends Partial<PublishedFacts> {
  outcome: 'released' | 'unchanged' | 'would_release'
  release: string
  as_of: Timestamp
  synthetic: boolean
  start_date: UtcDate
  end_date: UtcDate
  days: number
  models: number
  rows: number
  total_tokens: string
  content_hash: string
  records: RecordCounts
  published_share: PublishedShare
  /** What the default rule would let through, if records have contributors and no rule is in force. */
  disclosure?: MeasuredRisk
  /** What the rule in force did. Private. */
  disclosure_rule?: DisclosureSummary
  sources_without_request_id: SourceWithoutIds[]
  warnings: Warning[]
  changes?: Changes
  /** Rows of the newest date. Only a dry run sets it. */
  newest_rows?: RankingRow[]
  /** The version of the release that was or would be made. */
  data_version?: DataVersion | undefined
  /** Changed dates, weeks and months that were final in the previous release, and the published reason. */
  restated?: Restated & { reason: RestatementReason }
  /** Older releases whose data files went, or would go. The history has their rows. */
  dropped?: ReleaseName[]
  /** For the first release of a new chain: the releases it replaces, and the folder that keeps their files, if any. */
  new_chain?: { replaced: ReleaseName[]; kept_in: string | null }
  path: string
}

export function summarize(
  outcome: BuildSummary['outcome'],
  facts: ManifestDraft,
  { ranking, records, account, share, findings, disclosure, disclosed }: ReleaseDraft,
  path: string,
): BuildSummary {
  const { release, as_of, synthetic, start_date, end_date, days, rows, content_hash } = facts
  return {
    outcome,
    release,
    as_of,
    synthetic,
    start_date,
    end_date,
    days,
    models: ranking.models,
    rows,
    total_tokens: sumTokens(ranking.rows).toString(),
    content_hash,
    records,
    published_share: share.published,
    ...(disclosure && { disclosure }),
    ...(disclosed && { disclosure_rule: disclosureSummary(disclosed, facts.release) }),
    sources_without_request_id: account.sourcesWithoutIds,
    warnings: findings.map(toWarning),
    path,
  }
}
