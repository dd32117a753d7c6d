import { z } from 'zod'

const JsonSchemaFormat = z.looseObject({
  type: z.literal('json_schema'),
  schema: z.looseObject({}),
})

/** Advisory, not a hard limit (SPECIFICATION.md § Limits). */
const TaskBudget = z.looseObject({
  type: z.literal('tokens'),
  total: z.int().min(20_000),
  remaining: z.int().min(0).nullable().optional(),
})

/** The effort and format of a response (SPECIFICATION.md § Request body shape, "output_config"). */
export const OutputConfig = z.looseObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullable().optional(),
  format: JsonSchemaFormat.nullable().optional(),
  task_budget: TaskBudget.nullable().optional(),
})
