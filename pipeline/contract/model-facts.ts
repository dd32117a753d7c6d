import { z } from 'zod'
import { RankingRow } from './ranking.ts'
import { UtcDate } from './utc-date.ts'

const NONE = z.literal('')

/**
 * One row of `models.csv`. `name`, `author` and `aliases` come from the registry, the rest from the daily rows. A model that
 * only weeks or months name has no dates, ranks and tokens here: '', 0 and '0'.
 */
export const ModelFacts = z.object({
  model_permaslug: RankingRow.shape.model_permaslug,
  name: z.string(),
  author: z.string(),
  /** In code point order. */
  aliases: z.array(z.string()),
  first_date: UtcDate.or(NONE),
  last_date: UtcDate.or(NONE),
  days: z.int().nonnegative(),
  /** 1 has the most tokens of its date. */
  best_rank: z.int().positive().or(NONE),
  best_rank_date: UtcDate.or(NONE),
  total_tokens: RankingRow.shape.total_tokens,
})
export type ModelFacts = z.infer<typeof ModelFacts>
