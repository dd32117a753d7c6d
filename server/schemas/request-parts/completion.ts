import { z } from 'zod'
import { list } from '../combinators.ts'
import { CacheControl } from './cache-control.ts'
import { imageParameters } from './image-parameters.ts'
import { Plugin } from './plugins.ts'
import { ProviderPreferences, Route } from './provider.ts'
import { StopServerToolsWhen } from './stop-server-tools.ts'

/* What chat completion and responses requests have in common. Its shapes are the published API's. */

export const NUMBER = z.number().nullable().optional()
export const INTEGER = z.int().nullable().optional()
export const BOOLEAN = z.boolean().nullable().optional()

/** How much a model reasons. */
export const Effort = z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])

/** How a summary of the reasoning is written. */
export const ReasoningSummary = z.enum(['auto', 'concise', 'detailed'])

/** A JSON Schema, which is not validated. */
export const JsonSchemaObject = z.looseObject({})

/** A tool, or the choice of one. There are new types every month, so that only `type` is checked. */
const OfType = z.looseObject({ type: z.string() })

export const CompletionToolChoice = z.union([z.enum(['none', 'auto', 'required']), OfType])

/** The keys of both that a preset stores. */
export const COMPLETION_CONFIG = {
  model: z.string().optional(),
  models: list(z.string()).optional(),
  temperature: NUMBER,
  top_p: NUMBER,
  top_logprobs: INTEGER,
  frequency_penalty: NUMBER,
  presence_penalty: NUMBER,
  image_config: imageParameters({}).optional(),
  tools: list(OfType).optional(),
  tool_choice: CompletionToolChoice.optional(),
  parallel_tool_calls: BOOLEAN,
  service_tier: z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale']).nullable().optional(),
  cache_control: CacheControl.optional(),
  prompt_cache_options: z
    .looseObject({ mode: z.literal('explicit'), ttl: z.string().nullable().optional() })
    .nullable()
    .optional(),
  plugins: list(Plugin).optional(),
  provider: ProviderPreferences.nullable().optional(),
  route: Route.nullable().meta({ deprecated: true }).optional(),
  stop_server_tools_when: StopServerToolsWhen.optional(),
}
