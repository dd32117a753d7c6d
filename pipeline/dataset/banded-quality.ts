import { type Band, bandOf } from '../contract/disclosure.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import { REJECT_REASONS, type RejectReason } from '../raw/records.ts'
import { PARTS_DISAGREEMENTS, type PartsDisagreement } from '../raw/schemas/schema.ts'
import type { Account } from './quality.ts'
import type { Ranking } from './rank.ts'
import type { RecordCounts } from './records.ts'

/**
 * `quality.json` under a disclosure rule: every count of records as a band, whether there are any or not, and nothing by
 * day (docs/decisions/0007-public-quality.md). Warnings name dates and stay private. Private usage is in no band.
 */
export interface BandedQuality extends Pick<ManifestDraft, 'dataset' | 'release' | 'as_of' | 'synthetic'> {
  records: {
    published: Band
    duplicates: Band
    left_out: Band
    archived_date: Band
    /** Of models that the registry does not know. */
    withheld: Band
    rejected: Record<RejectReason, Band>
    before_dataset_start: Band
    not_yet_complete: Band
    token_parts_disagree: Record<PartsDisagreement, Band>
  }
  /** How many published dates have other usage by now, which is not published. */
  late_dates: Band
}

export function bandedQuality(
  { dataset, release, as_of, synthetic }: ManifestDraft,
  { records, account, ranking }: { records: RecordCounts; account: Account; ranking: Pick<Ranking, 'ruled'> },
): BandedQuality {
  return {
    dataset,
    release,
    as_of,
    synthetic,
    records: {
      published: bandOf(records.published),
      duplicates: bandOf(records.duplicates),
      left_out: bandOf(records.left_out),
      archived_date: bandOf(records.archived_date),
      withheld: bandOf(account.records('withheld')),
      rejected: bandsOf(REJECT_REASONS, records.rejected),
      before_dataset_start: bandOf(records.before_dataset_start),
      not_yet_complete: bandOf(records.not_yet_complete),
      token_parts_disagree: bandsOf(PARTS_DISAGREEMENTS, account.disagreeing.ofPublicUsage),
    },
    late_dates: bandOf(ranking.ruled?.late.length ?? 0),
  }
}

function bandsOf<Reason extends string>(
  reasons: readonly Reason[],
  counts: Readonly<Record<string, number>>,
): Record<Reason, Band> {
  const bands = reasons.map((reason) => [reason, bandOf(counts[reason] ?? 0)] as const)
  return Object.fromEntries(bands) as Record<Reason, Band>
}
