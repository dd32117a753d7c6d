import { z } from 'zod'
import { RankingRow } from './ranking.ts'
import { UtcDate } from './utc-date.ts'

/** One row of `models.csv`. `name`, `author` and `aliases` come from the registry, the rest from the rows. */
export const ModelFacts = z.object({
  model_permaslug: RankingRow.shape.model_permaslug,
  name: z.string(),
  author: z.string(),
  /** In code point order. */
  aliases: z.array(z.string()),
  first_date: UtcDate,
  last_date: UtcDate,
  days: z.int().positive(),
  /** 1 has the most tokens of its date. */
  best_rank: z.int().positive(),
  best_rank_date: UtcDate,
  total_tokens: RankingRow.shape.total_tokens,
})
export type ModelFacts = z.infer<typeof ModelFacts>
