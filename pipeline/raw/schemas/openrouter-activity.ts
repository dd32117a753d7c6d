import {
  amount,
  areAbove,
  combine,
  count,
  type Expression,
  instant,
  isPositive,
  optional,
  text,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

/**
 * OpenRouter's Activity export: a record is one generation, cancelled ones included. The prompt includes cached tokens,
 * the completion reasoning tokens: https://openrouter.ai/docs/use-cases/usage-accounting (read 2026-11-22).
 */
export const openrouterActivity: Schema = {
  reading: 1,
  record: {
    timestamp: instant('created_at'),
    model_permaslug: withVariant(word('model_permaslug'), optional(text('variant'))),
    prompt_tokens: count('tokens_prompt'),
    completion_tokens: count('tokens_completion'),
    request_id: optional(text('generation_id')),
    cost_usd: optional(amount('cost_total')),
    is_byok: optional(isPositive('byok_usage_inference')),
  },
  parts_disagree: {
    cached_above_prompt: areAbove([count('tokens_cached')], count('tokens_prompt')),
    reasoning_above_completion: areAbove([count('tokens_reasoning')], count('tokens_completion')),
  },
}

function withVariant(slug: Expression<'text'>, variant: Expression<'text'>): Expression<'text'> {
  return combine(
    'text',
    [slug, variant],
    (columns) => `slug_with_variant(${slug.sql(columns)}, ${variant.sql(columns)})`,
  )
}
