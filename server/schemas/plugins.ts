import { z } from 'zod'
import { countCharacters, list, stringOfAtMost, tagged } from './combinators.ts'
import { UserLocation, WebSearchMode } from './tools.ts'

const MAX_PATTERNS = 1024
const MAX_PATTERN_CHARACTERS = 1024
const MAX_PATTERN_CHARACTERS_IN_TOTAL = 65_536

/** Patterns of model names. All limits hold per list. */
const ModelPatterns = list(stringOfAtMost(MAX_PATTERN_CHARACTERS))
  .max(MAX_PATTERNS, { abort: true })
  .refine((patterns) => sum(patterns.map(countCharacters)) <= MAX_PATTERN_CHARACTERS_IN_TOTAL, {
    error: `must have at most ${MAX_PATTERN_CHARACTERS_IN_TOTAL} characters in total`,
  })

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The common part of all plugins. A missing `enabled` counts as true. */
function plugin<const Id extends string, Shape extends z.ZodRawShape>(id: Id, shape: Shape) {
  return z.looseObject({ id: z.literal(id), enabled: z.boolean().optional(), ...shape })
}

const ROUTER = {
  allowed_models: ModelPatterns.optional(),
  excluded_models: ModelPatterns.optional(),
  cost_tier: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  cost_quality_tradeoff: z.int().min(0).max(10).meta({ deprecated: true }).optional(),
}

const AutoRouter = plugin('auto-router', { ...ROUTER, pin_model: z.boolean().optional() })

const AutoBetaRouter = plugin('auto-beta-router', ROUTER)

const ContextCompression = plugin('context-compression', { engine: z.literal('middle-out').optional() })

const FileParser = plugin('file-parser', {
  pdf: z.looseObject({ engine: z.enum(['mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text']).optional() }).optional(),
})

const Fusion = plugin('fusion', {
  analysis_models: list(z.string()).min(1).max(8).optional(),
  model: z.string().optional(),
  preset: z.enum(['general-high', 'general-budget', 'general-fast']).optional(),
  tools: list(z.looseObject({ type: z.string(), parameters: z.looseObject({}).optional() }))
    .max(8)
    .optional(),
  max_tool_calls: z.int().min(1).max(16).optional(),
})

const Moderation = plugin('moderation', {})

const ParetoRouter = plugin('pareto-router', {
  max_price: z.number().min(0).optional(),
  min_coding_score: z.number().min(0).max(1).optional(),
  price_source: z.enum(['prompt', 'weighted_avg']).optional(),
})

const ResponseHealing = plugin('response-healing', {})

const Web = plugin('web', {
  engine: z.enum(['native', 'exa', 'firecrawl', 'parallel', 'perplexity']).optional(),
  mode: WebSearchMode.optional(),
  include_domains: list(z.string()).optional(),
  exclude_domains: list(z.string()).optional(),
  max_results: z.int().optional(),
  max_uses: z.int().optional(),
  search_prompt: z.string().optional(),
  user_location: UserLocation.nullish(),
})

const WebFetch = plugin('web-fetch', {
  allowed_domains: list(z.string()).optional(),
  blocked_domains: list(z.string()).optional(),
  max_content_tokens: z.int().optional(),
  max_uses: z.int().optional(),
})

/**
 * A plugin, by `id`. Engines, options of `file-parser` and `web-fetch`, and keys of `web` after `max_uses` are those of
 * the public API.
 */
export const Plugin = tagged('id', [
  AutoRouter,
  AutoBetaRouter,
  ContextCompression,
  FileParser,
  Fusion,
  Moderation,
  ParetoRouter,
  ResponseHealing,
  Web,
  WebFetch,
])
