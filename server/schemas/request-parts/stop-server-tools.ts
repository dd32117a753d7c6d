import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'

/** When the service stops running its tools: at the first condition met (reference, `StopServerToolsWhen`). */
export const StopServerToolsWhen = list(
  tagged('type', [
    typed('step_count_is', { step_count: z.int() }),
    typed('has_tool_call', { tool_name: z.string().min(1) }),
    typed('max_tokens_used', { max_tokens: z.int() }),
    typed('max_cost', { max_cost_in_dollars: z.number() }),
    typed('finish_reason_is', { reason: z.string().min(1) }),
  ]),
).min(1)
