import { z } from 'zod'
import { list, tagged, typed } from './combinators.ts'
import { COMPLETION_CONFIG, Effort, INTEGER, JsonSchemaObject, ReasoningSummary } from './request-parts/completion.ts'
import { type PresetContent, presetContent } from './request-parts/preset-content.ts'

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
  max_tokens: INTEGER,
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

const CONFIG = {
  ...COMPLETION_CONFIG,
  max_output_tokens: INTEGER,
  max_tool_calls: INTEGER,
  top_k: z.int().optional(),
  reasoning: Reasoning.nullable().optional(),
  text: TextFormat.optional(),
  modalities: list(z.enum(['text', 'image'])).optional(),
  include: list(Include).nullable().optional(),
  truncation: z.enum(['auto', 'disabled']).nullable().optional(),
}

/** The keys of a request that a preset stores (docs/decisions/0044-presets-of-three-shapes.md). */
export const RESPONSES_CONFIG_KEYS = z.object(CONFIG).keyof().options

/** What is read of the body of `POST /presets/{slug}/responses`. The rest is ignored. */
export const ResponsesRequest = z.looseObject({ ...CONFIG, instructions: z.string().nullable().optional() }).meta({
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
