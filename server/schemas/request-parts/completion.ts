import { z } from 'zod'

/* What the chat and the responses request have in common. Its shapes are the published API's. */

export const NUMBER = z.number().nullable().optional()
export const INTEGER = z.int().nullable().optional()
export const BOOLEAN = z.boolean().nullable().optional()

/** The last keys that a preset stores of chat completion and responses requests, in stored order. */
export const COMMON_CONFIG_KEYS = [
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'service_tier',
  'cache_control',
  'prompt_cache_options',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
] as const

export const ServiceTier = z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale'])

/** How a summary of the reasoning is written. */
export const ReasoningSummary = z.enum(['auto', 'concise', 'detailed'])

/** Whose form reasoning is in. */
export const ReasoningFormat = z.enum([
  'unknown',
  'openai-responses-v1',
  'azure-openai-responses-v1',
  'bedrock-openai-responses-v1',
  'bedrock-xai-responses-v1',
  'xai-responses-v1',
  'meta-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
])

export const PromptCacheOptions = z.looseObject({ mode: z.literal('explicit'), ttl: z.string().nullable().optional() })

export const PromptCacheBreakpoint = z.looseObject({ mode: z.literal('explicit') })

export const DebugOptions = z.looseObject({ echo_upstream_body: z.boolean().optional() })

/** A JSON Schema, which is not validated. */
export const JsonSchemaObject = z.looseObject({})
