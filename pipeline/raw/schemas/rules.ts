import { column, type Expression, type Kind, over } from './expression.ts'
import { HELICONE_OUTSIDE } from './helicone-outside.ts'
import type { Rule } from './mapping.ts'
import type { Accounting } from './schema.ts'

/** Token accounting that the language of the mappings cannot say. */
export function ruled(rule: Rule): Accounting {
  return rule.rule === 'helicone_outside' ? HELICONE_OUTSIDE : langfuseTotal(rule.usage, rule.is_needed)
}

/**
 * Langfuse's usage details, in the column `usage`. Their parts should be disjoint, but Langfuse only warns if they are
 * not. `total`, if present, is the sum. With `isNeeded` a record without the column has no counts.
 */
function langfuseTotal(usage: string, isNeeded = false): Accounting {
  const ofUsage = <K extends Kind>(kind: K, field: string): Expression<K> =>
    over(kind, column(usage), (details, { once }) => {
      const value = `struct_extract(${once(`langfuse_usage(json_members(${details.json()}))`)}, '${field}')`
      if (kind === 'condition') return `coalesce(${value}, false)`
      return kind === 'count' && isNeeded ? `CASE WHEN ${details.exists()} THEN ${value} END` : value
    })
  return {
    prompt_tokens: ofUsage('count', 'prompt'),
    completion_tokens: ofUsage('count', 'completion'),
    parts_disagree: {
      output_above_total: ofUsage('condition', 'is_output_above_total'),
      parts_not_total: ofUsage('condition', 'is_not_total'),
    },
    parts: {
      cache_read: ofUsage('count', 'cache_read'),
      cache_write: ofUsage('count', 'cache_write'),
      reasoning: ofUsage('count', 'reasoning'),
      audio: ofUsage('count', 'audio'),
      total: ofUsage('count', 'total'),
    },
    notes: { ignored_keys: { name: ofUsage('text', 'others') } },
  }
}
