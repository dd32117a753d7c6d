import { count, instant, isOtherThan, optional, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

const NO_REQUEST = '00000000-0000-0000-0000-000000000000'

/**
 * Helicone's table `request_response_rmt`: a record is a version of one request, and the one updated last is valid. A
 * record that refers to another request was answered from Helicone's cache.
 */
export const heliconeRequests: Schema = {
  reading: 1,
  record: {
    timestamp: instant('request_created_at'),
    model_permaslug: word('model'),
    prompt_tokens: count('prompt_tokens'),
    completion_tokens: count('completion_tokens'),
    request_id: optional(text('request_id')),
    updated_at: optional(instant('updated_at')),
    is_left_out: optional(isOtherThan('cache_reference_id', [NO_REQUEST])),
  },
}
