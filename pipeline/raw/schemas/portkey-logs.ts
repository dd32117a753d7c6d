import {
  areNotTotal,
  combine,
  count,
  type Expression,
  instant,
  isOneOf,
  optional,
  shared,
  text,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

const request = count('req_units')
const response = count('res_units')
const total = optional(count('total_units'))

/** Only the total includes Anthropic's cached input (also on Vertex AI) and Google's reasoning. */
const HAS_PARTS_IN_TOTAL_ALONE = shared(optional(isOneOf('ai_org', ['anthropic', 'vertex-ai', 'google'])))

/**
 * Portkey's export of logs: a record is one request. Counts as in Portkey-AI/gateway
 * src/providers/anthropic/chatComplete.ts, google-vertex-ai/chatComplete.ts and google/chatComplete.ts at 669825c
 * (2026-05-25). We assume that the logs copy them: the code of the logs is not public.
 */
export const portkeyLogs: Schema = {
  reading: 2,
  record: {
    timestamp: instant('created_at'),
    model_permaslug: word('ai_model'),
    prompt_tokens: withRestOfTotal(),
    completion_tokens: response,
    request_id: optional(text('id')),
    is_left_out: optional(isOneOf('cache_status', ['HIT', 'SEMANTIC HIT'])),
  },
  parts_disagree: { parts_not_total: areNotTotal([withRestOfTotal(), response], total) },
}

/** The prompt's units plus the part of the total that neither count includes. */
function withRestOfTotal(): Expression<'count'> {
  const parts = [request, response, total, HAS_PARTS_IN_TOTAL_ALONE]
  const sum = combine('count', parts, (columns) => {
    const [own, other, all] = [request.sql(columns), response.sql(columns), total.sql(columns)]
    const hasMore = `${HAS_PARTS_IN_TOTAL_ALONE.sql(columns)} AND ${all} > ${own} + ${other}`
    return `CASE WHEN ${hasMore} THEN ${all} - ${other} ELSE ${own} END`
  })
  return { ...sum, needs: request.needs }
}
