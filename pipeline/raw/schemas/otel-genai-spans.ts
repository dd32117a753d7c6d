import {
  anyOf,
  areAbove,
  areNotTotal,
  attribute,
  count,
  first,
  isOneOf,
  joined,
  lacksAttributes,
  text,
  unixNanoseconds,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

/** Operations that do not call a model: their usage repeats that of their child spans. */
const NO_CALLS_OF_A_MODEL = ['create_agent', 'invoke_agent', 'invoke_workflow', 'plan', 'execute_tool', 'retrieval']

const ofSpan = (key: string) => attribute('attributes', `gen_ai.${key}`)

const input = first(count(ofSpan('usage.input_tokens')), count(ofSpan('usage.prompt_tokens')))
const output = first(count(ofSpan('usage.output_tokens')), count(ofSpan('usage.completion_tokens')))
const cacheRead = first(count(ofSpan('usage.cache_read.input_tokens')), count(ofSpan('usage.cache_read_input_tokens')))
const cacheWrite = first(
  count(ofSpan('usage.cache_creation.input_tokens')),
  count(ofSpan('usage.cache_creation_input_tokens')),
)
const total = first(count(ofSpan('usage.total_tokens')), count(attribute('attributes', 'llm.usage.total_tokens')))

/**
 * OpenTelemetry spans with GenAI attributes, one per line. Older instrumentations say prompt and completion instead of
 * input and output. Cached input "SHOULD be included" in the input tokens, and reasoning in the output tokens:
 * open-telemetry/semantic-conventions docs/registry/attributes/gen-ai.md at 384d661 (2026-08-20).
 */
export const otelGenaiSpans: Schema = {
  reading: 1,
  record: {
    timestamp: unixNanoseconds('startTimeUnixNano'),
    model_permaslug: first(word(ofSpan('response.model')), word(ofSpan('request.model'))),
    prompt_tokens: input,
    completion_tokens: output,
    request_id: joined([text('traceId'), text('spanId')]),
    is_left_out: anyOf(
      lacksAttributes('attributes', 'gen_ai.'),
      isOneOf(ofSpan('operation.name'), NO_CALLS_OF_A_MODEL),
    ),
  },
  parts_disagree: {
    cached_above_prompt: areAbove([cacheRead, cacheWrite], input),
    reasoning_above_completion: areAbove([count(ofSpan('usage.reasoning.output_tokens'))], output),
    parts_not_total: areNotTotal([input, output], total),
  },
  hasAbsoluteTime: true,
}
