import { z } from 'zod'
import { list, stringOfAtMost, tagged, typed } from './combinators.ts'
import { Plugin } from './plugins.ts'
import { type PresetContent, presetContent, textsOf } from './preset-content.ts'
import { CacheControl, imageParameters, ProviderPreferences, Route, StopServerToolsWhen } from './request-parts.ts'

/* What chat completion and responses requests have in common. Its shapes are the published API's. */

const NUMBER = z.number().nullish()
const INTEGER = z.int().nullish()
const BOOLEAN = z.boolean().nullish()

/** How much a model reasons. */
const Effort = z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])

/** How a summary of the reasoning is written. */
const ReasoningSummary = z.enum(['auto', 'concise', 'detailed'])

/** A JSON Schema, which is not validated. */
const JsonSchemaObject = z.looseObject({})

/** A tool, or the choice of one. There are new types every month, so that only `type` is checked. */
const OfType = z.looseObject({ type: z.string() })

export const CompletionToolChoice = z.union([z.enum(['none', 'auto', 'required']), OfType])

/** The keys of both that a preset stores. */
const COMPLETION_CONFIG = {
  model: z.string().optional(),
  models: list(z.string()).optional(),
  temperature: NUMBER,
  top_p: NUMBER,
  top_logprobs: INTEGER,
  frequency_penalty: NUMBER,
  presence_penalty: NUMBER,
  image_config: imageParameters({}).optional(),
  tools: list(OfType).optional(),
  tool_choice: CompletionToolChoice.optional(),
  parallel_tool_calls: BOOLEAN,
  service_tier: z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale']).nullish(),
  cache_control: CacheControl.optional(),
  prompt_cache_options: z
    .looseObject({ mode: z.literal('explicit'), ttl: z.string().nullish() })
    .nullable()
    .optional(),
  plugins: list(Plugin).optional(),
  provider: ProviderPreferences.nullish(),
  route: Route.nullable().meta({ deprecated: true }).optional(),
  stop_server_tools_when: StopServerToolsWhen.optional(),
}

const MAX_STOPS = 4
const MOST_CHARACTERS_OF_NAME = 64

export const CHAT_REQUEST_EXAMPLE = {
  model: 'anthropic/claude-sonnet-4.5',
  messages: [
    { role: 'system' as const, content: 'You answer in one sentence.' },
    { role: 'user' as const, content: 'What is a preset?' },
  ],
  max_completion_tokens: 1024,
  temperature: 0.2,
}

/** The form of the answer. */
export const ResponseFormat = tagged('type', [
  typed('text', {}),
  typed('json_object', {}),
  typed('json_schema', {
    json_schema: z.looseObject({
      name: stringOfAtMost(MOST_CHARACTERS_OF_NAME),
      description: z.string().optional(),
      schema: JsonSchemaObject.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
  typed('grammar', { grammar: z.string() }),
  typed('python', {}),
])

export const ChatReasoning = z.looseObject({
  effort: Effort.nullish(),
  summary: ReasoningSummary.nullish(),
})

const SYSTEM_ROLES = ['system', 'developer'] as const

const SystemMessage = z.looseObject({
  role: z.enum(SYSTEM_ROLES),
  content: z.union([z.string(), list(typed('text', { text: z.string() }))]),
})

/** It has a property, without which generators of clients make no class of it. */
const OtherMessage = z
  .looseObject({ role: z.unknown().optional() })
  .refine((message) => !isOfSystem(message), { abort: true })
  .meta({ not: { required: ['role'], properties: { role: { enum: [...SYSTEM_ROLES] } } } })

/** A message. Its texts become the system prompt, or nothing of it is read. */
export const ChatMessage = z.union([OtherMessage, SystemMessage])

function isOfSystem(message: { role?: unknown }): message is z.infer<typeof SystemMessage> {
  return message.role === 'system' || message.role === 'developer'
}

const CHAT_CONFIG = {
  ...COMPLETION_CONFIG,
  max_tokens: INTEGER,
  max_completion_tokens: INTEGER,
  top_k: INTEGER,
  top_a: NUMBER,
  min_p: NUMBER,
  repetition_penalty: NUMBER,
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: BOOLEAN,
  seed: INTEGER,
  stop: z.union([z.string(), list(z.string()).max(MAX_STOPS), z.null()]).optional(),
  response_format: ResponseFormat.optional(),
  reasoning: ChatReasoning.optional(),
  reasoning_effort: Effort.nullish(),
  modalities: list(z.enum(['text', 'image', 'audio'])).optional(),
}

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const CHAT_CONFIG_KEYS = z.object(CHAT_CONFIG).keyof().options

/** What is read of the body of `POST /presets/{slug}/chat/completions`. The rest is ignored. */
export const ChatRequest = z.looseObject({ ...CHAT_CONFIG, messages: list(ChatMessage).nullish() }).meta({
  description: 'A chat completion request. What of it a preset keeps becomes the config of a new version.',
  examples: [CHAT_REQUEST_EXAMPLE],
})

/** What is stored of the body. Throws the 400 that names each field. */
export function parseChatRequest(body: unknown): PresetContent {
  return presetContent(body, { schema: ChatRequest, stored: CHAT_CONFIG_KEYS, systemTexts })
}

function systemTexts({ messages }: z.infer<typeof ChatRequest>): string[] | undefined {
  const ofSystem = (messages ?? []).filter(isOfSystem)
  return ofSystem.length === 0 ? undefined : ofSystem.flatMap(({ content }) => textsOf(content))
}

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
  context: z.enum(['auto', 'all_turns', 'current_turn']).nullish(),
  effort: Effort.nullish(),
  enabled: z.boolean().nullish(),
  max_tokens: INTEGER,
  mode: z.enum(['standard', 'pro']).nullish(),
  summary: ReasoningSummary.nullish(),
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
      strict: z.boolean().nullish(),
    }),
  ]).optional(),
  verbosity: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
})

const RESPONSES_CONFIG = {
  ...COMPLETION_CONFIG,
  max_output_tokens: INTEGER,
  max_tool_calls: INTEGER,
  top_k: z.int().optional(),
  reasoning: Reasoning.nullish(),
  text: TextFormat.optional(),
  modalities: list(z.enum(['text', 'image'])).optional(),
  include: list(Include).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
}

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const RESPONSES_CONFIG_KEYS = z.object(RESPONSES_CONFIG).keyof().options

/** What is read of the body of `POST /presets/{slug}/responses`. The rest is ignored. */
export const ResponsesRequest = z.looseObject({ ...RESPONSES_CONFIG, instructions: z.string().nullish() }).meta({
  description: 'A responses request. What of it a preset keeps becomes the config of a new version.',
  examples: [RESPONSES_REQUEST_EXAMPLE],
})

/** What is stored of the body. Throws the 400 that names each field. */
export function parseResponsesRequest(body: unknown): PresetContent {
  return presetContent(body, {
    schema: ResponsesRequest,
    stored: RESPONSES_CONFIG_KEYS,
    systemTexts: ({ instructions }) => (typeof instructions === 'string' ? [instructions] : undefined),
  })
}
