import { over, utcDay, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Sums that another engine wrote (docs/scaling.md): one row a UTC day and model. Its tokens stand where those of the
 * prompt do, and how many requests it sums where those of the completion do; `count/sums_of_rollup` knows. A
 * row without a request sums nothing, and is rejected.
 */
export const rollupFiles: Schema = {
  reading: 1,
  record: {
    timestamp: utcDay('utc_date'),
    model_permaslug: word('model_permaslug'),
    prompt_tokens: over('count', 'tokens', (value) => `sum_from_text(${value.text()})`),
    completion_tokens: over('count', 'requests', (value) => `nullif(${value.count()}, 0)`),
  },
  exact: ['tokens'],
  hasAbsoluteTime: true,
}
