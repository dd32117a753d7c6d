import { count, instant, isOneOf, optional, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/** Portkey's export of logs: a record is one request. */
export const portkeyLogs: Schema = {
  reading: 1,
  record: {
    timestamp: instant('created_at'),
    model_permaslug: word('ai_model'),
    prompt_tokens: count('req_units'),
    completion_tokens: count('res_units'),
    request_id: optional(text('id')),
    is_left_out: optional(isOneOf('cache_status', ['HIT', 'SEMANTIC HIT'])),
  },
}
