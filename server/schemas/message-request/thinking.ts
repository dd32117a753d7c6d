import { z } from 'zod'
import { tagged, typed } from '../combinators.ts'

/** How much reasoning is shown (reference, `AnthropicThinkingDisplay`). */
const Display = z.enum(['summarized', 'omitted']).nullable()

/** Neither document specifies it, so any value passes. */
const BlockBinding = z.unknown()

/** Whether and how much the model reasons. */
export const Thinking = tagged('type', [
  typed('enabled', {
    budget_tokens: z.int(),
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
  typed('disabled', {}),
  typed('adaptive', {
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
])
