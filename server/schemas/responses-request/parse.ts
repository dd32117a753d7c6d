import { type PresetContent, presetContent } from '../request-parts/preset-content.ts'
import { ResponsesRequest } from './index.ts'

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const RESPONSES_CONFIG_KEYS = [
  'model',
  'models',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'reasoning',
  'text',
  'modalities',
  'image_config',
  'include',
  'truncation',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'service_tier',
  'cache_control',
  'prompt_cache_options',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
] as const satisfies (keyof ResponsesRequest)[]

/** What is stored of the body of `POST /presets/{slug}/responses`. Throws the 400 that names each field. */
export function parseResponsesRequest(
  body: unknown,
): PresetContent<Pick<ResponsesRequest, (typeof RESPONSES_CONFIG_KEYS)[number]>> {
  return presetContent(body, {
    schema: ResponsesRequest,
    stored: RESPONSES_CONFIG_KEYS,
    systemTexts: ({ instructions }) => (typeof instructions === 'string' ? [instructions] : undefined),
  })
}
