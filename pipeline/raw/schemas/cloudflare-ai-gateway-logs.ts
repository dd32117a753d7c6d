import { amount, count, instant, isTrue, optional, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Cloudflare AI Gateway's logs API: one request per record. Cache hits are left out, because no provider serves them.
 * https://developers.cloudflare.com/api/resources/ai_gateway/subresources/logs/methods/list/ (read 2026-11-22).
 */
export const cloudflareAiGatewayLogs: Schema = {
  reading: 1,
  record: {
    timestamp: instant('created_at'),
    model_permaslug: word('model'),
    prompt_tokens: count('tokens_in'),
    completion_tokens: count('tokens_out'),
    request_id: optional(text('id')),
    cost_usd: optional(amount('cost')),
    is_left_out: optional(isTrue('cached')),
  },
}
