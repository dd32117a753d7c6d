import { type Expression, instant, isOtherThan, type Kind, optional, over, text, word } from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * Langfuse's export of observations: a record is a step of a trace. Only generations and embeddings are model calls;
 * other steps repeat their usage. The parts of `usage_details` should be disjoint, but Langfuse only warns if they are
 * not. `total`, if present, is the sum: langfuse/langfuse worker/src/services/IngestionService/index.ts (getUsageUnits,
 * warnOnUsageTotalMismatch) and packages/shared/src/server/ingestion/types.ts at 6275144 (2026-08-22).
 */
export const langfuseObservations: Schema = {
  reading: 2,
  record: {
    timestamp: instant('start_time'),
    model_permaslug: word('provided_model_name'),
    prompt_tokens: ofUsage('count', 'prompt'),
    completion_tokens: ofUsage('count', 'completion'),
    request_id: optional(text('id')),
    updated_at: optional(instant('updated_at')),
    is_left_out: isOtherThan('type', ['GENERATION', 'EMBEDDING']),
  },
  parts_disagree: {
    output_above_total: ofUsage('condition', 'is_output_above_total'),
    parts_not_total: ofUsage('condition', 'is_not_total'),
  },
  notes: { ignored_keys: { name: ofUsage('text', 'others') } },
}

function ofUsage<K extends Kind>(kind: K, field: string): Expression<K> {
  return over(kind, 'usage_details', (usage, once) => {
    const value = `struct_extract(${once(`langfuse_usage(json_members(${usage.json()}))`)}, '${field}')`
    return kind === 'condition' ? `coalesce(${value}, false)` : value
  })
}
