import { HELICONE_OUTSIDE } from './helicone-outside.ts'
import { LANGFUSE_TOTAL } from './langfuse-total.ts'
import type { RuleName } from './mapping.ts'
import type { Accounting } from './schema.ts'

/** Token accounting that the language of the mappings cannot say. */
export const RULES: Record<RuleName, Accounting> = {
  helicone_outside: HELICONE_OUTSIDE,
  langfuse_total: LANGFUSE_TOTAL,
}
