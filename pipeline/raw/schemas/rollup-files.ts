import { column, over, utcDay, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Sums from another engine (docs/operations.md), one row per UTC day and model. `prompt_tokens` has all tokens and
 * `completion_tokens` the number of requests; see `count/sums_of_rollup`. Rows without requests are rejected.
 */
export const rollupFiles: Schema = {
  reading: 1,
  record: {
    timestamp: utcDay(column('utc_date')),
    model_permaslug: word(column('model_permaslug')),
    prompt_tokens: over('count', column('tokens'), (value) => `sum_from_text(${value.text()})`),
    completion_tokens: over('count', column('requests'), (value) => `nullif(${value.count()}, 0)`),
  },
  exact: ['tokens'],
  hasAbsoluteTime: true,
}
