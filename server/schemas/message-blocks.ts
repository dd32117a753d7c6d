import { z } from 'zod'
import { list, tagged, typed } from './combinators.ts'
import { CacheControl } from './request-parts.ts'

const IN_DOCUMENT = {
  cited_text: z.string(),
  document_index: z.int(),
  document_title: z.string().nullable(),
}

const CharLocation = typed('char_location', {
  ...IN_DOCUMENT,
  start_char_index: z.int(),
  end_char_index: z.int(),
})

const PageLocation = typed('page_location', {
  ...IN_DOCUMENT,
  start_page_number: z.int(),
  end_page_number: z.int(),
})

const ContentBlockLocation = typed('content_block_location', {
  ...IN_DOCUMENT,
  start_block_index: z.int(),
  end_block_index: z.int(),
})

const WebSearchResultLocation = typed('web_search_result_location', {
  cited_text: z.string(),
  encrypted_index: z.string(),
  title: z.string().nullable(),
  url: z.string(),
})

const SearchResultLocation = typed('search_result_location', {
  cited_text: z.string(),
  search_result_index: z.int(),
  source: z.string(),
  title: z.string().nullable(),
  start_block_index: z.int(),
  end_block_index: z.int(),
})

/** The source of a text block (reference, `AnthropicCitation…LocationParam`). */
export const Citation = tagged('type', [
  CharLocation,
  PageLocation,
  ContentBlockLocation,
  WebSearchResultLocation,
  SearchResultLocation,
])

/* Content blocks of messages and tool results. Their shapes are those of the public API. */

export const TextBlock = typed('text', {
  text: z.string(),
  citations: list(Citation).nullish(),
  cache_control: CacheControl.optional(),
})

const Base64Image = typed('base64', {
  media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
  data: z.string(),
})

const UrlSource = typed('url', { url: z.string() })

export const ImageBlock = typed('image', {
  source: tagged('type', [Base64Image, UrlSource]),
  cache_control: CacheControl.optional(),
})

const Base64Pdf = typed('base64', {
  media_type: z.literal('application/pdf'),
  data: z.string(),
})

const PlainText = typed('text', {
  media_type: z.literal('text/plain'),
  data: z.string(),
})

const BlocksSource = typed('content', {
  content: z.union([z.string(), list(tagged('type', [TextBlock, ImageBlock]))]),
})

const FileSource = typed('file', { file_id: z.string() })

const CitationsSwitch = z.looseObject({ enabled: z.boolean().optional() })

export const DocumentBlock = typed('document', {
  source: tagged('type', [Base64Pdf, PlainText, BlocksSource, UrlSource, FileSource]),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: CitationsSwitch.nullish(),
  cache_control: CacheControl.optional(),
})

export const SearchResultBlock = typed('search_result', {
  source: z.string(),
  title: z.string(),
  content: list(TextBlock),
  citations: CitationsSwitch.optional(),
  cache_control: CacheControl.optional(),
})

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
  page_age: z.string().nullish(),
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

const ThinkingBlock = typed('thinking', {
  thinking: z.string(),
  signature: z.string(),
})

const RedactedThinkingBlock = typed('redacted_thinking', { data: z.string() })

const CompactionBlock = typed('compaction', {
  content: z.string().nullable(),
  encrypted_content: z.string().nullish(),
  cache_control: CacheControl.optional(),
})

/** All kinds of blocks of a message. */
export const ContentBlock = tagged('type', [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  ToolUseBlock,
  ToolResultBlock,
  ThinkingBlock,
  RedactedThinkingBlock,
  ServerToolUseBlock,
  WebSearchToolResultBlock,
  SearchResultBlock,
  CompactionBlock,
  AdvisorToolResultBlock,
  ToolAdditionBlock,
  ToolRemovalBlock,
  ShellToolResultBlock,
  BashToolResultBlock,
])

/**
 * One turn of the conversation. Nothing says what `clear_at` and `output_config` are, so any value passes.
 */
export const Message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), list(ContentBlock)]),
  clear_at: z.unknown().optional(),
  output_config: z.unknown().optional(),
})
