import { z } from 'zod'
import { AsOf } from '../../pipeline/contract/as-of.ts'
import { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { RankingResponse, RankingRow } from '../../pipeline/contract/ranking.ts'
import { PeriodRow, TABLE_OF } from '../../pipeline/contract/tables.ts'

/* Parameters of operations on the ranking. */

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

/** A row of an answer: of any table. */
export const RankingsRow = RankingRow.extend({
  days: PeriodRow.shape.days.optional().describe('Of weeks and months: how many published dates are summed.'),
})

/** The body of an answer in JSON. */
export const RankingsResponse = RankingResponse.extend({ data: z.array(RankingsRow) })
