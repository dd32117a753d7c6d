import { z } from 'zod'
import { list, tagged } from '../combinators.ts'

/** When the service stops running its tools: at the first condition met (reference, `StopServerToolsWhen`). */
export const StopServerToolsWhen = list(
  tagged('type', [
    z.looseObject({ type: z.literal('step_count_is'), step_count: z.int() }),
    z.looseObject({ type: z.literal('has_tool_call'), tool_name: z.string().min(1) }),
    z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: z.int() }),
    z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: z.number() }),
    z.looseObject({ type: z.literal('finish_reason_is'), reason: z.string().min(1) }),
  ]),
).min(1)
