import { COMMON_CONFIG_KEYS } from '../request-parts/completion.ts'
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
  ...COMMON_CONFIG_KEYS,
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
