import { column, type Expression, type Kind, over } from './expression.ts'
import type { Accounting } from './schema.ts'

/**
 * Langfuse's `usage_details`. Its parts should be disjoint, but Langfuse only warns if they are not. `total`, if present,
 * is the sum.
 */
export const LANGFUSE_TOTAL: Accounting = {
  prompt_tokens: ofUsage('count', 'prompt'),
  completion_tokens: ofUsage('count', 'completion'),
  parts_disagree: {
    output_above_total: ofUsage('condition', 'is_output_above_total'),
    parts_not_total: ofUsage('condition', 'is_not_total'),
  },
  notes: { ignored_keys: { name: ofUsage('text', 'others') } },
}

function ofUsage<K extends Kind>(kind: K, field: string): Expression<K> {
  return over(kind, column('usage_details'), (usage, { once }) => {
    const value = `struct_extract(${once(`langfuse_usage(json_members(${usage.json()}))`)}, '${field}')`
    return kind === 'condition' ? `coalesce(${value}, false)` : value
  })
}
