import { z } from 'zod'
import { list, tagged } from '../combinators.ts'
import { ReasoningFormat } from '../request-parts/completion.ts'
import { Content, TextContent } from './content.ts'

function message<const Role extends string, Shape extends z.ZodRawShape>(role: Role, shape: Shape) {
  return z.looseObject({ role: z.literal(role), name: z.string().optional(), ...shape })
}

const DETAIL = {
  id: z.string().nullable().optional(),
  format: ReasoningFormat.nullable().optional(),
  index: z.int().optional(),
}

function detail<const Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) {
  return z.looseObject({ type: z.literal(`reasoning.${kind}`), ...DETAIL, ...shape })
}

export const ReasoningDetail = tagged('type', [
  detail('summary', { summary: z.string() }),
  detail('encrypted', { data: z.string() }),
  detail('text', { text: z.string().nullable().optional(), signature: z.string().nullable().optional() }),
  detail('server_tool_call', {
    tool_name: z.string(),
    arguments: z.string(),
    result: z.string(),
    tool_call_id: z.string().nullable().optional(),
  }),
])

const ToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
})

const AssistantMessage = message('assistant', {
  content: Content.nullable().optional(),
  model: z.string().optional(),
  refusal: z.string().nullable().optional(),
  reasoning: z.string().nullable().optional(),
  reasoning_details: list(ReasoningDetail).optional(),
  tool_calls: list(ToolCall).optional(),
  images: list(z.looseObject({ image_url: z.looseObject({ url: z.string() }) })).optional(),
  audio: z
    .looseObject({
      id: z.string().optional(),
      data: z.string().optional(),
      expires_at: z.int().optional(),
      transcript: z.string().optional(),
    })
    .optional(),
})

/** One turn of the conversation. The texts of `system` and `developer` become the system prompt. */
export const ChatMessage = tagged('role', [
  message('system', { content: TextContent }),
  message('developer', { content: TextContent }),
  message('user', { content: Content }),
  AssistantMessage,
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: Content }),
])
