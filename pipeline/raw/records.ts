import type { UtcDate } from '../contract/utc-date.ts'
import type { NoteKind, PartsDisagreement } from './schemas/schema.ts'

/** Why a record cannot be used. `overlapping_bucket`: a wider bucket of the source has its usage too. */
export const REJECT_REASONS = [
  'malformed_record',
  'unreadable_document',
  'invalid_timestamp',
  'invalid_token_count',
  'invalid_model',
  'invalid_visibility',
  'overlapping_bucket',
] as const
export type RejectReason = (typeof REJECT_REASONS)[number]

/**
 * Why a record is excluded from the rollup. `left_out`: its schema says that no provider served it or that it repeats
 * others. `nothing_used`: it has no model and no tokens. `archived_date`: it came after its date was archived.
 */
export type ExclusionReason =
  | RejectReason
  | 'left_out'
  | 'nothing_used'
  | 'duplicate'
  | 'private'
  | 'withheld'
  | 'archived_date'

/** Records excluded for one reason. `date` is undefined if it cannot be read. */
export interface Excluded {
  source: string
  reason: ExclusionReason
  date: UtcDate | undefined
  model_permaslug: string | undefined
  records: bigint
  tokens: bigint
}

/** Rejected records of one raw file, for the maintainer alone: file names are never published. */
export interface RejectedInFile {
  source: string
  file: string
  reason: RejectReason
  records: bigint
  /** The range of implausible dates, if there are any. */
  misdated?: { first_date: UtcDate; last_date: UtcDate }
}

/** A file with documents that hold no records, not counting a last line that is still being written. */
export interface UnreadableFile {
  source: string
  file: string
  documents: number
}

/** Accepted records of a date and source by contradiction between their token counts. They still count. */
export interface ComparedRecords {
  source: string
  date: UtcDate
  reason: PartsDisagreement | null
  records: bigint
  public_records: bigint
  tokens: bigint
  /** Their tokens by the product's own totals; null if none of the records has one. */
  product_total: bigint | null
}

/** Accepted records of a source without a `request_id`, not counting missing files. */
export interface RecordsWithoutIds {
  source: string
  records: bigint
  accepted_records: bigint
}

/** A note on how records of a source were read (`Schema.notes`). */
export interface ReadingNote {
  source: string
  kind: NoteKind
  /** A provider, or a JSON list of keys. */
  name: string
  records: bigint
  tokens: string
}

/** What one API key used on one UTC date in one source, over all models and visibilities. */
export interface KeySpendRow {
  date: UtcDate
  api_key_hash: string
  is_byok: boolean
  cost_usd: string
  requests: bigint
  free_requests: bigint
}

/** A date of a source that this version cannot read again. */
export interface OldCounts {
  source: string
  date: UtcDate
  /** Otherwise its raw files are missing. */
  is_archived: boolean
}
