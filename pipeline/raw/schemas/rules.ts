import { HELICONE_OUTSIDE } from './helicone-outside.ts'
import { langfuseTotal } from './langfuse-total.ts'
import type { Rule } from './mapping.ts'
import type { Accounting } from './schema.ts'

/** Token accounting that the language of the mappings cannot say. */
export function ruled(rule: Rule): Accounting {
  return rule.rule === 'helicone_outside' ? HELICONE_OUTSIDE : langfuseTotal(rule.usage, rule.is_needed)
}
