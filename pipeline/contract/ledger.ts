import { z } from 'zod'
import { ContentHash, ReleaseName } from './manifest.ts'
import { RankingRow, Timestamp } from './ranking.ts'
import { RestatementNote, RestatementReason } from './reason.ts'
import { PERIOD_TABLES, PeriodRow } from './tables.ts'
import { UtcDate } from './utc-date.ts'

/** A calendar month in UTC, such as `2026-11`. */
export const UtcMonth = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/)
export type UtcMonth = z.infer<typeof UtcMonth>

const Tokens = RankingRow.shape.total_tokens

/** What is published of a day or month. Without rows it has no hash, and `release` is the one that removed them. */
const Published = z.object({
  rows: z.int().nonnegative(),
  total_tokens: Tokens,
  revision: z.int().positive().nullable(),
  /** SHA-256 of the period's CSV file: the canonical CSV of these rows, with the header. */
  content_hash: ContentHash.nullable(),
  /** The release that made this revision; null like `revision` if the period was never published. */
  release: ReleaseName.nullable(),
})
export type Published = z.infer<typeof Published>

/** Why a date has no rows. Private and withheld usage looks like no usage; under a disclosure rule, so does unsafe usage. */
const MissingReason = z.enum(['no_public_usage', 'removed', 'not_published'])

export const CoverageDay = z
  .object({
    date: UtcDate,
    status: z.enum(['final', 'provisional', 'missing']),
    reason: MissingReason.nullable(),
  })
  .extend(Published.shape)
  .extend({
    /** Set if some records of the date are counted as an earlier version of Tokenboard read them. */
    old_counts: z.literal(true).optional(),
  })
export type CoverageDay = z.infer<typeof CoverageDay>

export const CoverageMonth = z.object({ month: UtcMonth }).extend(Published.shape)
export type CoverageMonth = z.infer<typeof CoverageMonth>

/** The rows of a week or month in the current release. */
export const CoveredPeriod = z.object({
  /** The first date of the week or month: that of its rows. */
  date: UtcDate,
  status: z.enum(['final', 'provisional']),
  days: PeriodRow.shape.days,
  rows: z.int().positive(),
  total_tokens: Tokens,
  /** SHA-256 of the canonical CSV of these rows, with the header. */
  content_hash: ContentHash,
  /** The release that first had these rows. */
  release: ReleaseName,
})
export type CoveredPeriod = z.infer<typeof CoveredPeriod>

/** `coverage.json`: every date and month up to one release. */
export const Coverage = z.object({
  dataset: z.literal('rankings-daily'),
  release: ReleaseName,
  as_of: Timestamp,
  start_date: UtcDate,
  end_date: UtcDate,
  provisional_from: UtcDate,
  days: z.array(CoverageDay),
  months: z.array(CoverageMonth),
  /** The weeks and months that the current release ranks, if it has these tables. */
  weekly: z.array(CoveredPeriod).optional(),
  monthly: z.array(CoveredPeriod).optional(),
})
export type Coverage = z.infer<typeof Coverage>

const Difference = z.object({
  rows_before: z.int().nonnegative(),
  rows_after: z.int().nonnegative(),
  tokens_before: Tokens,
  tokens_after: Tokens,
})

/** A changed week or month that was final. */
export const RestatedPeriod = z.object({ table: z.enum(PERIOD_TABLES), date: UtcDate }).extend(Difference.shape)
export type RestatedPeriod = z.infer<typeof RestatedPeriod>

/** A release that changed what the previous release had published as final. The sums are of `dates`. */
export const Restatement = z
  .object({
    id: z.string(),
    release: ReleaseName,
    as_of: Timestamp,
    reason: RestatementReason,
    note: RestatementNote.nullable(),
  })
  .extend(Difference.shape)
  .extend({
    /** Empty if models outside the top 50 changed weeks or months alone. */
    dates: z.array(z.object({ date: UtcDate }).extend(Difference.shape)),
    periods: z.array(RestatedPeriod).min(1).optional(),
  })
  .refine(({ dates, periods }) => dates.length > 0 || periods !== undefined, {
    path: ['dates'],
    error: 'must have a date, unless weeks or months changed alone',
  })
export type Restatement = z.infer<typeof Restatement>

/** `restatements.json`: oldest first. */
export const Restatements = z.object({
  dataset: z.literal('rankings-daily'),
  restatements: z.array(Restatement),
})
export type Restatements = z.infer<typeof Restatements>
