import { z } from 'zod'
import { UtcDate } from './utc-date.ts'

/** How many models a date names; the rest are summed (docs/specification.md, The ranking). */
export const TOP_MODELS = 50

/** The slug of the row that sums all public models outside the top 50. No model may have it. */
export const OTHER = 'other'

/** The version of the published format: `meta.version` of every response. */
export const DATASET_VERSION = 'v1'

/** An instant in ISO 8601, UTC, whole seconds. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ format: 'date-time', examples: ['2026-11-20T00:12:00Z'] })
export type Timestamp = z.infer<typeof Timestamp>

/** Tokens of one model on one UTC date, as decimal text because a day may exceed 2^53. */
export const RankingRow = z.object({
  date: UtcDate,
  model_permaslug: z.string().min(1),
  total_tokens: z.string().regex(/^(0|[1-9]\d*)$/, { error: 'must be decimal digits' }),
})
export type RankingRow = z.infer<typeof RankingRow>

/** A row of any table as JSON: the same bytes in API responses and in published files. */
export function rowJson({
  date,
  model_permaslug,
  total_tokens,
  days,
}: RankingRow & { days?: number | undefined }): string {
  return JSON.stringify({ date, model_permaslug, total_tokens, days })
}

/** When the dataset was generated, and the resolved window. */
export const RankingMeta = z.object({
  as_of: Timestamp,
  start_date: UtcDate,
  end_date: UtcDate,
  version: z.literal(DATASET_VERSION),
})
export type RankingMeta = z.infer<typeof RankingMeta>

/** The body of `GET /datasets/rankings-daily` and of a release's JSON file. */
export const RankingResponse = z.object({ data: z.array(RankingRow), meta: RankingMeta })
export type RankingResponse = z.infer<typeof RankingResponse>

/** Formats an instant as `Timestamp`. Fractions of a second are cut off. */
export function toTimestamp(instant: Date): Timestamp {
  return `${instant.toISOString().slice(0, 19)}Z`
}

export function sumTokens(rows: readonly Pick<RankingRow, 'total_tokens'>[]): bigint {
  return rows.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
}

/** The rows from a date on, of rows in published order. */
export function rowsSince<Row extends Pick<RankingRow, 'date'>>(rows: readonly Row[], first: UtcDate): Row[] {
  return rows.slice(rows.findLastIndex(({ date }) => date < first) + 1)
}
