import { z } from 'zod'
import { ContentHash, ReleaseName } from './manifest.ts'
import { RankingRow, Timestamp } from './ranking.ts'
import { RestatementNote, RestatementReason } from './reason.ts'
import { UtcDate } from './utc-date.ts'

/** `changes.csv` of a release: what to do to the rows of the release before it to get this one. */
export const ChangeRow = z.object({
  op: z.enum(['insert', 'update', 'delete']),
  date: UtcDate,
  model_permaslug: RankingRow.shape.model_permaslug,
  /** Empty where the release before has no such row. */
  tokens_before: z.literal('').or(RankingRow.shape.total_tokens),
  /** Empty where this release has no such row. */
  tokens_after: z.literal('').or(RankingRow.shape.total_tokens),
})
export type ChangeRow = z.infer<typeof ChangeRow>

/** The first line of `changes.csv`, with its line ending. */
export const CHANGES_CSV_HEADER = 'op,date,model_permaslug,tokens_before,tokens_after\n'

/** `2026-11`: a calendar month in UTC. */
export const UtcMonth = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/)
export type UtcMonth = z.infer<typeof UtcMonth>

const Tokens = RankingRow.shape.total_tokens

/**
 * What is published of a day or a month. `revision` counts from 1 and never goes back; it is null where nothing ever was
 * published. A period without rows has no hash, and `release` is the one that took its rows away.
 */
const Published = z.object({
  rows: z.int().nonnegative(),
  total_tokens: Tokens,
  revision: z.int().positive().nullable(),
  /** Of the canonical CSV of this period alone, header included: the bytes of its CSV file. */
  content_hash: ContentHash.nullable(),
  /** The release that made the revision. */
  release: ReleaseName.nullable(),
})
export type Published = z.infer<typeof Published>

/**
 * Why a date has no rows: no public usage was ever published of it, or a later release has taken it away. Private and
 * withheld usage reads the same as none.
 */
export const MissingReason = z.enum(['no_public_usage', 'removed'])

export const CoverageDay = z
  .object({
    date: UtcDate,
    status: z.enum(['final', 'provisional', 'missing']),
    /** Null unless the status is `missing`. */
    reason: MissingReason.nullable(),
  })
  .extend(Published.shape)
  .extend({
    /** Whether records of the date are counted as an earlier version of Tokenboard read them. Absent where not. */
    old_counts: z.literal(true).optional(),
  })
export type CoverageDay = z.infer<typeof CoverageDay>

export const CoverageMonth = z.object({ month: UtcMonth }).extend(Published.shape)
export type CoverageMonth = z.infer<typeof CoverageMonth>

/**
 * `coverage.json`: every date from the first to the last that was ever published, and every month with rows, as of one
 * release. Version 0.1.0 began at 2025-01-01, whatever the first date was.
 */
export const Coverage = z.object({
  dataset: z.literal('rankings-daily'),
  release: ReleaseName,
  as_of: Timestamp,
  start_date: UtcDate,
  end_date: UtcDate,
  provisional_from: UtcDate,
  days: z.array(CoverageDay),
  months: z.array(CoverageMonth),
})
export type Coverage = z.infer<typeof Coverage>

const Difference = z.object({
  rows_before: z.int().nonnegative(),
  rows_after: z.int().nonnegative(),
  tokens_before: Tokens,
  tokens_after: Tokens,
})

/** One release that changed dates which the release before it had published as final (DESIGN.md §6.11). */
export const Restatement = z
  .object({
    /** `restatement-<release>`: stable, and in the order of time. */
    id: z.string(),
    release: ReleaseName,
    as_of: Timestamp,
    reason: RestatementReason,
    note: RestatementNote.nullable(),
  })
  .extend(Difference.shape)
  .extend({ dates: z.array(z.object({ date: UtcDate }).extend(Difference.shape)).min(1) })
export type Restatement = z.infer<typeof Restatement>

/** `restatements.json`: oldest first. */
export const Restatements = z.object({
  dataset: z.literal('rankings-daily'),
  restatements: z.array(Restatement),
})
export type Restatements = z.infer<typeof Restatements>
