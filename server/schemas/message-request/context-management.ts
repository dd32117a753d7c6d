import { z } from 'zod'
import { list, tagged } from '../combinators.ts'

const InputTokens = z.looseObject({ type: z.literal('input_tokens'), value: z.int() })
const ToolUses = z.looseObject({ type: z.literal('tool_uses'), value: z.int() })
const ThinkingTurns = z.looseObject({ type: z.literal('thinking_turns'), value: z.int() })
const All = z.looseObject({ type: z.literal('all') })

const ClearToolUses = z.looseObject({
  type: z.literal('clear_tool_uses_20250919'),
  clear_at_least: InputTokens.nullable().optional(),
  clear_tool_inputs: z.union([z.boolean(), list(z.string()), z.null()]).optional(),
  exclude_tools: list(z.string()).nullable().optional(),
  keep: ToolUses.optional(),
  trigger: tagged('type', [InputTokens, ToolUses]).optional(),
})

const ClearThinking = z.looseObject({
  type: z.literal('clear_thinking_20251015'),
  keep: z.union([tagged('type', [ThinkingTurns, All]), z.literal('all')]).optional(),
})

const Compact = z.looseObject({
  type: z.literal('compact_20260112'),
  instructions: z.string().nullable().optional(),
  pause_after_compaction: z.boolean().optional(),
  trigger: InputTokens.nullable().optional(),
})

/** What to cut from a long conversation (SPECIFICATION.md § Request body shape, "context_management.edits"). */
export const ContextManagement = z.looseObject({
  edits: list(tagged('type', [ClearToolUses, ClearThinking, Compact])).optional(),
})
