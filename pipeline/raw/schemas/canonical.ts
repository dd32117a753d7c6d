import { amount, count, flag, instant, keyHash, optional, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/** This project's own schema (DESIGN.md §5). */
export const canonical: Schema = {
  reading: 1,
  record: {
    timestamp: instant('timestamp'),
    model_permaslug: word('model_permaslug'),
    prompt_tokens: count('prompt_tokens'),
    completion_tokens: count('completion_tokens'),
    request_id: optional(text('request_id')),
    visibility: optional(text('visibility')),
    api_key_hash: optional(keyHash('api_key_hash')),
    cost_usd: optional(amount('cost_usd')),
    is_byok: optional(flag('is_byok')),
  },
  unread: ['status'],
}
