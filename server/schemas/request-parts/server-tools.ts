import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { imageParameters } from './image-parameters.ts'
import { ServerToolUserLocation } from './user-location.ts'

/* Tools that the service runs. The specification only names them; their shapes are those of the public API. */

function serverTool<const Type extends string, Parameters extends z.ZodType>(type: Type, parameters: Parameters) {
  return z.looseObject({ type: z.literal(type), parameters: parameters.optional() })
}

const Environment = tagged('type', [
  typed('container_auto', {}),
  typed('container_reference', {
    container_id: z.string().regex(/^[\w-]{1,20}$/, { error: 'must be 1 to 20 letters, digits, "_" or "-"' }),
  }),
])

const Bash = serverTool(
  'openrouter:bash',
  z.looseObject({
    engine: z.enum(['auto', 'native', 'openrouter']).optional(),
    environment: Environment.optional(),
    sleep_after_seconds: z.int().optional(),
  }),
)

const Shell = serverTool(
  'openrouter:shell',
  z.looseObject({
    engine: z.enum(['auto', 'openrouter']).optional(),
    environment: Environment.optional(),
    sleep_after_seconds: z.int().optional(),
  }),
)

const Datetime = serverTool('openrouter:datetime', z.looseObject({ timezone: z.string().optional() }))

const ImageGeneration = serverTool('openrouter:image_generation', imageParameters({ model: z.string().optional() }))

const SearchModels = serverTool(
  'openrouter:experimental__search_models',
  z.looseObject({ max_results: z.int().optional() }),
)

const ToolSearch = serverTool('openrouter:tool_search', z.looseObject({ max_results: z.int().optional() }))

const WebFetch = serverTool(
  'openrouter:web_fetch',
  z.looseObject({
    engine: z.enum(['auto', 'native', 'openrouter', 'exa', 'parallel', 'firecrawl']).optional(),
    allowed_domains: list(z.string()).optional(),
    blocked_domains: list(z.string()).optional(),
    max_content_tokens: z.int().optional(),
    max_uses: z.int().optional(),
  }),
)

/** Search modes (reference, `WebSearchMode`). Engines support some of them. */
export const WebSearchMode = z.enum([
  'instant',
  'fast',
  'auto',
  'deep-lite',
  'deep',
  'deep-reasoning',
  'turbo',
  'basic',
  'advanced',
])

const WebSearch = serverTool(
  'openrouter:web_search',
  z.looseObject({
    engine: z.enum(['native', 'exa', 'parallel', 'firecrawl', 'perplexity', 'auto']).optional(),
    mode: WebSearchMode.optional(),
    allowed_domains: list(z.string()).optional(),
    excluded_domains: list(z.string()).optional(),
    max_characters: z.int().optional(),
    max_results: z.int().optional(),
    max_total_results: z.int().optional(),
    max_uses: z.int().optional(),
    search_context_size: z.enum(['low', 'medium', 'high']).optional(),
    user_location: ServerToolUserLocation.optional(),
  }),
)

export const SERVER_TOOLS = [
  Bash,
  Shell,
  Datetime,
  ImageGeneration,
  SearchModels,
  ToolSearch,
  WebFetch,
  WebSearch,
] as const
