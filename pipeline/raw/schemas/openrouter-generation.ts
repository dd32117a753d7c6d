import {
  amount,
  areAbove,
  count,
  type Expression,
  first,
  flag,
  inside,
  instant,
  type Kind,
  optional,
  type Place,
  text,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Responses of OpenRouter's `GET /generation`, one per line, with or without the `data` wrapper. The counts mean what
 * they mean in the API's usage: https://openrouter.ai/docs/use-cases/usage-accounting (read 2026-11-22).
 */
export const openrouterGeneration: Schema = {
  reading: 1,
  record: {
    timestamp: ofGeneration(instant, 'created_at'),
    model_permaslug: ofGeneration(word, 'model'),
    prompt_tokens: ofGeneration(count, 'tokens_prompt'),
    completion_tokens: ofGeneration(count, 'tokens_completion'),
    request_id: optional(ofGeneration(text, 'id')),
    cost_usd: optional(ofGeneration(amount, 'total_cost')),
    is_byok: optional(ofGeneration(flag, 'is_byok')),
  },
  // Cached and reasoning tokens are native counts, so compare them with native counts.
  parts_disagree: {
    cached_above_prompt: areAbove(
      [ofGeneration(count, 'native_tokens_cached')],
      ofGeneration(count, 'native_tokens_prompt'),
    ),
    reasoning_above_completion: areAbove(
      [ofGeneration(count, 'native_tokens_reasoning')],
      ofGeneration(count, 'native_tokens_completion'),
    ),
  },
  hasAbsoluteTime: true,
}

function ofGeneration<K extends Kind>(read: (place: Place) => Expression<K>, key: string): Expression<K> {
  return first(read(inside('data', key)), read(key))
}
