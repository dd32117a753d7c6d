import { amount, count, instant, isTrue, keyHash, optional, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/** LiteLLM's table `LiteLLM_SpendLogs`: a record is one request, failed ones included. Its cache hits reach no provider. */
export const litellmSpendLogs: Schema = {
  reading: 1,
  record: {
    timestamp: instant('startTime'),
    model_permaslug: word('model'),
    prompt_tokens: count('prompt_tokens'),
    completion_tokens: count('completion_tokens'),
    request_id: optional(text('request_id')),
    api_key_hash: optional(keyHash('api_key')),
    cost_usd: optional(amount('spend')),
    is_left_out: optional(isTrue('cache_hit')),
  },
}
