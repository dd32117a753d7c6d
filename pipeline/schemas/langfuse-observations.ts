import { type Expression, instant, isOtherThan, optional, over, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Langfuse's export of observations: a record is a step of a trace. Only generations and embeddings are calls of a model;
 * what other steps say of usage repeats theirs. The parts of `usage_details` exclude each other.
 */
export const langfuseObservations: Schema = {
  reading: 1,
  record: {
    timestamp: instant('start_time'),
    model_permaslug: word('provided_model_name'),
    prompt_tokens: ofUsage('prompt_from_parts'),
    completion_tokens: ofUsage('completion_from_parts'),
    request_id: optional(text('id')),
    is_left_out: isOtherThan('type', ['GENERATION', 'EMBEDDING']),
  },
}

function ofUsage(macro: 'prompt_from_parts' | 'completion_from_parts'): Expression<'count'> {
  return over('count', 'usage_details', (usage, once) => `${macro}(${once(`json_members(${usage.json()})`)})`)
}
