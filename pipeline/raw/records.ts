import type { UtcDate } from '../contract/utc-date.ts'
import type { NoteKind, PartsDisagreement } from './schemas/schema.ts'

/** Why a record was read and cannot be used (DESIGN.md §6). */
export const REJECT_REASONS = [
  'malformed_record',
  'invalid_timestamp',
  'invalid_token_count',
  'invalid_model',
  'invalid_visibility',
] as const
export type RejectReason = (typeof REJECT_REASONS)[number]

/**
 * Why records were read and are not part of the rollup. `left_out`: by the rules of its schema, no provider served the
 * record, or it repeats others. `archived_date`: it came when its date had been archived.
 */
export type SetAsideReason = RejectReason | 'left_out' | 'duplicate' | 'private' | 'withheld' | 'archived_date'

/** Records that were set aside, for one reason. `date` is absent where the record has none that can be read. */
export interface SetAside {
  source: string
  reason: SetAsideReason
  date: UtcDate | undefined
  model_permaslug: string | undefined
  records: bigint
  tokens: bigint
}

/** Rejected records of one raw file, for the maintainer alone: the name of a file is never published. */
export interface RejectedInFile {
  source: string
  file: string
  reason: RejectReason
  records: bigint
  /** Where the dates of some of them cannot be right (DESIGN.md §6.10), the first and the last of these dates. */
  misdated?: { first_date: UtcDate; last_date: UtcDate }
}

/** Accepted records of a date and source by why their token counts contradict each other: they count all the same. */
export interface ComparedRecords {
  source: string
  date: UtcDate
  /** `null` for records that contradict nothing. */
  reason: PartsDisagreement | null
  records: bigint
  /** Those of them that are public usage. */
  public_records: bigint
}

/** Accepted records of a source that have no `request_id`, of all that it has. Files that are gone are left out. */
export interface RecordsWithoutIds {
  source: string
  records: bigint
  accepted_records: bigint
}

/** What a maintainer should know of how the records of a source were read (`Schema.notes`). */
export interface ReadingNote {
  source: string
  kind: NoteKind
  /** What it is about: a provider, or a JSON list of keys. */
  name: string
  records: bigint
  tokens: string
}

/** What one API key used on one UTC date in one source, whatever the model, its visibility and the date. */
export interface KeyUsageRow {
  date: UtcDate
  /** SHA-256 of the key in lower-case hex. */
  api_key_hash: string
  /** Whether the requests went to a provider with a key of the user's own. */
  is_byok: boolean
  /** Exact decimal text. */
  cost_usd: string
  requests: bigint
  /** Those of `requests` that went to a `:free` variant. */
  free_requests: bigint
}

/** A date of a source that cannot be read again by the version that builds. */
export interface OldCounts {
  source: string
  date: UtcDate
  /** Whether that is because the date is archived; otherwise its raw files are missing. */
  is_archived: boolean
}
