import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { DocumentBlock, ImageBlock, SearchResultBlock, TextBlock } from './source-blocks.ts'
import {
  AdvisorToolResultBlock,
  BashToolResultBlock,
  ServerToolUseBlock,
  ShellToolResultBlock,
  ToolAdditionBlock,
  ToolRemovalBlock,
  ToolResultBlock,
  ToolUseBlock,
  WebSearchToolResultBlock,
} from './tool-blocks.ts'

const ThinkingBlock = typed('thinking', {
  thinking: z.string(),
  signature: z.string(),
})

const RedactedThinkingBlock = typed('redacted_thinking', { data: z.string() })

const CompactionBlock = typed('compaction', {
  content: z.string().nullable(),
  encrypted_content: z.string().nullable().optional(),
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
