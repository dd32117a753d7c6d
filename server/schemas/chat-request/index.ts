import { z } from 'zod'
import { list, typed } from '../combinators.ts'
import { Effort } from '../request-parts/agent-tools.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import {
  BOOLEAN,
  DebugOptions,
  INTEGER,
  NUMBER,
  PromptCacheOptions,
  ReasoningSummary,
  ServiceTier,
} from '../request-parts/completion.ts'
import { imageParameters } from '../request-parts/image-parameters.ts'
import { Plugin } from '../request-parts/plugins.ts'
import { ProviderPreferences, Route } from '../request-parts/provider.ts'
import { StopServerToolsWhen } from '../request-parts/stop-server-tools.ts'
import { SessionId, Trace } from '../request-parts/tracking.ts'
import { ChatMessage } from './messages.ts'
import { ResponseFormat } from './response-format.ts'
import { ChatTool, ChatToolChoice } from './tools.ts'

const MAX_STOPS = 4

export const CHAT_REQUEST_EXAMPLE = {
  model: 'anthropic/claude-sonnet-4.5',
  messages: [
    { role: 'system' as const, content: 'You answer in one sentence.' },
    { role: 'user' as const, content: 'What is a preset?' },
  ],
  max_completion_tokens: 1024,
  temperature: 0.2,
}

const Prediction = typed('content', {
  content: z.union([z.string(), list(typed('text', { text: z.string() }))]),
})

export const ChatReasoning = z.looseObject({
  effort: Effort.nullable().optional(),
  summary: ReasoningSummary.nullable().optional(),
})

/**
 * The body of `POST /presets/{slug}/chat/completions`: a request for a chat completion. The reference has the parts that
 * it shares with the message-style request, and the published API the others. A body is stored as sent.
 */
export const ChatRequest = z
  .looseObject({
    model: z.string().optional(),
    models: list(z.string()).optional(),
    messages: list(ChatMessage).min(1),
    max_tokens: INTEGER,
    max_completion_tokens: INTEGER,
    temperature: NUMBER,
    top_p: NUMBER,
    top_k: INTEGER,
    top_a: NUMBER,
    min_p: NUMBER,
    frequency_penalty: NUMBER,
    presence_penalty: NUMBER,
    repetition_penalty: NUMBER,
    logit_bias: z.record(z.string(), z.number()).nullable().optional(),
    logprobs: BOOLEAN,
    top_logprobs: INTEGER,
    seed: INTEGER,
    stop: z.union([z.string(), list(z.string()).max(MAX_STOPS), z.null()]).optional(),
    response_format: ResponseFormat.optional(),
    reasoning: ChatReasoning.optional(),
    reasoning_effort: Effort.nullable().optional(),
    modalities: list(z.enum(['text', 'image', 'audio'])).optional(),
    image_config: imageParameters({}).optional(),
    tools: list(ChatTool).optional(),
    tool_choice: ChatToolChoice.optional(),
    parallel_tool_calls: BOOLEAN,
    service_tier: ServiceTier.nullable().optional(),
    cache_control: CacheControl.optional(),
    prompt_cache_key: z.string().nullable().optional(),
    prompt_cache_options: PromptCacheOptions.nullable().optional(),
    prediction: Prediction.nullable().optional(),
    plugins: list(Plugin).optional(),
    provider: ProviderPreferences.nullable().optional(),
    route: Route.nullable().meta({ deprecated: true }).optional(),
    stop_server_tools_when: StopServerToolsWhen.optional(),
    stream: z.boolean().optional(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullable().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    user: z.string().optional(),
    session_id: SessionId.optional(),
    trace: Trace.optional(),
    debug: DebugOptions.optional(),
  })
  .meta({
    description: 'A chat completion request. What of it a preset keeps becomes the config of a new version.',
    examples: [CHAT_REQUEST_EXAMPLE],
  })
export type ChatRequest = z.infer<typeof ChatRequest>
