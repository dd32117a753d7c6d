import { z } from 'zod'
import { tagged } from '../combinators.ts'

/** How much of its reasoning the model shows (reference, `AnthropicThinkingDisplay`). */
const Display = z.enum(['summarized', 'omitted']).nullable()

/** Has a shape in neither document, so any value passes. */
const BlockBinding = z.unknown()

/** Whether and how far the model reasons before it answers (SPECIFICATION.md § Request body shape, "thinking"). */
export const Thinking = tagged('type', [
  z.looseObject({
    type: z.literal('enabled'),
    budget_tokens: z.int(),
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
  z.looseObject({ type: z.literal('disabled') }),
  z.looseObject({
    type: z.literal('adaptive'),
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
])
