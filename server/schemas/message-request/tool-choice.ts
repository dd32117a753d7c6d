import { z } from 'zod'
import { tagged, typed } from '../combinators.ts'

/** Whether the model may call a tool. */
export const ToolChoice = tagged('type', [
  typed('auto', { disable_parallel_tool_use: z.boolean().optional() }),
  typed('any', { disable_parallel_tool_use: z.boolean().optional() }),
  typed('none', {}),
  typed('tool', {
    name: z.string(),
    disable_parallel_tool_use: z.boolean().optional(),
  }),
])
