import { z } from 'zod'
import { list, stringOfAtMost, tagged, typed } from '../combinators.ts'
import { Effort } from '../request-parts/agent-tools.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import {
  BOOLEAN,
  DebugOptions,
  INTEGER,
  JsonSchemaObject,
  NUMBER,
  PromptCacheOptions,
  ReasoningSummary,
  ServiceTier,
} from '../request-parts/completion.ts'
import { imageParameters } from '../request-parts/image-parameters.ts'
import { Plugin } from '../request-parts/plugins.ts'
import { ProviderPreferences, Route } from '../request-parts/provider.ts'
import { StopServerToolsWhen } from '../request-parts/stop-server-tools.ts'
import { EndUser, SessionId, Trace } from '../request-parts/tracking.ts'
import { InputItem, StoredPrompt } from './input.ts'
import { ResponsesTool, ResponsesToolChoice } from './tools.ts'

const MOST_CHARACTERS_OF_METADATA = 512

export const RESPONSES_REQUEST_EXAMPLE = {
  model: 'anthropic/claude-sonnet-4.5',
  instructions: 'You answer in one sentence.',
  input: 'What is a preset?',
  max_output_tokens: 1024,
  temperature: 0.2,
}

const Include = z.enum([
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
  'code_interpreter_call.outputs',
])

const Reasoning = z.looseObject({
  context: z.enum(['auto', 'all_turns', 'current_turn']).nullable().optional(),
  effort: Effort.nullable().optional(),
  enabled: z.boolean().nullable().optional(),
  max_tokens: z.int().nullable().optional(),
  mode: z.enum(['standard', 'pro']).nullable().optional(),
  summary: ReasoningSummary.nullable().optional(),
})

/** The form of the answer. */
export const TextFormat = z.looseObject({
  format: tagged('type', [
    typed('text', {}),
    typed('json_object', {}),
    typed('json_schema', {
      name: z.string(),
      schema: JsonSchemaObject,
      description: z.string().optional(),
      strict: z.boolean().nullable().optional(),
    }),
  ]).optional(),
  verbosity: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullable().optional(),
})

/** Not a literal: generators of clients make a text of a constant. */
const KeepsNothing = z
  .boolean()
  .refine((store) => !store, { error: 'must be false' })
  .meta({ description: 'Only false: responses are not stored.' })

const TEXT = z.string().nullable().optional()

/**
 * The body of `POST /presets/{slug}/responses`: a request for a response. The reference has the parts that it shares with
 * the message-style request, and the published API the others. A body is stored as sent.
 */
export const ResponsesRequest = z
  .looseObject({
    model: z.string().optional(),
    models: list(z.string()).optional(),
    input: z.union([z.string(), list(InputItem)]).optional(),
    instructions: TEXT,
    prompt: StoredPrompt.nullable().optional(),
    previous_response_id: z.unknown().optional(),
    max_output_tokens: INTEGER,
    max_tool_calls: INTEGER,
    temperature: NUMBER,
    top_p: NUMBER,
    top_k: z.int().optional(),
    top_logprobs: INTEGER,
    frequency_penalty: NUMBER,
    presence_penalty: NUMBER,
    reasoning: Reasoning.nullable().optional(),
    text: TextFormat.optional(),
    modalities: list(z.enum(['text', 'image'])).optional(),
    image_config: imageParameters({}).optional(),
    include: list(Include).nullable().optional(),
    truncation: z.enum(['auto', 'disabled']).nullable().optional(),
    tools: list(ResponsesTool).optional(),
    tool_choice: ResponsesToolChoice.optional(),
    parallel_tool_calls: BOOLEAN,
    service_tier: ServiceTier.nullable().optional(),
    cache_control: CacheControl.optional(),
    prompt_cache_key: TEXT,
    prompt_cache_options: PromptCacheOptions.nullable().optional(),
    plugins: list(Plugin).optional(),
    provider: ProviderPreferences.nullable().optional(),
    route: Route.nullable().meta({ deprecated: true }).optional(),
    stop_server_tools_when: StopServerToolsWhen.optional(),
    stream: z.boolean().optional(),
    background: BOOLEAN,
    store: KeepsNothing.optional(),
    metadata: z.record(z.string(), stringOfAtMost(MOST_CHARACTERS_OF_METADATA)).nullable().optional(),
    user: EndUser.optional(),
    safety_identifier: TEXT,
    session_id: SessionId.optional(),
    trace: Trace.optional(),
    debug: DebugOptions.optional(),
  })
  .meta({
    description: 'A responses request. What of it a preset keeps becomes the config of a new version.',
    examples: [RESPONSES_REQUEST_EXAMPLE],
  })
export type ResponsesRequest = z.infer<typeof ResponsesRequest>
