import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'

const InputTokens = typed('input_tokens', { value: z.int() })
const ToolUses = typed('tool_uses', { value: z.int() })
const ThinkingTurns = typed('thinking_turns', { value: z.int() })
const All = typed('all', {})

const ClearToolUses = typed('clear_tool_uses_20250919', {
  clear_at_least: InputTokens.nullable().optional(),
  clear_tool_inputs: z.union([z.boolean(), list(z.string()), z.null()]).optional(),
  exclude_tools: list(z.string()).nullable().optional(),
  keep: ToolUses.optional(),
  trigger: tagged('type', [InputTokens, ToolUses]).optional(),
})

const ClearThinking = typed('clear_thinking_20251015', {
  keep: z.union([tagged('type', [ThinkingTurns, All]), z.literal('all')]).optional(),
})

const Compact = typed('compact_20260112', {
  instructions: z.string().nullable().optional(),
  pause_after_compaction: z.boolean().optional(),
  trigger: InputTokens.nullable().optional(),
})

/** What to cut from a long conversation. */
export const ContextManagement = z.looseObject({
  edits: list(tagged('type', [ClearToolUses, ClearThinking, Compact])).optional(),
})
