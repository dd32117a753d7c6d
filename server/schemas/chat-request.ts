import { z } from 'zod'
import { list, stringOfAtMost, tagged, typed } from './combinators.ts'
import {
  BOOLEAN,
  COMPLETION_CONFIG,
  Effort,
  INTEGER,
  JsonSchemaObject,
  NUMBER,
  ReasoningSummary,
} from './request-parts/completion.ts'
import { type PresetContent, presetContent, textsOf } from './request-parts/preset-content.ts'

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
      strict: z.boolean().nullable().optional(),
    }),
  }),
  typed('grammar', { grammar: z.string() }),
  typed('python', {}),
])

export const ChatReasoning = z.looseObject({
  effort: Effort.nullable().optional(),
  summary: ReasoningSummary.nullable().optional(),
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

const CONFIG = {
  ...COMPLETION_CONFIG,
  max_tokens: INTEGER,
  max_completion_tokens: INTEGER,
  top_k: INTEGER,
  top_a: NUMBER,
  min_p: NUMBER,
  repetition_penalty: NUMBER,
  logit_bias: z.record(z.string(), z.number()).nullable().optional(),
  logprobs: BOOLEAN,
  seed: INTEGER,
  stop: z.union([z.string(), list(z.string()).max(MAX_STOPS), z.null()]).optional(),
  response_format: ResponseFormat.optional(),
  reasoning: ChatReasoning.optional(),
  reasoning_effort: Effort.nullable().optional(),
  modalities: list(z.enum(['text', 'image', 'audio'])).optional(),
}

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const CHAT_CONFIG_KEYS = z.object(CONFIG).keyof().options

/** What is read of the body of `POST /presets/{slug}/chat/completions`. The rest is ignored. */
export const ChatRequest = z.looseObject({ ...CONFIG, messages: list(ChatMessage).nullable().optional() }).meta({
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
