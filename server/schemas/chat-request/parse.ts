import { COMMON_CONFIG_KEYS } from '../request-parts/completion.ts'
import { type PresetContent, presetContent, textsOf } from '../request-parts/preset-content.ts'
import { ChatRequest } from './index.ts'

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const CHAT_CONFIG_KEYS = [
  'model',
  'models',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'stop',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'modalities',
  'image_config',
  ...COMMON_CONFIG_KEYS,
] as const satisfies (keyof ChatRequest)[]

/** What is stored of the body of `POST /presets/{slug}/chat/completions`. Throws the 400 that names each field. */
export function parseChatRequest(body: unknown): PresetContent<Pick<ChatRequest, (typeof CHAT_CONFIG_KEYS)[number]>> {
  return presetContent(body, { schema: ChatRequest, stored: CHAT_CONFIG_KEYS, systemTexts })
}

function systemTexts({ messages }: ChatRequest): string[] | undefined {
  const ofSystem = messages.filter((message) => message.role === 'system' || message.role === 'developer')
  return ofSystem.length === 0 ? undefined : ofSystem.flatMap(({ content }) => textsOf(content))
}
