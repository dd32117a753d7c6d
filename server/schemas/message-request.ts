import { z } from 'zod'
import { list, tagged, typed } from './combinators.ts'
import { Message, TextBlock } from './message-blocks.ts'
import { Plugin } from './plugins.ts'
import { type PresetContent, presetContent, textsOf } from './preset-content.ts'
import {
  CacheControl,
  EndUser,
  Fallback,
  Metadata,
  ProviderPreferences,
  Route,
  SessionId,
  StopServerToolsWhen,
  Trace,
} from './request-parts.ts'
import { Tool } from './tools.ts'

/** How much reasoning is shown (reference, `AnthropicThinkingDisplay`). */
const Display = z.enum(['summarized', 'omitted']).nullable()

/** Neither document specifies it, so any value passes. */
const BlockBinding = z.unknown()

/** Whether and how much the model reasons. */
export const Thinking = tagged('type', [
  typed('enabled', {
    budget_tokens: z.int(),
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
  typed('disabled', {}),
  typed('adaptive', {
    block_binding: BlockBinding.optional(),
    display: Display.optional(),
  }),
])

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

const JsonSchemaFormat = typed('json_schema', {
  schema: z.looseObject({}),
})

/** Advisory, not a hard limit. */
const TaskBudget = typed('tokens', {
  total: z.int().min(20_000),
  remaining: z.int().min(0).nullish(),
})

/** The effort and format of a response. */
export const OutputConfig = z.looseObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: JsonSchemaFormat.nullish(),
  task_budget: TaskBudget.nullish(),
})

const InputTokens = typed('input_tokens', { value: z.int() })
const ToolUses = typed('tool_uses', { value: z.int() })
const ThinkingTurns = typed('thinking_turns', { value: z.int() })
const All = typed('all', {})

const ClearToolUses = typed('clear_tool_uses_20250919', {
  clear_at_least: InputTokens.nullish(),
  clear_tool_inputs: z.union([z.boolean(), list(z.string()), z.null()]).optional(),
  exclude_tools: list(z.string()).nullish(),
  keep: ToolUses.optional(),
  trigger: tagged('type', [InputTokens, ToolUses]).optional(),
})

const ClearThinking = typed('clear_thinking_20251015', {
  keep: z.union([tagged('type', [ThinkingTurns, All]), z.literal('all')]).optional(),
})

const Compact = typed('compact_20260112', {
  instructions: z.string().nullish(),
  pause_after_compaction: z.boolean().optional(),
  trigger: InputTokens.nullish(),
})

/** What to cut from a long conversation. */
export const ContextManagement = z.looseObject({
  edits: list(tagged('type', [ClearToolUses, ClearThinking, Compact])).optional(),
})

const MAX_FALLBACKS = 3

export const MESSAGE_REQUEST_EXAMPLE = {
  model: 'anthropic/claude-sonnet-4.5',
  system: 'You answer in one sentence.',
  messages: [{ role: 'user' as const, content: 'What is a preset?' }],
  max_tokens: 1024,
  temperature: 0.2,
}

/**
 * The body of `POST /presets/{slug}/messages` (docs/specification.md). What the specification does not show is that of
 * the public API (`MessagesRequest`). Objects are open and keys nullable as these two say. No defaults, no coercion: a
 * body is stored as sent, see `parseMessageRequest`.
 */
export const MessageRequest = z
  .looseObject({
    model: z.string(),
    models: list(z.string()).optional(),
    messages: list(Message).nullable(),
    max_tokens: z.int().optional(),
    system: z.union([z.string(), list(TextBlock)]).optional(),
    temperature: z.number().optional(),
    top_p: z.number().optional(),
    top_k: z.int().optional(),
    stop_sequences: list(z.string()).optional(),
    stream: z.boolean().optional(),
    metadata: Metadata.optional(),
    user: EndUser.optional(),
    session_id: SessionId.optional(),
    service_tier: z.string().optional(),
    speed: z.enum(['fast', 'standard']).optional(),
    cache_control: CacheControl.optional(),
    fallbacks: list(Fallback).max(MAX_FALLBACKS).nullish(),
    context_management: ContextManagement.nullish(),
    output_config: OutputConfig.nullish(),
    thinking: Thinking.optional(),
    tool_choice: ToolChoice.optional(),
    tools: list(Tool).optional(),
    plugins: list(Plugin).optional(),
    provider: ProviderPreferences.nullish(),
    route: Route.nullable().meta({ deprecated: true }).optional(),
    stop_server_tools_when: StopServerToolsWhen.optional(),
    trace: Trace.optional(),
  })
  .refine(({ models, fallbacks }) => models === undefined || (fallbacks ?? undefined) === undefined, {
    error: 'cannot be combined with fallbacks',
    path: ['models'],
  })
  .meta({
    description: 'A message-style inference request. What of it a preset keeps becomes the config of a new version.',
    examples: [MESSAGE_REQUEST_EXAMPLE],
    not: { required: ['models', 'fallbacks'], properties: { models: {}, fallbacks: { type: 'array', items: {} } } },
  })
export type MessageRequest = z.infer<typeof MessageRequest>

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const CONFIG_KEYS = [
  'model',
  'models',
  'fallbacks',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'service_tier',
  'speed',
  'cache_control',
  'context_management',
  'output_config',
  'thinking',
  'tools',
  'tool_choice',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
] as const satisfies (keyof MessageRequest)[]

/** What is stored of the body of `POST /presets/{slug}/messages`. Throws the 400 that names each field. */
export function parseMessageRequest(body: unknown): PresetContent<Pick<MessageRequest, (typeof CONFIG_KEYS)[number]>> {
  return presetContent(body, {
    schema: MessageRequest,
    stored: CONFIG_KEYS,
    systemTexts: ({ system }) => (system === undefined ? undefined : textsOf(system)),
  })
}
