import {
  amount,
  areAbove,
  areNotTotal,
  count,
  first,
  inside,
  instant,
  isTrue,
  keyHash,
  optional,
  text,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

const prompt = count('prompt_tokens')
const completion = count('completion_tokens')

const ofProvider = (...keys: string[]) =>
  first(
    count(inside('metadata', 'additional_usage_values', ...keys)),
    count(inside('metadata', 'usage_object', ...keys)),
  )

/**
 * LiteLLM's table `LiteLLM_SpendLogs`, or the standard logging payload in buckets, with other names for id, cost and
 * key. A record is one request, failed ones included. Cache hits are left out, because no provider serves them.
 * prompt_tokens include cached input (LiteLLM adds it for Anthropic), completion_tokens include reasoning:
 * BerriAI/litellm litellm/llms/anthropic/chat/transformation.py at 005e5ef,
 * litellm/proxy/spend_tracking/spend_tracking_utils.py at 00907c6, docs/my-website/docs/proxy/logging_spec.md at
 * 08182e1 (read 2026-11-22).
 */
export const litellmSpendLogs: Schema = {
  reading: 2,
  record: {
    timestamp: instant('startTime'),
    model_permaslug: word('model'),
    prompt_tokens: prompt,
    completion_tokens: completion,
    request_id: optional(first(text('request_id'), text('id'))),
    api_key_hash: optional(first(keyHash('api_key'), keyHash(inside('metadata', 'user_api_key_hash')))),
    cost_usd: optional(first(amount('spend'), amount('response_cost'))),
    is_left_out: optional(isTrue('cache_hit')),
  },
  parts_disagree: {
    cached_above_prompt: areAbove(
      [ofProvider('cache_read_input_tokens'), ofProvider('cache_creation_input_tokens')],
      prompt,
    ),
    reasoning_above_completion: areAbove([ofProvider('completion_tokens_details', 'reasoning_tokens')], completion),
    parts_not_total: areNotTotal([prompt, completion], count('total_tokens')),
  },
}
