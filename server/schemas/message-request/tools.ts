import { z } from 'zod'
import { list, ofOtherType, tagged, typed } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import * as serverTools from '../request-parts/server-tools.ts'
import { UserLocation } from '../request-parts/user-location.ts'

const AllowedCallers = list(z.enum(['direct', 'code_execution_20250825', 'code_execution_20260120']))

/** The client's own tool, also if `type` is missing. */
const CustomTool = z.looseObject({
  type: z.literal('custom').optional(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.looseObject({
    type: z.string().optional(),
    properties: z.unknown().optional(),
    required: list(z.string()).nullable().optional(),
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
  allowed_domains: list(z.string()).nullable().optional(),
  blocked_domains: list(z.string()).nullable().optional(),
  max_uses: z.int().nullable().optional(),
  user_location: UserLocation.nullable().optional(),
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
  caching: CacheControl.nullable().optional(),
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
  ...serverTools.SERVER_TOOLS,
])

/**
 * A tool for the model: of a known `type`, or any object with another
 * `type`. With a known `type` it must fit that one.
 */
export const Tool = z.union([ofOtherType(KnownTool), KnownTool])
