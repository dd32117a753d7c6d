import { type PresetContent, presetContent, textsOf } from '../request-parts/preset-content.ts'
import { MessageRequest } from './index.ts'

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
