import { areAbove, count, joined, optional, text, utcDay, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * LiteLLM's table `LiteLLM_DailyUserSpend`: a record sums a UTC day and grows until the day ends. Its id is the table's
 * unique key, so of two exports of a row the greater counts are kept. It has no single requests, hence no usage per
 * key. It sums the counts of the spend logs: BerriAI/litellm litellm/proxy/db/db_spend_update_writer.py at 0026911
 * (read 2026-11-22).
 */
export const litellmDailyUserSpend: Schema = {
  reading: 1,
  record: {
    timestamp: utcDay('date'),
    model_permaslug: word('model'),
    prompt_tokens: count('prompt_tokens'),
    completion_tokens: count('completion_tokens'),
    // LiteLLM writes an empty text for a missing value, such as the user.
    request_id: joined(
      [text('date'), text('model')],
      [
        text('user_id'),
        text('api_key'),
        text('custom_llm_provider'),
        optional(text('mcp_namespaced_tool_name')),
        optional(text('endpoint')),
      ],
    ),
  },
  parts_disagree: {
    cached_above_prompt: areAbove(
      [count('cache_read_input_tokens'), count('cache_creation_input_tokens')],
      count('prompt_tokens'),
    ),
  },
  hasAbsoluteTime: true,
}
