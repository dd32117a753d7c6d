import { z } from 'zod'
import { typed } from '../combinators.ts'

const JsonSchemaFormat = typed('json_schema', {
  schema: z.looseObject({}),
})

/** Advisory, not a hard limit. */
const TaskBudget = typed('tokens', {
  total: z.int().min(20_000),
  remaining: z.int().min(0).nullable().optional(),
})

/** The effort and format of a response. */
export const OutputConfig = z.looseObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullable().optional(),
  format: JsonSchemaFormat.nullable().optional(),
  task_budget: TaskBudget.nullable().optional(),
})
