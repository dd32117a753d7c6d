import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { DocumentBlock, ImageBlock, SearchResultBlock, TextBlock } from './source-blocks.ts'

/*
 * Blocks of tool calls and their results. Advisor, shell and bash results, and addition and removal of tools have the
 * shapes of the public API, because the specification only names them.
 */

const USE = {
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
  cache_control: CacheControl.optional(),
}

export const ToolUseBlock = typed('tool_use', USE)

const ToolReference = typed('tool_reference', { tool_name: z.string() })

/** Its blocks do not include results, so nesting ends here. */
export const ToolResultBlock = typed('tool_result', {
  tool_use_id: z.string(),
  content: z
    .union([z.string(), list(tagged('type', [TextBlock, ImageBlock, ToolReference, SearchResultBlock, DocumentBlock]))])
    .optional(),
  is_error: z.boolean().optional(),
  cache_control: CacheControl.optional(),
})

export const ServerToolUseBlock = typed('server_tool_use', USE)

const WebSearchResult = typed('web_search_result', {
  encrypted_content: z.string(),
  title: z.string(),
  url: z.string(),
  page_age: z.string().nullable().optional(),
})

const WebSearchError = typed('web_search_tool_result_error', {
  error_code: z.enum(['invalid_tool_input', 'unavailable', 'max_uses_exceeded', 'too_many_requests', 'query_too_long']),
})

export const WebSearchToolResultBlock = typed('web_search_tool_result', {
  tool_use_id: z.string(),
  content: z.union([list(WebSearchResult), WebSearchError]),
  cache_control: CacheControl.optional(),
})

const OPEN_RESULT = { tool_use_id: z.string(), content: z.looseObject({}) }

export const AdvisorToolResultBlock = typed('advisor_tool_result', OPEN_RESULT)
export const ShellToolResultBlock = typed('openrouter_shell_tool_result', OPEN_RESULT)
export const BashToolResultBlock = typed('openrouter_bash_tool_result', OPEN_RESULT)

const ReferencedTool = tagged('type', [
  typed('tool_reference', { name: z.string() }),
  typed('mcp_tool_reference', { name: z.string(), server_name: z.string() }),
  typed('mcp_toolset_reference', { server_name: z.string() }),
])

const CHANGE = { tool: ReferencedTool, cache_control: CacheControl.optional() }

export const ToolAdditionBlock = typed('tool_addition', CHANGE)
export const ToolRemovalBlock = typed('tool_removal', CHANGE)
