import { z } from 'zod'
import { AsOf } from '../../pipeline/contract/as-of.ts'
import { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { RankingResponse, RankingRow, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
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
