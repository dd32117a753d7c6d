import { z } from 'zod'
import { list } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { Plugin } from '../request-parts/plugins.ts'
import { Fallback, ProviderPreferences, Route } from '../request-parts/provider.ts'
import { StopServerToolsWhen } from '../request-parts/stop-server-tools.ts'
import { EndUser, Metadata, SessionId, Trace } from '../request-parts/tracking.ts'
import { ContextManagement } from './context-management.ts'
import { Message } from './messages.ts'
import { OutputConfig } from './output-config.ts'
import { TextBlock } from './source-blocks.ts'
import { Thinking } from './thinking.ts'
import { ToolChoice } from './tool-choice.ts'
import { Tool } from './tools.ts'

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
    fallbacks: list(Fallback).max(MAX_FALLBACKS).nullable().optional(),
    context_management: ContextManagement.nullable().optional(),
    output_config: OutputConfig.nullable().optional(),
    thinking: Thinking.optional(),
    tool_choice: ToolChoice.optional(),
    tools: list(Tool).optional(),
    plugins: list(Plugin).optional(),
    provider: ProviderPreferences.nullable().optional(),
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
