import { z } from 'zod'
import { list } from '../combinators.ts'
import { CacheControl } from './cache-control.ts'
import { serverTool } from './server-tools.ts'

/* Tools that the service runs by other models, and for files. Their shapes are the published API's. */

/** How much a model reasons. */
export const Effort = z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])

const Reasoning = z.looseObject({ effort: Effort.optional(), max_tokens: z.int().optional() })

const InstanceName = z
  .string()
  .regex(/^[a-zA-Z0-9 _-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, spaces, "_" or "-"' })

const MODEL_CALL = {
  model: z.string().optional(),
  max_completion_tokens: z.int().optional(),
  reasoning: Reasoning.optional(),
  temperature: z.number().optional(),
}

export const Advisor = serverTool(
  'openrouter:advisor',
  z.looseObject({
    ...MODEL_CALL,
    name: InstanceName.optional(),
    instructions: z.string().optional(),
    forward_transcript: z.boolean().optional(),
    stream: z.boolean().optional(),
  }),
)

const NestedTool = z.looseObject({ type: z.string(), parameters: z.looseObject({}).optional() })

export const Subagent = serverTool(
  'openrouter:subagent',
  z.looseObject({
    ...MODEL_CALL,
    name: InstanceName.optional(),
    instructions: z.string().optional(),
    inherit_functions: z.boolean().optional(),
    inherited_function_names: list(z.string().min(1)).optional(),
    max_tool_calls: z.int().min(1).max(25).optional(),
    tools: list(NestedTool).optional(),
  }),
)

export const Fusion = serverTool(
  'openrouter:fusion',
  z.looseObject({
    ...MODEL_CALL,
    analysis_models: list(z.string()).min(1).max(8).optional(),
    cache_control: CacheControl.optional(),
    max_tool_calls: z.int().min(1).max(16).optional(),
    tools: list(NestedTool).max(8).optional(),
  }),
)

export const Files = serverTool('openrouter:files', z.looseObject({}))

export const ApplyPatch = serverTool(
  'openrouter:apply_patch',
  z.looseObject({ engine: z.enum(['auto', 'native', 'openrouter']).optional() }),
)
