import { z } from 'zod'
import { list, ofOtherType, tagged, typed } from './combinators.ts'
import { CacheControl, imageParameters } from './request-parts.ts'

const PLACE = {
  city: z.string().nullish(),
  country: z.string().nullish(),
  region: z.string().nullish(),
  timezone: z.string().nullish(),
}

/** The user's location for searches (reference, `AnthropicWebSearchToolUserLocation` and the `web` plugin). */
export const UserLocation = typed('approximate', { ...PLACE })

/** The same for server tools, with optional `type` (reference, `WebSearchUserLocationServerTool`). */
export const ServerToolUserLocation = z.looseObject({ type: z.literal('approximate').optional(), ...PLACE })

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

function sandboxTool<const Type extends string, const Engines extends string[]>(type: Type, engines: Engines) {
  const engine = z.enum(engines).optional()
  return serverTool(
    type,
    z.looseObject({ engine, environment: Environment.optional(), sleep_after_seconds: z.int().optional() }),
  )
}

const Bash = sandboxTool('openrouter:bash', ['auto', 'native', 'openrouter'])

const Shell = sandboxTool('openrouter:shell', ['auto', 'openrouter'])

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

const SERVER_TOOLS = [Bash, Shell, Datetime, ImageGeneration, SearchModels, ToolSearch, WebFetch, WebSearch] as const

const AllowedCallers = list(z.enum(['direct', 'code_execution_20250825', 'code_execution_20260120']))

/** The client's own tool, also if `type` is missing. */
const CustomTool = z.looseObject({
  type: z.literal('custom').optional(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.looseObject({
    type: z.string().optional(),
    properties: z.unknown().optional(),
    required: list(z.string()).nullish(),
  }),
  defer_loading: z.boolean().optional(),
  cache_control: CacheControl.optional(),
})

const BashTool = typed('bash_20250124', {
  name: z.literal('bash'),
  cache_control: CacheControl.optional(),
})

const TextEditorTool = typed('text_editor_20250124', {
  name: z.literal('str_replace_editor'),
  cache_control: CacheControl.optional(),
})

const WebSearchTool2025 = typed('web_search_20250305', {
  name: z.literal('web_search'),
  allowed_domains: list(z.string()).nullish(),
  blocked_domains: list(z.string()).nullish(),
  max_uses: z.int().nullish(),
  user_location: UserLocation.nullish(),
  cache_control: CacheControl.optional(),
})

const WebSearchTool2026 = WebSearchTool2025.extend({
  type: z.literal('web_search_20260209'),
  allowed_callers: AllowedCallers.optional(),
})

const AdvisorTool = typed('advisor_20260301', {
  name: z.literal('advisor'),
  model: z.string(),
  max_uses: z.int().optional(),
  caching: CacheControl.nullish(),
  defer_loading: z.boolean().optional(),
  allowed_callers: AllowedCallers.optional(),
  cache_control: CacheControl.optional(),
})

const TOOL_SEARCH = {
  strict: z.boolean().optional(),
  defer_loading: z.boolean().optional(),
  allowed_callers: AllowedCallers.optional(),
  cache_control: CacheControl.optional(),
}

const Bm25ToolSearch = z.looseObject({
  type: z.literal(['tool_search_tool_bm25_20251119', 'tool_search_tool_bm25']),
  name: z.literal('tool_search_tool_bm25'),
  ...TOOL_SEARCH,
})

const RegexToolSearch = z.looseObject({
  type: z.literal(['tool_search_tool_regex_20251119', 'tool_search_tool_regex']),
  name: z.literal('tool_search_tool_regex'),
  ...TOOL_SEARCH,
})

const KnownTool = tagged('type', [
  CustomTool,
  BashTool,
  TextEditorTool,
  WebSearchTool2025,
  WebSearchTool2026,
  AdvisorTool,
  Bm25ToolSearch,
  RegexToolSearch,
  ...SERVER_TOOLS,
])

/**
 * A tool for the model: of a known `type`, or any object with another
 * `type`. With a known `type` it must fit that one.
 */
export const Tool = z.union([ofOtherType(KnownTool), KnownTool])
