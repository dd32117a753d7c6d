import { z } from 'zod'
import { ChangeRow } from '../../pipeline/contract/change-log.ts'
import { LatestPointer } from '../../pipeline/contract/manifest.ts'
import { DATASET_VERSION, RankingRow } from '../../pipeline/contract/ranking.ts'
import { PeriodRow } from '../../pipeline/contract/tables.ts'
import { Period } from './rankings.ts'

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
