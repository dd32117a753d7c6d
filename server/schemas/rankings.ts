import { z } from 'zod'
import { AsOf } from '../../pipeline/contract/as-of.ts'
import { ChangeRow } from '../../pipeline/contract/change-log.ts'
import { LatestPointer, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { DATASET_VERSION, RankingResponse, RankingRow, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
import { PeriodRow, TABLE_OF } from '../../pipeline/contract/tables.ts'

/* Parameters and answers of operations on the ranking. */

const PERIODS = Object.keys(TABLE_OF) as (keyof typeof TABLE_OF)[]

/** Which table: what a row of it sums. */
export const Period = z.enum(PERIODS, { error: `must be one of ${PERIODS.join(', ')}` })
export type Period = z.infer<typeof Period>

/** A release by its name, or the newest one at an instant. */
export const ReleaseOrInstant = z
  .string()
  .refine((text) => [ReleaseName, AsOf].some((schema) => schema.safeParse(text).success), {
    error:
      'must be the name of a release, such as 20261120T001200Z, or an instant in UTC, such as 2026-11-20T00:12:00Z',
  })
  .meta({ pattern: String.raw`^(\d{8}T\d{6}Z|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z)$` })

/** A row of an answer: of any table, with the columns that `fields` names besides. */
export const RankingsRow = RankingRow.extend({
  days: PeriodRow.shape.days.optional().meta({
    description: 'How many published dates are summed. In rows of weeks and months, and where `fields` names it.',
  }),
  rank: z
    .int()
    .min(1)
    .max(TOP_MODELS)
    .nullable()
    .optional()
    .meta({ description: 'The place among the models of the whole table on its date. null for `other`.' }),
  share: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: 'Of all tokens of the date or period, rounded half up to 6 decimals.' }),
  author: z.string().nullable().optional().meta({ description: 'null where it is unknown, and for `other`.' }),
  provisional: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the numbers may still change because of late logs.' }),
})

/** The body of an answer in JSON. */
export const RankingsResponse = RankingResponse.extend({
  data: z.array(RankingsRow),
  links: z
    .object({ next: z.string().nullable() })
    .optional()
    .meta({ description: 'With `limit` or `offset`: the path of the next page, null on the last one.' }),
  total_count: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'With `limit` or `offset`: how many rows there are in all.' }),
})

/** A row with the columns that `fields` names, in that order. */
export const SelectedRow = RankingsRow.partial()

/** The same body where `fields` leaves out columns that every row of a table has. */
export const RankingSelectionResponse = RankingsResponse.extend({ data: z.array(SelectedRow) })

/** How to turn a row of one release into that of another. What is not there is null. */
export const RankingChange = z.object({
  ...ChangeRow.pick({ op: true, date: true, model_permaslug: true }).shape,
  tokens_before: RankingRow.shape.total_tokens.nullable(),
  tokens_after: RankingRow.shape.total_tokens.nullable(),
  days_before: PeriodRow.shape.days.nullable().optional().describe('Only of weeks and months.'),
  days_after: PeriodRow.shape.days.nullable().optional().describe('Only of weeks and months.'),
})
export type RankingChange = z.infer<typeof RankingChange>

/** A release that was compared. The dates are those of the release, the hash is that of the table. */
export const ComparedRelease = LatestPointer.pick({
  release: true,
  as_of: true,
  start_date: true,
  end_date: true,
  content_hash: true,
})
export type ComparedRelease = z.infer<typeof ComparedRelease>

/** The body of `GET /datasets/rankings-daily/changes`. */
export const RankingChangesResponse = z.object({
  data: z.array(RankingChange),
  meta: z.object({
    from: ComparedRelease,
    to: ComparedRelease,
    period: Period,
    version: z.literal(DATASET_VERSION),
  }),
})
export type RankingChangesResponse = z.infer<typeof RankingChangesResponse>
