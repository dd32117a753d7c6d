import { z } from 'zod'
import { list, ofOtherType, tagged, typed } from '../combinators.ts'
import { ReasoningFormat } from '../request-parts/completion.ts'
import { CALL_ITEMS } from './call-items.ts'
import { InputFile, InputImage, InputText, MessagePart } from './content.ts'
import { SERVER_TOOL_ITEMS } from './server-tool-items.ts'
import { ResponsesTool } from './tools.ts'

const Status = z.enum(['completed', 'incomplete', 'in_progress'])

/** A message of the client, or one that a model wrote. Also without `type`. */
const Message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'system', 'assistant', 'developer']),
  content: z.union([z.string(), list(MessagePart), z.null()]).optional(),
  id: z.string().optional(),
  phase: z.enum(['commentary', 'final_answer']).nullable().optional(),
  status: Status.optional(),
})

const Reasoning = typed('reasoning', {
  id: z.string(),
  summary: list(typed('summary_text', { text: z.string() })).nullable(),
  content: list(typed('reasoning_text', { text: z.string() }))
    .nullable()
    .optional(),
  encrypted_content: z.string().nullable().optional(),
  format: ReasoningFormat.nullable().optional(),
  signature: z.string().nullable().optional(),
  status: Status.optional(),
})

const AdditionalTools = typed('additional_tools', {
  role: z.enum(['unknown', 'user', 'assistant', 'system', 'critic', 'discriminator', 'developer', 'tool']),
  tools: list(ResponsesTool),
  id: z.string().nullable().optional(),
})

const AgentMessage = typed('agent_message', {
  author: z.string(),
  recipient: z.string(),
  content: list(tagged('type', [InputText, InputImage, typed('encrypted_content', { encrypted_content: z.string() })])),
  agent: z.looseObject({ agent_name: z.string() }).nullable().optional(),
  id: z.string().nullable().optional(),
})

const KnownItem = tagged('type', [
  Message,
  Reasoning,
  ...CALL_ITEMS,
  ...SERVER_TOOL_ITEMS,
  typed('compaction', { encrypted_content: z.string(), id: z.string().nullable().optional() }),
  typed('context_compaction', {
    encrypted_content: z.string().nullable().optional(),
    id: z.string().nullable().optional(),
  }),
  typed('item_reference', { id: z.string() }),
  AdditionalTools,
  AgentMessage,
])

/** An item of the conversation. As for tools, any other `type` passes. */
export const InputItem = z.union([ofOtherType(KnownItem), KnownItem])

/** A prompt that the service keeps, with values for its variables. */
export const StoredPrompt = z.looseObject({
  id: z.string(),
  variables: z
    .record(z.string(), z.union([z.string(), tagged('type', [InputText, InputImage, InputFile])]))
    .nullable()
    .optional(),
})
