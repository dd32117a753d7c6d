import { z } from 'zod'
import { RankingRow } from './ranking.ts'
import { UtcDate } from './utc-date.ts'

/**
 * One row of `models.csv`: what a release tells of a model that it names. All but name, author and aliases follow from
 * the rows of the release.
 */
export const ModelFacts = z.object({
  model_permaslug: RankingRow.shape.model_permaslug,
  /** From the registry; empty where it has none. */
  name: z.string(),
  author: z.string(),
  /** Other names that the registry lists for the model, in code point order. */
  aliases: z.array(z.string()),
  first_date: UtcDate,
  last_date: UtcDate,
  /** On how many dates the model is among those named. */
  days: z.int().positive(),
  /** 1 is the model with the most tokens of a date. */
  best_rank: z.int().positive(),
  /** The first date on which it had this rank. */
  best_rank_date: UtcDate,
  /** The sum over all dates that name it. */
  total_tokens: RankingRow.shape.total_tokens,
})
export type ModelFacts = z.infer<typeof ModelFacts>
