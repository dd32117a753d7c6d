import { z } from 'zod'
import { tagged } from '../combinators.ts'

/** Whether the model may call a tool (SPECIFICATION.md § Request body shape, "tool_choice"). */
export const ToolChoice = tagged('type', [
  z.looseObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
  z.looseObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
  z.looseObject({ type: z.literal('none') }),
  z.looseObject({
    type: z.literal('tool'),
    name: z.string(),
    disable_parallel_tool_use: z.boolean().optional(),
  }),
])
